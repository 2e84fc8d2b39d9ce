import {
  StreamableHTTPClientTransport,
  type FetchLike,
  type StreamableHTTPClientTransportOptions,
  type Transport,
} from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { checkValue, maxTimerMs, type OptionCheck } from '@h/options';
import { minimalEnvironment } from '@h/process';
import { boundedFetch } from './bounded-fetch.js';
import { tooLargeError } from './failures.js';
import { ProcessTransport } from './process-transport.js';

/** A local program, connected over standard input and output. */
export interface StdioConnection {
  readonly command: string;
  readonly args?: readonly string[] | undefined;
  /** Variables in addition to basic ones (`PATH`, `HOME` …). No others are inherited, so that no keys leak. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly cwd?: string | undefined;
}

/** A server with the streamable HTTP transport. */
export interface HttpConnection {
  readonly url: string | URL;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** The OAuth provider of the MCP SDK. */
  readonly authProvider?: StreamableHTTPClientTransportOptions['authProvider'];
  /** @defaultValue the global `fetch` */
  readonly fetch?: FetchLike | undefined;
}

/** The connection to a server: a program, a URL, or a function that creates a new SDK transport on each call. */
export type McpConnection = StdioConnection | HttpConnection | (() => Transport);

/** An opened transport with its diagnostics and its clean-up. */
export interface OpenedTransport {
  readonly transport: Transport;
  /** Whether the server is a program of this machine that was started for this connection. */
  readonly isLocal: boolean;
  /** Returns the end of the server's standard error output. */
  diagnostics(): string;
  /** Returns why the program could not be run. */
  failure(): Error | undefined;
  /** Notifies the server that its session has ended. */
  goodbye(): Promise<void>;
}

/** Maximum number of standard error characters in an error message. */
const maxDiagnostics = 2_000;

const noGoodbye = (): Promise<void> => Promise.resolve();

export const openTransport = (connection: McpConnection, maxMessageBytes: number): OpenedTransport => {
  if (typeof connection !== 'function') {
    return 'command' in connection ? openProgram(connection, maxMessageBytes) : openHttp(connection, maxMessageBytes);
  }
  const transport = connection();
  const isLocal = 'pid' in transport && 'stderr' in transport;
  return { transport, isLocal, diagnostics: () => '', failure: () => undefined, goodbye: noGoodbye };
};

export const checkConnection = (connection: unknown): void =>
  checkValue('connectMcp()', 'connection', connection, anMcpConnection);

const anMcpConnection: OptionCheck = {
  expected: 'an object with either a command or a url, or a function that creates a transport',
  accepts: (connection) => {
    if (typeof connection === 'function') return true;
    const { command, url } = (connection ?? {}) as { readonly command?: unknown; readonly url?: unknown };
    return (typeof command === 'string' && command !== '') !== (typeof url === 'string' || url instanceof URL);
  },
};

const openProgram = ({ command, args = [], env, cwd }: StdioConnection, maxMessageBytes: number): OpenedTransport => {
  let written = '';
  const onDiagnostics = (text: string): void => {
    written = `${written}${text}`.slice(-maxDiagnostics);
  };
  const rest = { isLocal: true, diagnostics: () => written.trim(), goodbye: noGoodbye };
  if (process.platform === 'win32') {
    // There is no supervisor on Windows; the SDK resolves commands such as `npx` there.
    const transport = new StdioClientTransport({
      command,
      args: [...args],
      stderr: 'pipe',
      maxBufferSize: maxMessageBytes,
      ...(env !== undefined && { env: { ...env } }),
      ...(cwd !== undefined && { cwd }),
    });
    transport.stderr?.on('data', (chunk: Buffer) => onDiagnostics(chunk.toString()));
    return { ...rest, transport, failure: () => undefined };
  }
  const environment = { ...minimalEnvironment(process.env), ...env };
  const transport = new ProcessTransport({ command, args, environment, cwd, maxMessageBytes, onDiagnostics });
  return { ...rest, transport, failure: () => transport.failure };
};

/** Minimum time between two connections of a stream. Its server may request any other with `retry:`. */
const minReconnectMs = 500;

/** The transport of the SDK. Its timers end with it, and the server cannot make it connect without a pause. */
class HttpTransport extends StreamableHTTPClientTransport {
  readonly #timers: Set<NodeJS.Timeout>;

  constructor(url: URL, options: StreamableHTTPClientTransportOptions) {
    const timers = new Set<NodeJS.Timeout>();
    const reconnectionScheduler = (reconnect: () => void, delayMs: number): void => {
      const timer = setTimeout(
        () => {
          timers.delete(timer);
          reconnect();
        },
        Math.min(Math.max(delayMs, minReconnectMs), maxTimerMs),
      );
      timers.add(timer);
    };
    super(url, { ...options, reconnectionScheduler });
    this.#timers = timers;
  }

  override async close(): Promise<void> {
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers.clear();
    await super.close();
  }
}

const openHttp = (
  { url, headers, authProvider, fetch = globalThis.fetch }: HttpConnection,
  maxMessageBytes: number,
): OpenedTransport => {
  const onEventTooLarge = (request: unknown): void => {
    if (typeof request !== 'string') return;
    const { id, method } = JSON.parse(request) as { readonly id?: number; readonly method?: string };
    // Without a method it is an answer, with an id of the server.
    if (id === undefined || method === undefined) return;
    transport.onmessage?.({ jsonrpc: '2.0', id, error: tooLargeError(maxMessageBytes) });
  };
  const transport = new HttpTransport(new URL(url), {
    fetch: boundedFetch(fetch, maxMessageBytes, onEventTooLarge),
    ...(headers !== undefined && { requestInit: { headers: { ...headers } } }),
    ...(authProvider !== undefined && { authProvider }),
  });
  return {
    transport,
    isLocal: false,
    diagnostics: () => '',
    failure: () => undefined,
    goodbye: () => transport.terminateSession(),
  };
};
