import { showValue } from '@h/options';
import {
  isToolResultOutput,
  toErrorInfo,
  type ErrorInfo,
  type JSONValue,
  type ToolOutcome,
  type ToolResultContentPart,
  type ToolResultOutput,
} from '@h/turn';
import { isToolOutput, toolOutput } from './define-tool.js';
import { ToolError } from './errors.js';
import { isPlain } from './json-copy.js';
import { truncate } from './truncate.js';

/** Maximum number of characters of model input that an error repeats. */
const maxEcho = 80;
const maxNames = 50;
const maxIssues = 20;
const maxIssue = 300;
const maxMessage = 2_000;

/** Converts the return value of a tool to the outcome of its call. */
export const returned = (value: unknown): ToolOutcome => {
  try {
    if (!isToolOutput(value)) return { status: 'ok', output: outputOf(value, false) };
    const details = value.details === undefined ? {} : { details: jsonOf(value.details) };
    if (value.isError !== true) return { status: 'ok', output: outputOf(value.output, true), ...details };
    const output = asError(outputOf(value.output, true));
    const message =
      output.type === 'error-text' ? truncate(output.value, { maxChars: maxMessage }) : 'The tool reported an error.';
    return { status: 'failed', error: { name: 'ToolError', code: 'tool-failed', message }, output, ...details };
  } catch (error) {
    return failed({
      name: 'ToolError',
      code: 'invalid-output',
      message: `The tool returned a value that is not JSON: ${toErrorInfo(error).message}`,
    });
  }
};

/** A revoked proxy throws when its prototype is read. */
const isToolError = (error: unknown): error is ToolError => {
  try {
    return error instanceof ToolError;
  } catch {
    return false;
  }
};

/** Converts an error of a tool to the outcome of its call. */
export const thrown = (error: unknown): ToolOutcome => {
  const info = shortened(toErrorInfo(error));
  if (!isToolError(error)) return failed(info);
  const reported = returned(
    toolOutput({ output: error.output ?? info.message, details: error.details, isError: true }),
  );
  return reported.status === 'failed' ? { ...reported, error: info } : failed(info);
};

/** Creates a failure whose output is the message of its error. */
export const failed = (error: ErrorInfo): ToolOutcome => ({
  status: 'failed',
  error,
  output: { type: 'error-text', value: error.message },
});

export const unknownTool = (name: string, names: readonly string[], suggestion: string | undefined): ToolOutcome => {
  const listed =
    names.length === 0
      ? 'No tools are available.'
      : `Available tools: ${names.slice(0, maxNames).join(', ')}${names.length > maxNames ? ` and ${names.length - maxNames} more` : ''}.`;
  const hint = suggestion === undefined ? '' : ` Did you mean ${JSON.stringify(suggestion)}?`;
  const value = `${JSON.stringify(truncate(name, { maxChars: maxEcho }))} is not a tool.${hint} ${listed}`;
  return {
    status: 'unknown-tool',
    output: { type: 'error-text', value },
    ...(suggestion !== undefined && { suggestion }),
  };
};

export const invalidInput = (name: string, given: readonly string[]): ToolOutcome => {
  const issues = given.slice(0, maxIssues).map((issue) => truncate(issue, { maxChars: maxIssue }));
  const more = given.length > maxIssues ? [`… and ${given.length - maxIssues} more`] : [];
  const value = [
    `The input does not match the schema of the tool ${JSON.stringify(name)}, which did not run:`,
    ...[...issues, ...more].map((issue) => `- ${issue}`),
  ].join('\n');
  return { status: 'invalid-input', issues, output: { type: 'error-text', value } };
};

export const timedOut = (timeoutMs: number, isHarmless: boolean): ToolOutcome => {
  const rest = isHarmless ? '' : ' It may still be running: check its effects before you repeat it.';
  const value = `The call timed out after ${timeoutMs} ms.${rest}`;
  return { status: 'timed-out', timeoutMs, output: { type: 'error-text', value } };
};

export const notRun = (status: 'skipped' | 'cancelled', reason: string): ToolOutcome => ({
  status,
  reason,
  output: { type: 'error-text', value: reason },
});

const shortened = (error: ErrorInfo): ErrorInfo => ({
  ...error,
  message: truncate(error.message, { maxChars: maxMessage }),
  ...(error.cause !== undefined && { cause: shortened(error.cause) }),
});

const outputOf = (value: unknown, mayBeParts: boolean): ToolResultOutput => {
  if (typeof value === 'string') return { type: 'text', value };
  if (value === undefined) return { type: 'text', value: '(no output)' };
  if (value instanceof Uint8Array) {
    return { type: 'content', value: [{ type: 'file', data: value, mediaType: 'application/octet-stream' }] };
  }
  if (mayBeParts && isParts(value)) return { type: 'content', value };
  return { type: 'json', value: jsonOf(value) };
};

const asError = (output: ToolResultOutput): ToolResultOutput => {
  if (output.type === 'text') return { type: 'error-text', value: output.value };
  return output.type === 'json' ? { type: 'error-json', value: output.value } : output;
};

const isParts = (value: unknown): value is readonly ToolResultContentPart[] =>
  Array.isArray(value) && value.length > 0 && value.every(isPlain) && isToolResultOutput({ type: 'content', value });

/** Returns the value itself if it is JSON, and its JSON representation otherwise. @throws TypeError if it has none */
const jsonOf = (value: unknown): JSONValue => {
  if (isJson(value, 0)) return value;
  const text: string | undefined = JSON.stringify(value, (key, item: unknown) => {
    if (isLost(item)) throw new TypeError(`${key === '' ? '' : `${JSON.stringify(key)} is `}${showValue(item)}`);
    return item;
  });
  if (text === undefined) throw new TypeError(`a ${typeof value}`);
  return JSON.parse(text) as JSONValue;
};

/** Whether JSON would reduce an object to `{}`, and so its content would be lost: a promise, a map, a response. */
const isLost = (value: unknown): boolean => {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || isPlain(value)) return false;
  const hasOwnForm = ArrayBuffer.isView(value) || typeof value.valueOf() !== 'object';
  return !hasOwnForm && Object.keys(value).length === 0;
};

/** Deeper values are left to `JSON.stringify`, which reports circular ones. */
const maxJsonDepth = 500;

const isJson = (value: unknown, depth: number): value is JSONValue => {
  if (depth > maxJsonDepth) return false;
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return true;
  if (typeof value === 'number') return Number.isFinite(value);
  if (Array.isArray(value)) return value.every((item) => isJson(item, depth + 1));
  return (
    isPlain(value) &&
    !('toJSON' in value) &&
    Object.values(value).every((item) => item === undefined || isJson(item, depth + 1))
  );
};
