import {
  ProtocolError,
  type CallToolResult,
  type ElicitResult,
  type ServerCapabilities,
} from '@modelcontextprotocol/client';
import type { JSONObject } from '@h/turn';
import pTimeout from 'p-timeout';
import { ToolError } from '../errors.js';
import { coalesce, type Coalesced } from './coalesce.js';
import {
  isDisconnected,
  isHttpFailure,
  isInvalidResult,
  isTooLarge,
  isUndelivered,
  McpConnectionError,
  messageOf,
  type ConnectionErrorCode,
} from './failures.js';
import { openClient, OpenError, type ClientSettings, type OpenClient } from './open-client.js';
import { maxRequests } from './inputs.js';
import { anything, type InputRequests } from './tasks.js';
import {
  answerInputs,
  noTimeout,
  requestTool,
  type LinkCall,
  type McpToolDescription,
  type RequestSettings,
} from './tool-request.js';

/** State of a connection. After `lost`, the next call reconnects. */
export type McpState = 'connected' | 'connecting' | 'lost' | 'closed';

/**
 * Which requests may be answered with a list of a server: all, or only those with the same credentials. Lists of
 * servers before 2026-07-28, and lists without a scope, are private.
 */
export type McpCacheScope = 'public' | 'private';

/** Settings and callbacks of a connection. */
export interface LinkSettings extends Omit<ClientSettings, 'hasInputs' | 'signal'>, Omit<RequestSettings, 'client'> {
  /** Receives the tools after connecting, after a change, and after reconnecting. */
  onTools(tools: readonly McpToolDescription[]): void;
  onState(state: McpState): void;
}

const pingTimeoutMs = 5_000;
const goodbyeTimeoutMs = 1_000;
/** Minimum interval between listings that notifications cause. The MCP SDK uses the same debounce interval. */
const relistIntervalMs = 300;
/** Minimum age of a list that is listed again because its `ttlMs` has elapsed, or because the last listing failed. */
const minTtlMs = 30_000;
/** Maximum number of tools of a server. Each is compiled, which would block the process for minutes. */
const maxTools = 5_000;

interface Link extends OpenClient {
  readonly relisting: Coalesced;
  /** Whether the server announces changes of its tools. */
  isListening: boolean;
  /** Whether others may read the list of this connection from a cache. */
  cacheScope: McpCacheScope;
  /** When the list becomes stale, in milliseconds of a monotonic clock. */
  staleAt: number;
}

/** A connection to one server, which reconnects on demand. */
export class McpLink {
  readonly #settings: LinkSettings;
  #current: Link | undefined;
  #opening: Promise<Link> | undefined;
  /** Ends a connection that is being opened. */
  readonly #abort = new AbortController();
  #state: McpState = 'lost';
  #isLegacy = false;
  readonly #calls = new Set<LinkCall & { readonly ended: AbortController }>();
  /** Number of requests for input that wait for an answer, and the latest of them. Servers before 2026-07-28 only. */
  #questions = 0;
  #lastQuestion: Promise<unknown> = Promise.resolve();

  constructor(settings: LinkSettings) {
    this.#settings = settings;
  }

  get state(): McpState {
    return this.#state;
  }

  /** The negotiated protocol version of the current connection. */
  get protocolVersion(): string | undefined {
    return this.#current?.client.getNegotiatedProtocolVersion();
  }

  /** Connects if necessary. Resolves after `onTools` was called. */
  async connect(): Promise<Link> {
    if (this.#state === 'closed') throw this.#error('mcp-closed', 'was closed');
    if (this.#current !== undefined) return this.#current;
    this.#opening ??= this.#open().finally(() => {
      this.#opening = undefined;
    });
    return this.#opening;
  }

  /**
   * Calls a tool. A call that did not reach the server, or whose session the server no longer knows, is issued again
   * once; a repeatable call also if the connection broke while it ran.
   */
  async call(given: LinkCall): Promise<CallToolResult> {
    const call = { ...given, ended: new AbortController() };
    this.#calls.add(call);
    try {
      return await this.#callOnce(call).catch(async (error: unknown) => {
        const isReissued = isUndelivered(error) || (call.isRepeatable && isDisconnected(error));
        if (call.signal.aborted || !isReissued) throw error;
        const link = this.#current;
        if (link !== undefined && (isUndelivered(error) || link.isLegacy)) await this.#drop(link);
        return this.#callOnce(call);
      });
    } catch (error) {
      const link = this.#current;
      // A program that hangs would let every further call expire too.
      if (link?.opened.isLocal === true && hasExpired(call.signal)) {
        void this.#dropIfSilent(link, this.#settings.connectTimeoutMs);
      }
      throw this.#explained(error);
    } finally {
      this.#calls.delete(call);
      call.ended.abort();
    }
  }

  /** The scope of the current list of tools. */
  get cacheScope(): McpCacheScope {
    return this.#current?.cacheScope ?? 'private';
  }

  /** The capabilities of the server of the current connection. */
  get capabilities(): ServerCapabilities | undefined {
    return this.#current?.client.getServerCapabilities();
  }

  /** Sends another request. It is not issued again, except if it did not reach the server. */
  async request(method: string, params: JSONObject, signal?: AbortSignal): Promise<unknown> {
    const send = async (): Promise<unknown> =>
      (await this.connect()).client.request({ method, params: { ...params } }, anything, {
        timeout: noTimeout,
        ...(signal !== undefined && { signal }),
      });
    try {
      return await send();
    } catch (error) {
      if (signal?.aborted === true || !isUndelivered(error)) throw this.#explained(error);
      if (this.#current !== undefined) await this.#drop(this.#current);
      return send().catch((second: unknown) => {
        throw this.#explained(second);
      });
    }
  }

  async close(): Promise<void> {
    this.#setState('closed');
    this.#abort.abort();
    await this.#opening?.catch(() => undefined);
    const link = this.#current;
    this.#current = undefined;
    if (link === undefined) return;
    link.relisting.stop();
    await pTimeout(link.opened.goodbye(), { milliseconds: goodbyeTimeoutMs }).catch(() => undefined);
    await link.client.close();
  }

  async #callOnce(call: LinkCall): Promise<CallToolResult> {
    const link = await this.connect();
    const settings = { ...this.#settings, client: async () => (await this.connect()).client };
    const result = await requestTool(link.client, link.wire, call, settings);
    this.#refreshIfStale(link);
    return result;
  }

  /**
   * Answers a request for input of a server before 2026-07-28, which does not say for which call: it must be the only
   * one. Requests are answered one after the other, like those of later servers.
   *
   * @param withdrawn - aborts when the server cancels the request, or the connection ends
   */
  async #answerLegacy(params: unknown, withdrawn: AbortSignal): Promise<ElicitResult> {
    const [call, ...others] = this.#calls;
    const refuse = (problem: string): ElicitResult => {
      this.#settings.onProblem(new Error(`The server requested input ${problem}; it was cancelled.`));
      return { action: 'cancel' };
    };
    if (call === undefined || others.length > 0) return refuse(`during ${this.#calls.size} calls`);
    if (this.#questions === maxRequests) return refuse(`while ${maxRequests} of its requests waited for an answer`);
    const requests = { input: { method: 'elicitation/create', params } } as InputRequests;
    const signal = AbortSignal.any([call.signal, call.ended.signal, withdrawn]);
    const answer = this.#lastQuestion.then(() => answerInputs(requests, { ...call, signal }, this.#settings));
    this.#lastQuestion = answer.catch(() => undefined);
    this.#questions += 1;
    try {
      return (await answer)['input'] ?? { action: 'cancel' };
    } finally {
      this.#questions -= 1;
    }
  }

  async #open(): Promise<Link> {
    const { onInput, connectTimeoutMs } = this.#settings;
    this.#setState('connecting');
    let open: OpenClient | undefined;
    const { signal } = this.#abort;
    const onAbort = (): void => void open?.wire.close().catch(() => undefined);
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      open = await openClient({ ...this.#settings, hasInputs: onInput !== undefined, signal }, this.#isLegacy);
      const { client, isLegacy } = open;
      this.#isLegacy = isLegacy && open.opened.isLocal;
      const relisting = coalesce(() => this.#refresh(link), relistIntervalMs);
      const link: Link = { ...open, relisting, isListening: false, cacheScope: 'private', staleAt: Infinity };
      if (onInput !== undefined) {
        client.setRequestHandler('elicitation/create', ({ params }, { mcpReq }) =>
          this.#answerLegacy(params, mcpReq.signal),
        );
      }
      client.setNotificationHandler('notifications/tools/list_changed', () => relisting.request());
      // oxlint-disable-next-line unicorn/prefer-add-event-listener -- the client of the SDK has no event listeners
      client.onclose = () => this.#lost(link);
      // oxlint-disable-next-line unicorn/prefer-add-event-listener -- the client of the SDK has no event listeners
      client.onerror = (error) => void this.#checkHealth(link, error);
      // Listens first: a change between the two would be missed otherwise.
      await this.#listen(link);
      const tools = await listTools(link, connectTimeoutMs);
      signal.throwIfAborted();
      this.#current = link;
      this.#settings.onTools(tools);
      this.#setState('connected');
      return link;
    } catch (error) {
      this.#current = undefined;
      this.#setState('lost');
      await open?.client.close().catch(() => undefined);
      if (signal.aborted) throw this.#error('mcp-closed', 'was closed', error);
      const diagnostics = error instanceof OpenError ? error.diagnostics : (open?.opened.diagnostics() ?? '');
      const output = diagnostics === '' ? '' : `\nIts output:\n${diagnostics}`;
      throw this.#error('mcp-unavailable', `cannot be reached: ${messageOf(error).replace(/\.$/, '')}${output}`, error);
    } finally {
      signal.removeEventListener('abort', onAbort);
    }
  }

  /** Subscribes to changes of the tools. Servers before 2026-07-28 announce them without a subscription. */
  async #listen(link: Link): Promise<void> {
    const { client, isLegacy } = link;
    if (client.getServerCapabilities()?.tools?.listChanged !== true) return;
    link.isListening = true;
    if (isLegacy) return;
    try {
      const subscription = await client.listen(
        { toolsListChanged: true },
        { timeout: this.#settings.connectTimeoutMs },
      );
      void subscription.closed.then(() => {
        link.isListening = false;
        // Changes may be missed until the next subscription, which the end of the next call requests.
        link.staleAt = 0;
      });
    } catch (error) {
      link.isListening = false;
      this.#settings.onProblem(new Error(`Subscribing to tool changes failed: ${messageOf(error)}`, { cause: error }));
    }
  }

  /** Lists again in the background if the list is stale. */
  #refreshIfStale(link: Link): void {
    if (link.staleAt > monotonicMs()) return;
    link.staleAt = Infinity;
    void (link.isListening ? Promise.resolve() : this.#listen(link)).then(() => link.relisting.request());
  }

  async #refresh(link: Link): Promise<void> {
    try {
      this.#settings.onTools(await listTools(link, this.#settings.connectTimeoutMs));
    } catch (error) {
      // The end of a later call tries again: the server may announce no other change.
      link.staleAt = monotonicMs() + minTtlMs;
      if (this.#state === 'connected') {
        this.#settings.onProblem(new Error(`Listing the tools again failed: ${messageOf(error)}`, { cause: error }));
      }
    }
  }

  /**
   * A broken stream of a server before 2026-07-28 does not fail the calls that wait for it, so the server is pinged.
   */
  async #checkHealth(link: Link, error: Error): Promise<void> {
    if (this.#current !== link) return;
    const message = messageOf(error);
    this.#settings.onProblem(message === error.message ? error : new Error(message, { cause: error }));
    if (this.#calls.size > 0 && link.isLegacy) await this.#dropIfSilent(link, pingTimeoutMs);
  }

  /** Ends a connection whose server does not answer in time. Any answer proves that the server works. */
  async #dropIfSilent(link: Link, timeout: number): Promise<void> {
    try {
      await (link.isLegacy ? link.client.ping({ timeout }) : link.client.discover({ timeout }));
    } catch (error) {
      if (this.#current === link && !(error instanceof ProtocolError)) await this.#drop(link);
    }
  }

  async #drop(link: Link): Promise<void> {
    this.#lost(link);
    await link.client.close().catch(() => undefined);
  }

  #lost(link: Link): void {
    if (this.#current !== link) return;
    link.relisting.stop();
    this.#current = undefined;
    this.#setState('lost');
  }

  #setState(state: McpState): void {
    if (this.#state === state || this.#state === 'closed') return;
    this.#state = state;
    this.#settings.onState(state);
  }

  #explained(error: unknown): unknown {
    if (isTooLarge(error)) return new ToolError(error.message, { code: 'mcp-too-large' });
    if (isInvalidResult(error)) {
      return new ToolError(`${messageOf(error)}. The call may have taken effect.`, { code: 'mcp-invalid-result' });
    }
    if (isHttpFailure(error)) return new ToolError(messageOf(error), { code: 'mcp-http', cause: error });
    if (!isDisconnected(error)) return error;
    return this.#error(
      'mcp-disconnected',
      'disconnected during the call; whether the call took effect is unknown. The next call reconnects',
      error,
    );
  }

  #error(code: ConnectionErrorCode, what: string, cause?: unknown): McpConnectionError {
    const { name } = this.#settings;
    return new McpConnectionError(code, name, `The MCP server ${JSON.stringify(name)} ${what}.`, { cause });
  }
}

/** Lists all pages of tools, in an order that does not depend on the server, so that prompt caches stay valid. */
const listTools = async (link: Link, timeout: number): Promise<readonly McpToolDescription[]> => {
  // The timeout of the SDK is that of each page.
  const ended = new AbortController();
  const listing = link.client.listTools(undefined, { timeout, signal: ended.signal, cacheMode: 'refresh' });
  const message = `listing the tools timed out after ${timeout} ms`;
  const { tools, ...rest } = await pTimeout(listing, { milliseconds: timeout, message }).finally(() => ended.abort());
  if (tools.length > maxTools) {
    throw new Error(`the server lists ${tools.length} tools; at most ${maxTools} are accepted`);
  }
  const { ttlMs, cacheScope } = rest as { readonly ttlMs?: unknown; readonly cacheScope?: unknown };
  link.cacheScope = cacheScope === 'public' ? 'public' : 'private';
  const isTimed = typeof ttlMs === 'number' && !link.isListening;
  link.staleAt = isTimed ? monotonicMs() + Math.max(ttlMs, minTtlMs) : Infinity;
  return tools.toSorted((one, other) => (one.name < other.name ? -1 : Number(one.name > other.name)));
};

/** Whether the driver has aborted a call at its time limit. */
const hasExpired = ({ reason }: AbortSignal): boolean =>
  reason instanceof DOMException && reason.name === 'TimeoutError';

const monotonicMs = (): number =>
  // oxlint-disable-next-line h/no-clock -- the age of a list on a real server; no decision of a turn depends on it
  performance.now();
