import type { JSONObject, JSONValue } from '@h/turn';
import type { ToolContext } from '../define-tool.js';
import { isPlain } from '../json-copy.js';
import type { InputRequests } from './tasks.js';

/** A request of a server for input during a call. */
export interface McpInputRequest {
  readonly server: string;
  /** The server's own name of the tool. */
  readonly tool: string;
  readonly input: JSONObject;
  readonly call: ToolContext['call'];
  readonly turn: string;
  readonly session: string;
  /** What the server wants to know. Text of the server: treat it as untrusted. */
  readonly message: string;
  /** The JSON Schema of the requested object, with members that are strings, numbers, booleans or lists of strings. */
  readonly schema: JSONObject;
}

/** The answer to a request for input. `cancel` means that no decision was made. */
export type McpInputAnswer =
  | { readonly action: 'accept'; readonly content: JSONObject }
  | { readonly action: 'decline' | 'cancel' };

/** Answers requests of a server for input. */
export type McpInputHandler = (
  request: McpInputRequest,
  signal: AbortSignal,
) => Promise<McpInputAnswer> | McpInputAnswer;

/** The call during which a server requests input. */
export type InputCall = Omit<McpInputRequest, 'message' | 'schema' | 'server'> & { readonly signal: AbortSignal };

/** How requests for input are answered. */
export interface InputSettings {
  /** Name of the server. */
  readonly name: string;
  readonly onInput: McpInputHandler | undefined;
  readonly onProblem: (problem: Error) => void;
}

/** Maximum number of requests that wait for an answer. */
export const maxRequests = 16;

/**
 * Answers the requests of one result, by key. Requests that are not forms, and requests that a handler fails to answer,
 * are cancelled.
 */
export const answerRequests = async (
  requests: InputRequests,
  { signal, ...call }: InputCall,
  { name: server, onInput, onProblem }: InputSettings,
): Promise<Readonly<Record<string, McpInputAnswer>>> => {
  const answers: [string, McpInputAnswer][] = [];
  // One after the other, because a person answers them.
  for (const [index, [key, request]] of Object.entries(requests).entries()) {
    signal.throwIfAborted();
    const form = index < maxRequests ? formOf(request) : undefined;
    const answer =
      form === undefined || onInput === undefined
        ? undefined
        : await ask(onInput, { server, ...call, ...form }, signal, onProblem);
    answers.push([key, answer ?? { action: 'cancel' }]);
  }
  return Object.fromEntries(answers);
};

const ask = async (
  handler: McpInputHandler,
  request: McpInputRequest,
  signal: AbortSignal,
  onProblem: (problem: Error) => void,
): Promise<McpInputAnswer | undefined> => {
  try {
    return await untilAborted(Promise.resolve(handler(request, signal)), signal);
  } catch (error) {
    signal.throwIfAborted();
    onProblem(new Error('A request of the server for input could not be answered.', { cause: error }));
    return undefined;
  }
};

/** Rejects as soon as the signal is aborted: a handler may never answer. */
const untilAborted = async <Value>(value: Promise<Value>, signal: AbortSignal): Promise<Value> => {
  let onAbort = (): void => undefined;
  const aborted = new Promise<never>((_resolve, reject) => {
    onAbort = () => reject(signal.reason as Error);
    signal.addEventListener('abort', onAbort, { once: true });
  });
  try {
    return await Promise.race([value, aborted]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
};

const formOf = (request: {
  readonly method: string;
  readonly params?: unknown;
}): Pick<McpInputRequest, 'message' | 'schema'> | undefined => {
  if (request.method !== 'elicitation/create') return undefined;
  const { mode = 'form', message, requestedSchema } = (request.params ?? {}) as Record<string, unknown>;
  if (mode !== 'form' || typeof message !== 'string' || !isPlain(requestedSchema)) return undefined;
  return { message, schema: requestedSchema as JSONObject };
};

/**
 * Returns the content with which a plain consent answers a form: booleans that the form requires are `true`, and other
 * required members have their default or their only value. `undefined` if the form requires anything else.
 */
export const consentTo = ({ properties, required }: JSONObject): JSONObject | undefined => {
  const members = isPlain(properties) ? properties : {};
  const names = Array.isArray(required) ? required.filter((name) => typeof name === 'string') : [];
  const content: Record<string, JSONValue> = {};
  for (const name of names) {
    const value = Object.hasOwn(members, name) ? consentValue(members[name]) : undefined;
    if (value === undefined) return undefined;
    content[name] = value;
  }
  return content;
};

const consentValue = (schema: JSONValue | undefined): JSONValue | undefined => {
  if (!isPlain(schema)) return undefined;
  const { type, default: preset, const: only, enum: choices } = schema;
  if (type === 'boolean') return true;
  if (preset !== undefined) return preset;
  if (only !== undefined) return only;
  const values: readonly JSONValue[] = Array.isArray(choices) ? choices : [];
  return values.length === 1 ? values[0] : undefined;
};
