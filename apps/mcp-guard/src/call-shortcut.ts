import { toErrorInfo } from '@h/turn';
import type {
  CallToolResult,
  JSONRPCMessage,
  ServerContext,
  Transport,
  TransportSendOptions,
} from '@modelcontextprotocol/server';

type Id = string | number;

/** A call of a client, in the version of the protocol before 2026-07-28. */
export interface DirectCall {
  readonly name: string;
  readonly input: Readonly<Record<string, unknown>>;
  /** The `_meta` of its request. */
  readonly meta: unknown;
  readonly signal: AbortSignal;
  readonly notify: ServerContext['mcpReq']['notify'];
}

/** Answers a call without the server of the SDK. */
export type AnswerCall = (call: DirectCall) => Promise<CallToolResult>;

/**
 * A transport that answers the tool calls of a 2025 client itself, and passes all other messages to the server of the
 * SDK, which compares each message with its schemas about eight times.
 *
 * The first call passes the server, so that only an initialized connection of that version has a shortcut. So does every
 * call with members that the shortcut does not know.
 */
export class CallShortcut implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: NonNullable<Transport['onmessage']>;
  readonly #inner: Transport;
  readonly #shortcut: () => AnswerCall | undefined;
  readonly #open = new Map<Id, AbortController>();
  /** The last message that is being sent. */
  #sending: Promise<unknown> = Promise.resolve();

  /** @param shortcut - returns the answers once the server of the SDK has passed on a call of a 2025 client */
  constructor(inner: Transport, shortcut: () => AnswerCall | undefined) {
    this.#inner = inner;
    this.#shortcut = shortcut;
  }

  get sessionId(): string | undefined {
    return this.#inner.sessionId;
  }

  setProtocolVersion(version: string): void {
    this.#inner.setProtocolVersion?.(version);
  }

  start(): Promise<void> {
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- transports of the SDK have no event listeners
    this.#inner.onmessage = (message, extra) => {
      if (!this.#take(message)) this.onmessage?.(message, extra);
    };
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- transports of the SDK have no event listeners
    this.#inner.onerror = (error) => this.onerror?.(error);
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- transports of the SDK have no event listeners
    this.#inner.onclose = () => {
      for (const abort of this.#open.values()) abort.abort(new DOMException('The client has left.', 'AbortError'));
      this.#open.clear();
      this.onclose?.();
    };
    return this.#inner.start();
  }

  /** Sends one message at a time: each that waits for the client adds listeners to the stream. */
  send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    const sent = this.#sending.then(() => this.#inner.send(message, options));
    this.#sending = sent.catch(() => undefined);
    return sent;
  }

  close(): Promise<void> {
    return this.#inner.close();
  }

  /** Handles a message, or returns `false` if the server of the SDK handles it. */
  #take(message: JSONRPCMessage): boolean {
    if (!('method' in message)) return false;
    if (message.method === 'notifications/cancelled') {
      const { requestId } = (message.params ?? {}) as { readonly requestId?: Id };
      const abort = requestId === undefined ? undefined : this.#open.get(requestId);
      abort?.abort(new DOMException('The client cancelled the call.', 'AbortError'));
      return abort !== undefined;
    }
    if (message.method !== 'tools/call' || !('id' in message) || this.#open.has(message.id)) return false;
    const answer = this.#shortcut();
    const given = answer === undefined ? undefined : paramsOf(message.params);
    if (answer === undefined || given === undefined) return false;
    void this.#answer(message.id, given, answer);
    return true;
  }

  async #answer(id: Id, given: CallParams, answer: AnswerCall): Promise<void> {
    const abort = new AbortController();
    const { signal } = abort;
    this.#open.set(id, abort);
    const { name, arguments: input = {}, _meta: meta } = given;
    const notify = (notification: object): Promise<void> =>
      this.send({ jsonrpc: '2.0', ...notification } as JSONRPCMessage);
    const answered: JSONRPCMessage = await answer({ name, input, meta, signal, notify }).then(
      (result) => ({ jsonrpc: '2.0', id, result }),
      (error: unknown) => ({ jsonrpc: '2.0', id, error: { code: internalError, message: toErrorInfo(error).message } }),
    );
    this.#open.delete(id);
    if (signal.aborted) return;
    await this.send(answered).catch((error: unknown) => this.onerror?.(error as Error));
  }
}

interface CallParams {
  readonly name: string;
  readonly arguments?: Readonly<Record<string, unknown>>;
  readonly _meta?: Readonly<Record<string, unknown>>;
}

/** The code of JSON-RPC for a failure of the server. */
const internalError = -32603;
const members: ReadonlySet<string> = new Set(['name', 'arguments', '_meta']);
/** Members of `_meta` with this prefix belong to later versions of the protocol. */
const protocolPrefix = 'io.modelcontextprotocol/';

/** Returns the parameters of a call, or nothing if the server of the SDK must read them. */
const paramsOf = (params: unknown): CallParams | undefined => {
  if (!isRecord(params) || typeof params['name'] !== 'string') return undefined;
  const { arguments: input, _meta: meta } = params;
  if (!Object.keys(params).every((member) => members.has(member))) return undefined;
  if ((input !== undefined && !isRecord(input)) || (meta !== undefined && !isRecord(meta))) return undefined;
  if (meta !== undefined && Object.keys(meta).some((member) => member.startsWith(protocolPrefix))) return undefined;
  return params as unknown as CallParams;
};

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
