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
import { TurnError, type JSONObject } from '@h/turn';
import { coalesce, type Coalesced } from './coalesce.js';
import { openTransport, type McpConnection, type OpenedTransport } from './transports.js';

export type { McpToolDescription };

/** Whether the server can be asked. `lost` is mended by the next call. */
export type McpState = 'connected' | 'connecting' | 'lost' | 'closed';

type ConnectionErrorCode = 'mcp-unavailable' | 'mcp-disconnected' | 'mcp-closed';

/** The server cannot be reached, or has gone while it was asked. */
export class McpConnectionError extends TurnError {
  readonly server: string;

  constructor(code: ConnectionErrorCode, server: string, message: string, options?: ErrorOptions) {
    super(code, message, options);
    this.server = server;
  }
}

/** What a connection needs and whom it tells. */
export interface ConnectionSettings {
  readonly name: string;
  readonly connection: McpConnection;
  readonly connectTimeoutMs: number;
  /** The tools, at first, after a change, and after reconnecting. */
  onTools(tools: readonly McpToolDescription[]): void;
  onState(state: McpState): void;
  onProblem(problem: Error): void;
}

/** Longest that a timer of the SDK can wait: calls have their deadline from the driver. */
const noTimeout = 2_147_483_647;
const maxPages = 100;
const pingTimeoutMs = 5_000;
const goodbyeTimeoutMs = 1_000;
/** Between two listings that a server's notifications cause; the MCP SDK waits as long before its own. */
const relistIntervalMs = 300;

interface Link {
  readonly client: Client;
  readonly opened: OpenedTransport;
  readonly relisting: Coalesced;
}

/** One server, connected anew whenever it is asked and has gone. */
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

  /** Connects if it has to, and has told the tools when it is done. */
  async connect(): Promise<Link> {
    if (this.#state === 'closed') throw this.#error('mcp-closed', 'was closed');
    if (this.#current !== undefined) return this.#current;
    this.#opening ??= this.#open().finally(() => {
      this.#opening = undefined;
    });
    return this.#opening;
  }

  /** Calls a tool. A call that has not reached the server, or that it refused because it does not know us any more, is made once more. */
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
      // oxlint-disable-next-line unicorn/prefer-add-event-listener -- the SDK's client has callbacks and no listeners
      client.onclose = () => this.#lost(link);
      // oxlint-disable-next-line unicorn/prefer-add-event-listener -- the SDK's client has callbacks and no listeners
      client.onerror = (error) => void this.#checkHealth(link, error);
      const tools = await listTools(client, connectTimeoutMs);
      if (this.#state === 'closed') throw new Error('the connection was closed while it was being made');
      this.#settings.onTools(tools);
    } catch (error) {
      relisting.stop();
      this.#setState('lost');
      await client.close().catch(() => undefined);
      const said = opened.diagnostics();
      throw this.#error(
        'mcp-unavailable',
        `cannot be reached: ${messageOf(error)}${said === '' ? '' : `\nIt wrote:\n${said}`}`,
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
        this.#settings.onProblem(
          new Error(`The tools could not be listed again: ${messageOf(error)}`, { cause: error }),
        );
      }
    }
  }

  /** A stream that broke does not fail the calls that wait for it, so the server is asked whether it is still there. */
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
      'went away while the call ran; whether it took effect is not known. The next call connects again',
      error,
    );
  }

  #error(code: ConnectionErrorCode, what: string, cause?: unknown): McpConnectionError {
    const { name } = this.#settings;
    return new McpConnectionError(code, name, `The MCP server ${JSON.stringify(name)} ${what}.`, { cause });
  }
}

/** All pages of the list. Read by a plain request, because the SDK's own keeps schemas of the last page only, and compiles them. */
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
  throw new Error(`its list of tools has more than ${maxPages} pages`);
};

/** Codes of a network that has not delivered anything. */
const undelivered: readonly unknown[] = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH'];

/** Whether the call has certainly not run: it was not delivered, or turned away because our session is not known. */
const isUndelivered = (error: unknown): boolean => {
  if (error instanceof StreamableHTTPError) {
    return error.code === 404 || (error.code === 400 && /session/i.test(error.message));
  }
  if (error instanceof Error && error.message === 'Not connected') return true;
  return undelivered.includes(networkCodeOf(error));
};

const connectionClosed: number = ErrorCode.ConnectionClosed;

/** Whether the connection ended while the call was under way. */
const isCutOff = (error: unknown): boolean =>
  (error instanceof McpError && error.code === connectionClosed) ||
  (error instanceof TypeError && networkCodeOf(error) !== undefined);

const networkCodeOf = (error: unknown): string | undefined => {
  const { code } = ((error instanceof Error ? error.cause : undefined) ?? {}) as { readonly code?: unknown };
  return typeof code === 'string' ? code : undefined;
};

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Waits for something that is polite but not needed. */
const inTime = async (work: Promise<unknown>, limitMs: number): Promise<void> => {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise((resolve) => {
    timer = setTimeout(resolve, limitMs);
  });
  await Promise.race([work.catch(() => undefined), limit]);
  clearTimeout(timer);
};
