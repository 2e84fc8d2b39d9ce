import { randomUUID } from 'node:crypto'; // oxlint-disable-line h/no-clock -- a server must not guess the key of its task handles; no decision depends on it
import type { JSONRPCMessage, Transport, TransportSendOptions } from '@modelcontextprotocol/client';
import { invalidAnswerError, streamEndedError, tooLargeError, type WireError } from './failures.js';

type Message = JSONRPCMessage;
type Id = string | number;

/**
 * The methods of the tasks extension, by the names under which the client of the SDK sends them: it refuses the real
 * names of `get` and `cancel`, which an earlier version of the protocol defined differently.
 */
export const taskMethods = { get: 'h/tasks/get', update: 'h/tasks/update', cancel: 'h/tasks/cancel' } as const;

const realNames: ReadonlyMap<string, string> = new Map([
  [taskMethods.get, 'tasks/get'],
  [taskMethods.update, 'tasks/update'],
  [taskMethods.cancel, 'tasks/cancel'],
]);

/** A report of a running call. */
interface WireProgress {
  readonly progress: number;
  readonly total?: number;
  readonly message?: string;
}

interface OpenRequest {
  /** Ends the response stream. */
  readonly ended: AbortController;
  /** Whether the answer is a page of the list of tools. */
  readonly isList: boolean;
}

/** Maximum number of requests of the server that wait for an answer. */
const maxAsked = 100;

/** Time in which a server may end the response stream of a request after its answer. */
const lingerMs = 5_000;

/** The notifications that the client of the SDK uses. It would compare others with its schemas and then drop them. */
const usedNotifications: ReadonlySet<string> = new Set([
  'notifications/cancelled',
  'notifications/subscriptions/acknowledged',
  'notifications/tools/list_changed',
]);

/**
 * A transport that adds what the client of the SDK lacks.
 *
 * - A result that is a task handle, which the client rejects, becomes an empty result with the handle in its `_meta`.
 * - The methods of the tasks extension can be sent.
 * - A request whose response stream ends fails. The client would wait for its time limit.
 * - An answer that is not valid JSON-RPC fails its request. The client would wait for its time limit. Members that are
 *   `null` count as absent, as some servers send `"error": null` with a result.
 * - Progress reaches its listener at once. The client would lose what arrives together with the answer, and report it
 *   with its content.
 * - A request that was cancelled, or whose answer has arrived, releases its response stream, also if the server never
 *   ends it.
 * - Requests of the server are passed on while few of them wait for an answer. The client would send an answer to each
 *   of any number at once.
 * - Answers to requests that are not open, and messages that are not valid JSON-RPC, are dropped and reported once. The
 *   client would report each with its content, which may be a large result with secrets that arrives after its call has
 *   timed out. Notifications that nothing uses are dropped.
 */
export class WireTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: NonNullable<Transport['onmessage']>;
  /** The member of `_meta` that contains a task handle. */
  readonly taskKey = `h/task-${randomUUID()}`;
  readonly #inner: Transport;
  /** Requests without a response. By strings: some servers return the number of a request as one. */
  readonly #open = new Map<string, OpenRequest>();
  /** Requests of the server without an answer. */
  readonly #asked = new Set<string>();
  readonly #listeners = new Map<string, (progress: WireProgress) => void>();
  readonly #maxListSize: number;
  /** Number of characters of the list of tools that is being read. */
  #listSize = 0;
  #lastToken = 0;
  #hasStrayAnswer = false;
  #hasInvalidMessage = false;
  #hasRefusedRequest = false;

  /** @param maxListSize - maximum number of characters of a list of tools, with all of its pages */
  constructor(inner: Transport, maxListSize = Infinity) {
    this.#inner = inner;
    this.#maxListSize = maxListSize;
    // The client of the SDK recognizes a local transport by these members.
    if ('pid' in inner && 'stderr' in inner) Object.assign(this, { pid: null, stderr: null });
  }

  get sessionId(): string | undefined {
    return this.#inner.sessionId;
  }

  get hasPerRequestStream(): boolean {
    return this.#inner.hasPerRequestStream === true;
  }

  setProtocolVersion(version: string): void {
    this.#inner.setProtocolVersion?.(version);
  }

  setSupportedProtocolVersions(versions: string[]): void {
    this.#inner.setSupportedProtocolVersions?.(versions);
  }

  /** Passes progress with the returned token to a listener, until `end` is called. */
  followProgress(onProgress: (progress: WireProgress) => void): { readonly token: number; readonly end: () => void } {
    this.#lastToken += 1;
    const token = this.#lastToken;
    this.#listeners.set(String(token), onProgress);
    return { token, end: () => void this.#listeners.delete(String(token)) };
  }

  start(): Promise<void> {
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- transports of the SDK have no event listeners
    this.#inner.onclose = () => this.onclose?.();
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- transports of the SDK have no event listeners
    this.#inner.onerror = (error) => this.onerror?.(error);
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- transports of the SDK have no event listeners
    this.#inner.onmessage = (message, extra) => {
      const received = this.#received(message);
      if (received !== undefined) this.onmessage?.(received, extra);
    };
    return this.#inner.start();
  }

  close(): Promise<void> {
    return this.#inner.close();
  }

  send(message: Message, options?: TransportSendOptions): Promise<void> {
    if (!('method' in message)) return this.#inner.send(message, options).finally(() => this.#endRequest(message.id));
    if (!('id' in message)) {
      const cancelled = message.method === 'notifications/cancelled' ? message.params : undefined;
      if (cancelled !== undefined) this.#end(cancelled['requestId'])?.ended.abort();
      return this.#inner.send(message, options);
    }
    const { id } = message;
    const ended = new AbortController();
    const isList = message.method === 'tools/list';
    if (isList && message.params?.['cursor'] === undefined) this.#listSize = 0;
    this.#open.set(String(id), { ended, isList });
    const requestSignal =
      options?.requestSignal === undefined ? ended.signal : AbortSignal.any([options.requestSignal, ended.signal]);
    const onRequestStreamEnd = (): void => {
      options?.onRequestStreamEnd?.();
      if (this.#end(id) !== undefined) this.onmessage?.({ jsonrpc: '2.0', id, error: streamEndedError });
    };
    const real = realNames.get(message.method);
    const sent = real === undefined ? message : { ...message, method: real };
    return this.#inner.send(sent, { ...options, requestSignal, onRequestStreamEnd }).catch((error: unknown) => {
      this.#end(id);
      throw error;
    });
  }

  /** Removes and returns an open request. */
  #end(id: unknown): OpenRequest | undefined {
    const request = this.#open.get(String(id));
    this.#open.delete(String(id));
    return request;
  }

  #endRequest(id: unknown): void {
    this.#asked.delete(String(id));
  }

  #received(message: Message): Message | undefined {
    if (!isValid(message)) return this.#reportInvalid();
    if ('method' in message) {
      if ('id' in message) return this.#isRefused(message.id) ? undefined : message;
      if (message.method === 'notifications/cancelled') this.#endRequest(message.params?.['requestId']);
      if (usedNotifications.has(message.method)) return message;
      if (message.method === 'notifications/progress') this.#progress(message.params ?? {});
      return undefined;
    }
    const id = message.id as Id;
    const request = this.#end(id);
    if (request === undefined) return this.#reportStray(id);
    if (this.hasPerRequestStream) setTimeout(() => request.ended.abort(), lingerMs).unref();
    const answer = validAnswer(id, message);
    if (!('result' in answer)) return answer;
    if (request.isList && this.#isListTooLarge(answer.result)) {
      return { jsonrpc: '2.0', id, error: tooLargeError(this.#maxListSize) };
    }
    const { resultType, ...task } = answer.result as { readonly resultType?: unknown };
    if (resultType !== 'task') return answer;
    // Extension results exist only where results have a type, so the client expects one here.
    const result = { resultType: 'complete', content: [], _meta: { [this.taskKey]: task } };
    return { ...answer, result };
  }

  #isListTooLarge(page: object): boolean {
    this.#listSize += JSON.stringify(page).length;
    return this.#listSize > this.#maxListSize;
  }

  #progress({ progressToken, progress, total, message }: Readonly<Record<string, unknown>>): void {
    if (typeof progress !== 'number') return;
    this.#listeners.get(String(progressToken))?.({
      progress,
      ...(typeof total === 'number' && { total }),
      ...(typeof message === 'string' && { message }),
    });
  }

  #isRefused(id: Id): boolean {
    if (this.#asked.size < maxAsked && !this.#asked.has(String(id))) {
      this.#asked.add(String(id));
      return false;
    }
    if (!this.#hasRefusedRequest) {
      this.#hasRefusedRequest = true;
      const problem = `repeated the id of a request, or sent a request while ${maxAsked} others waited for an answer`;
      this.onerror?.(new Error(`The server ${problem}; it is not answered. Further ones are not reported.`));
    }
    return true;
  }

  #reportInvalid(): undefined {
    if (this.#hasInvalidMessage) return;
    this.#hasInvalidMessage = true;
    this.onerror?.(new Error('The server sent a message that is not valid JSON-RPC. Further ones are not reported.'));
  }

  #reportStray(id: Id): undefined {
    if (this.#hasStrayAnswer) return;
    this.#hasStrayAnswer = true;
    const request = JSON.stringify(id).slice(0, 100);
    this.onerror?.(
      new Error(
        `The server answered the request ${request}, which was not sent, has ended or was cancelled. Further answers of this kind are not reported.`,
      ),
    );
  }
}

/** Whether a message is a request, a notification, or an answer with an id. `validAnswer` checks the rest of answers. */
const isValid = (message: Message): boolean => {
  const { id, method, params } = message as Readonly<Record<string, unknown>>;
  if (method === undefined) return typeof id === 'string' || typeof id === 'number' || id === null;
  const hasValidId = id === undefined || typeof id === 'string' || typeof id === 'number';
  return hasValidId && typeof method === 'string' && (params === undefined || isObject(params));
};

const isObject = (value: unknown): boolean => typeof value === 'object' && value !== null && !Array.isArray(value);

/** Returns the answer with either an object as its result, or an error with a code and a message. */
const validAnswer = (id: Id, message: { readonly result?: unknown; readonly error?: unknown }): Message => {
  const result = message.result ?? undefined;
  const error = message.error ?? undefined;
  if (error === undefined && typeof result === 'object' && !Array.isArray(result)) {
    return { jsonrpc: '2.0', id, result: result as Record<string, unknown> };
  }
  return { jsonrpc: '2.0', id, error: error === undefined ? invalidAnswerError : validError(error) };
};

const validError = (error: unknown): WireError => {
  const { code, message, ...rest } = (typeof error === 'object' ? error : {}) as Record<string, unknown>;
  const text = typeof error === 'string' ? error : message;
  if (typeof text !== 'string') return invalidAnswerError;
  return { ...rest, code: Number.isSafeInteger(code) ? (code as number) : internalError, message: text };
};

/** The code of JSON-RPC for errors of a server without a code. */
const internalError = -32_603;
