import { randomUUID } from 'node:crypto'; // oxlint-disable-line h/no-clock -- a server must not guess the key of its task handles; no decision depends on it
import type { JSONRPCMessage, Transport, TransportSendOptions } from '@modelcontextprotocol/client';
import { invalidAnswerError, streamEndedError, type WireError } from './failures.js';

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

/** The client uses the number of the request as its token. */
const progress = 'notifications/progress';

/**
 * A transport that adds what the client of the SDK lacks.
 *
 * - A result that is a task handle, which the client rejects, becomes an empty result with the handle in its `_meta`.
 * - The methods of the tasks extension can be sent.
 * - A request whose response stream ends fails. The client would wait for its time limit.
 * - An answer that is not valid JSON-RPC fails its request. The client would wait for its time limit. Members that are
 *   `null` count as absent, as some servers send `"error": null` with a result.
 * - An answer to a request that is not open is dropped, and so is its progress. The client would report it with its
 *   content, which may be a large result with secrets that arrives after its call has timed out.
 */
export class WireTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: NonNullable<Transport['onmessage']>;
  /** The member of `_meta` that contains a task handle. */
  readonly taskKey = `h/task-${randomUUID()}`;
  readonly #inner: Transport;
  /** Requests without a response. As strings: some servers return the number of a request as one. */
  readonly #open = new Set<string>();
  #hasStrayAnswer = false;

  constructor(inner: Transport) {
    this.#inner = inner;
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
    if (!('method' in message) || !('id' in message)) {
      const cancelled =
        'method' in message && message.method === 'notifications/cancelled' ? message.params : undefined;
      if (cancelled !== undefined) this.#open.delete(String(cancelled['requestId']));
      return this.#inner.send(message, options);
    }
    const { id } = message;
    this.#open.add(String(id));
    const onRequestStreamEnd = (): void => {
      options?.onRequestStreamEnd?.();
      if (this.#open.delete(String(id))) this.onmessage?.({ jsonrpc: '2.0', id, error: streamEndedError });
    };
    const real = realNames.get(message.method);
    const sent = real === undefined ? message : { ...message, method: real };
    return this.#inner.send(sent, { ...options, onRequestStreamEnd }).catch((error: unknown) => {
      this.#open.delete(String(id));
      throw error;
    });
  }

  #received(message: Message): Message | undefined {
    if ('method' in message) {
      const isLate = message.method === progress && !this.#open.has(String(message.params?.['progressToken']));
      return isLate ? undefined : message;
    }
    if (message.id === undefined) return message;
    if (!this.#open.delete(String(message.id))) return this.#reportStray(message.id);
    const answer = validAnswer(message.id, message);
    if (!('result' in answer)) return answer;
    const { resultType, ...task } = answer.result as { readonly resultType?: unknown };
    if (resultType !== 'task') return answer;
    // Extension results exist only where results have a type, so the client expects one here.
    const result = { resultType: 'complete', content: [], _meta: { [this.taskKey]: task } };
    return { ...answer, result };
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
