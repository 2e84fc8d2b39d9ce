import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import {
  StreamableHTTPClientTransport,
  type StreamableHTTPClientTransportOptions,
} from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { checkValue, type OptionCheck } from '@h/options';

/** A local program, connected over standard input and output. */
export interface StdioConnection {
  readonly command: string;
  readonly args?: readonly string[] | undefined;
  /** Variables in addition to basic ones (`PATH`, `HOME` …). No other variables are inherited, so that no keys leak. */
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
  readonly fetch?: StreamableHTTPClientTransportOptions['fetch'];
}

/** The connection to a server: a program, a URL, or a function that creates a new SDK transport on each call. */
export type McpConnection = StdioConnection | HttpConnection | (() => Transport);

/** An opened transport with its diagnostics and its clean-up. */
export interface OpenedTransport {
  readonly transport: Transport;
  /** Returns the end of the server's standard error output. */
  diagnostics(): string;
  /** Notifies the server that its session has ended. */
  goodbye(): Promise<void>;
}

/** Maximum number of standard error characters in an error message. */
const maxDiagnostics = 2_000;

export const openTransport = (connection: McpConnection): OpenedTransport => {
  if (typeof connection === 'function') {
    return { transport: connection(), diagnostics: () => '', goodbye: async () => undefined };
  }
  return 'command' in connection ? openStdio(connection) : openHttp(connection);
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

const openStdio = ({ command, args = [], env, cwd }: StdioConnection): OpenedTransport => {
  const transport = new StdioClientTransport({
    command,
    args: [...args],
    stderr: 'pipe',
    ...(env !== undefined && { env: { ...env } }),
    ...(cwd !== undefined && { cwd }),
  });
  let written = '';
  transport.stderr?.on('data', (chunk: Buffer) => {
    written = `${written}${chunk.toString()}`.slice(-maxDiagnostics);
  });
  return { transport, diagnostics: () => written.trim(), goodbye: async () => undefined };
};

const openHttp = ({ url, headers, authProvider, fetch }: HttpConnection): OpenedTransport => {
  const transport = new StreamableHTTPClientTransport(new URL(url), {
    ...(headers !== undefined && { requestInit: { headers: { ...headers } } }),
    ...(authProvider !== undefined && { authProvider }),
    ...(fetch !== undefined && { fetch }),
  });
  return { transport, diagnostics: () => '', goodbye: () => transport.terminateSession() };
};
