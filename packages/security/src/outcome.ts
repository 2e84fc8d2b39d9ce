import type { ToolOutcome, ToolResultContentPart, ToolResultOutput } from '@h/turn';
import type { Redactor } from '@h/redact';
import { defuse } from './wrap/defuse.js';
import { createWrapping } from './wrap/wrap-external.js';

/** Redacts all parts of a tool outcome. Returns the same outcome if it contains no secret. */
export const redactOutcome = <Outcome extends ToolOutcome>(outcome: Outcome, redactor: Redactor): Outcome => {
  const changes: Record<string, unknown> = {};
  const put = (name: string, before: unknown, after: unknown): void => {
    if (after !== before) changes[name] = after;
  };
  put('output', outcome.output, redactOutput(outcome.output, redactor));
  put('details', outcome.details, redactor.redactData(outcome.details));
  if ('error' in outcome) put('error', outcome.error, redactor.redactData(outcome.error));
  if ('reason' in outcome) put('reason', outcome.reason, redactor.redact(outcome.reason));
  if ('issues' in outcome) put('issues', outcome.issues, redactor.redactData(outcome.issues));
  return Object.keys(changes).length === 0 ? outcome : { ...outcome, ...changes };
};

const redactOutput = (output: ToolResultOutput, { redact, redactData }: Redactor): ToolResultOutput => {
  switch (output.type) {
    case 'text':
    case 'error-text': {
      const value = redact(output.value);
      return value === output.value ? output : { ...output, value };
    }
    case 'json':
    case 'error-json': {
      const value = redactData(output.value);
      return value === output.value ? output : { ...output, value };
    }
    case 'content':
      return mapTexts(output, redact);
    default:
      return output.reason === undefined || redact(output.reason) === output.reason
        ? output
        : { ...output, reason: redact(output.reason) };
  }
};

type ContentOutput = Extract<ToolResultOutput, { type: 'content' }>;

/** Maps text parts and text files; binary parts are unchanged. */
const mapTexts = (output: ContentOutput, change: (text: string) => string): ContentOutput => {
  const value = output.value.map((part) => mapText(part, change));
  return value.some((part, index) => part !== output.value[index]) ? { ...output, value } : output;
};

const mapText = (part: ToolResultContentPart, change: (text: string) => string): ToolResultContentPart => {
  if (part.type === 'text') {
    const text = change(part.text);
    return text === part.text ? part : { ...part, text };
  }
  if (part.type !== 'file' || !isInlineText(part.data)) return part;
  const text = change(part.data.text);
  return text === part.data.text ? part : { ...part, data: { type: 'text', text } };
};

const isInlineText = (data: unknown): data is { readonly type: 'text'; readonly text: string } =>
  typeof data === 'object' &&
  data !== null &&
  (data as { readonly type?: unknown }).type === 'text' &&
  typeof (data as { readonly text?: unknown }).text === 'string';

/** Lists the strings in an output that the model reads. */
export const textsOf = (output: ToolResultOutput): readonly string[] => {
  switch (output.type) {
    case 'text':
    case 'error-text':
      return [output.value];
    case 'json':
    case 'error-json':
      return [JSON.stringify(output.value)];
    case 'content':
      return output.value.flatMap((part) =>
        part.type === 'text' ? [part.text] : part.type === 'file' && isInlineText(part.data) ? [part.data.text] : [],
      );
    default:
      return [];
  }
};

/**
 * Wraps an output in marks and returns it with their id. JSON becomes text; marks become the first and last content
 * part.
 */
export const wrapOutput = (
  output: ToolResultOutput,
  source: string,
  createId?: () => string,
): { readonly output: ToolResultOutput; readonly id: string } | undefined => {
  if (output.type === 'execution-denied') return undefined;
  const texts = textsOf(output);
  const { id, begin, end } = createWrapping(source, texts, createId);
  const { providerOptions } = output;
  const rest = providerOptions === undefined ? {} : { providerOptions };
  if (output.type === 'content') {
    const { value } = mapTexts(output, defuse);
    return { id, output: { ...output, value: [{ type: 'text', text: begin }, ...value, { type: 'text', text: end }] } };
  }
  const type = output.type === 'text' || output.type === 'json' ? 'text' : 'error-text';
  return { id, output: { ...rest, type, value: `${begin}\n${defuse(texts[0] ?? '')}\n${end}` } };
};
