import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPError } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import {
  CallToolResultSchema,
  ErrorCode,
  ListToolsResultSchema,
  McpError,
  ToolListChangedNotificationSchema,
  type CallToolResult,
  type Progress,
  type Tool as McpToolDescription,
} from '@modelcontextprotocol/sdk/types.js';
import { toErrorInfo, TurnError, type JSONObject } from '@h/turn';
import { coalesce, type Coalesced } from './coalesce.js';
import { openTransport, type McpConnection, type OpenedTransport } from './transports.js';

export type { McpToolDescription };

/** State of a connection. After `lost`, the next call reconnects. */
export type McpState = 'connected' | 'connecting' | 'lost' | 'closed';

type ConnectionErrorCode = 'mcp-unavailable' | 'mcp-disconnected' | 'mcp-closed';

/** The server cannot be reached, or disconnected during a request. */
export class McpConnectionError extends TurnError {
  readonly server: string;

  constructor(code: ConnectionErrorCode, server: string, message: string, options?: ErrorOptions) {
    super(code, message, options);
    this.server = server;
  }
}

/** Settings and callbacks of a connection. */
export interface ConnectionSettings {
  readonly name: string;
  readonly connection: McpConnection;
  readonly connectTimeoutMs: number;
  /** Receives the tools after connecting, after a change, and after reconnecting. */
  onTools(tools: readonly McpToolDescription[]): void;
  onState(state: McpState): void;
  onProblem(problem: Error): void;
}

/** Longest timeout of the SDK. The driver sets the deadline of calls. */
const noTimeout = 2_147_483_647;
const maxPages = 100;
const pingTimeoutMs = 5_000;
const goodbyeTimeoutMs = 1_000;
/** Minimum interval between listings that notifications cause. The MCP SDK uses the same debounce interval. */
const relistIntervalMs = 300;

interface Link {
  readonly client: Client;
  readonly opened: OpenedTransport;
  readonly relisting: Coalesced;
}

/** A connection to one server, which reconnects on demand. */
export class McpLink {
  readonly #settings: ConnectionSettings;
  #current: Link | undefined;
  #opening: Promise<Link> | undefined;
  #state: McpState = 'lost';
  #calls = 0;

  constructor(settings: ConnectionSettings) {
    this.#settings = settings;
  }

  get state(): McpState {
    return this.#state;
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
   * Calls a tool. A call that did not reach the server, or whose session the server no longer knows, is retried once.
   */
  async call(
    tool: string,
    input: JSONObject,
    signal: AbortSignal,
    onProgress: (progress: Progress) => void,
  ): Promise<CallToolResult> {
    const request = async (): Promise<CallToolResult> =>
      this.#request(await this.connect(), tool, input, signal, onProgress);
    try {
      return await request();
    } catch (error) {
      if (signal.aborted || !isUndelivered(error)) throw this.#explained(error);
    }
    if (this.#current !== undefined) await this.#drop(this.#current);
    try {
      return await request();
    } catch (error) {
      throw this.#explained(error);
    }
  }

  async close(): Promise<void> {
    this.#setState('closed');
    await this.#opening?.catch(() => undefined);
    const link = this.#current;
    this.#current = undefined;
    if (link === undefined) return;
    link.relisting.stop();
    await inTime(link.opened.goodbye(), goodbyeTimeoutMs);
    await link.client.close();
  }

  async #request(
    { client }: Link,
    name: string,
    input: JSONObject,
    signal: AbortSignal,
    onprogress: (progress: Progress) => void,
  ): Promise<CallToolResult> {
    signal.throwIfAborted();
    this.#calls += 1;
    try {
      const request = { method: 'tools/call' as const, params: { name, arguments: { ...input } } };
      return await client.request(request, CallToolResultSchema, { signal, onprogress, timeout: noTimeout });
    } finally {
      this.#calls -= 1;
    }
  }

  async #open(): Promise<Link> {
    const { connection, connectTimeoutMs } = this.#settings;
    this.#setState('connecting');
    const opened = openTransport(connection);
    const client = new Client({ name: 'h-tools', version: '0.1.0' }, { capabilities: {} });
    const relisting = coalesce(() => this.#refresh(client), relistIntervalMs);
    const link = { client, opened, relisting };
    try {
      await client.connect(opened.transport, { timeout: connectTimeoutMs });
      client.setNotificationHandler(ToolListChangedNotificationSchema, () => relisting.request());
      // oxlint-disable-next-line unicorn/prefer-add-event-listener -- the client of the SDK has no event listeners
      client.onclose = () => this.#lost(link);
      // oxlint-disable-next-line unicorn/prefer-add-event-listener -- the client of the SDK has no event listeners
      client.onerror = (error) => void this.#checkHealth(link, error);
      const tools = await listTools(client, connectTimeoutMs);
      if (this.#state === 'closed') throw new Error('the connection was closed while connecting');
      this.#settings.onTools(tools);
    } catch (error) {
      relisting.stop();
      this.#setState('lost');
      await client.close().catch(() => undefined);
      const said = opened.diagnostics();
      throw this.#error(
        'mcp-unavailable',
        `cannot be reached: ${messageOf(error)}${said === '' ? '' : `\nStandard error:\n${said}`}`,
        error,
      );
    }
    this.#current = link;
    this.#setState('connected');
    return link;
  }

  async #refresh(client: Client): Promise<void> {
    try {
      this.#settings.onTools(await listTools(client, this.#settings.connectTimeoutMs));
    } catch (error) {
      if (this.#state === 'connected') {
        this.#settings.onProblem(new Error(`Listing the tools again failed: ${messageOf(error)}`, { cause: error }));
      }
    }
  }

  /** A broken stream does not fail the calls that wait for it, so the server is pinged. */
  async #checkHealth(link: Link, error: Error): Promise<void> {
    if (this.#current !== link) return;
    this.#settings.onProblem(error);
    if (this.#calls === 0) return;
    await link.client.ping({ timeout: pingTimeoutMs }).catch(() => this.#drop(link));
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
    if (!isCutOff(error)) return error;
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

/**
 * Lists all pages of tools. A plain request, because `listTools()` of the SDK keeps only the schemas of the last page.
 */
const listTools = async (client: Client, timeout: number): Promise<readonly McpToolDescription[]> => {
  const tools: McpToolDescription[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < maxPages; page += 1) {
    const params = cursor === undefined ? {} : { cursor };
    const result = await client.request({ method: 'tools/list', params }, ListToolsResultSchema, { timeout });
    tools.push(...result.tools);
    cursor = result.nextCursor;
    if (cursor === undefined) return tools;
  }
  throw new Error(`the list of tools has more than ${maxPages} pages`);
};

/** Error codes of requests that were not delivered. */
const undelivered: readonly unknown[] = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH'];

/** Returns whether the call certainly did not run: it was not delivered, or its session was unknown. */
const isUndelivered = (error: unknown): boolean => {
  if (error instanceof StreamableHTTPError) {
    return error.code === 404 || (error.code === 400 && /session/i.test(error.message));
  }
  if (error instanceof Error && error.message === 'Not connected') return true;
  return undelivered.includes(networkCodeOf(error));
};

const connectionClosed: number = ErrorCode.ConnectionClosed;

/** Returns whether the connection ended during the call. */
const isCutOff = (error: unknown): boolean =>
  (error instanceof McpError && error.code === connectionClosed) ||
  (error instanceof TypeError && networkCodeOf(error) !== undefined);

const networkCodeOf = (error: unknown): string | undefined => {
  const { code } = ((error instanceof Error ? error.cause : undefined) ?? {}) as { readonly code?: unknown };
  return typeof code === 'string' ? code : undefined;
};

const messageOf = (error: unknown): string => toErrorInfo(error).message;

/** Waits for optional work, at most `limitMs`. */
const inTime = async (work: Promise<unknown>, limitMs: number): Promise<void> => {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise((resolve) => {
    timer = setTimeout(resolve, limitMs);
  });
  await Promise.race([work.catch(() => undefined), limit]);
  clearTimeout(timer);
};
