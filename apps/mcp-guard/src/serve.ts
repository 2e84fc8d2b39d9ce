import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createHash, timingSafeEqual } from 'node:crypto';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, type Transport } from '@modelcontextprotocol/server';
import { serveStdio, StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import { listenProblem } from '@h/options';
import { ApprovalPage } from './approval-page.js';
import { CallShortcut } from './call-shortcut.js';
import { ConfigError } from './config.js';
import type { Config } from './config-schema.js';
import { Guard } from './guard.js';
import { McpService } from './mcp-service.js';

/** A running guard. */
export interface RunningGuard {
  readonly guard: Guard;
  /** The address of the guard; `undefined` over standard input and output. */
  readonly url: string | undefined;
  /** Resolves when the servers are connected, or have failed once. */
  readonly connected: Promise<void>;
  close(): Promise<void>;
}

/**
 * Serves a guard with this configuration, over HTTP or standard input and output.
 *
 * @param transport - replaces standard input and output
 * @throws ConfigError, InvalidOptionError
 */
export const serve = async (
  config: Config,
  onNote: (note: string) => void,
  transport?: Transport,
): Promise<RunningGuard> => {
  if (Object.keys(config.servers ?? {}).length === 0) {
    throw new ConfigError('There is no server to guard. Name one in "servers", or after "--".');
  }
  checkListen(config.listen);
  let notify = (): void => undefined;
  const guard = await Guard.open(config, { onNote, onToolsChanged: () => notify() });
  const { page: hasPage, timeoutMs } = config.approvals;
  const page = hasPage ? new ApprovalPage(onNote) : undefined;
  const service = new McpService(guard, page, timeoutMs);
  const { url, onToolsChanged, close } =
    config.listen === undefined
      ? overStdio(service, onNote, transport)
      : await overHttp(service, config.listen, config.results.maxMessageBytes, onNote);
  notify = onToolsChanged;
  // Connects while the client introduces itself. Failures are reported, and tried again when the tools are listed.
  const connected = guard.connect();
  return {
    guard,
    url,
    connected,
    close: async () => {
      service.close();
      await close();
      await Promise.all([guard.close(), page?.close()]);
    },
  };
};

/** Describes a problem with a client. The SDK reports a message that matches none of its schemas with all of them. */
const problemOf = (error: Error): string =>
  error.name === 'ZodError' || error.name === '$ZodError' || 'issues' in error
    ? 'The client sent a message that is not a message of JSON-RPC 2.0. It was ignored.'
    : error.message;

interface Wire {
  readonly url?: string;
  readonly onToolsChanged: () => void;
  readonly close: () => Promise<void>;
}

const overStdio = (service: McpService, onNote: (note: string) => void, transport: Transport | undefined): Wire => {
  const handle = serveStdio((context) => service.create(context), {
    onerror: (error) => onNote(problemOf(error)),
    transport: new CallShortcut(transport ?? new StdioServerTransport(), () => service.shortcut),
  });
  return { onToolsChanged: () => service.notifyToolsChanged(), close: () => handle.close() };
};

const overHttp = async (
  service: McpService,
  { host, port, path, token }: NonNullable<Config['listen']>,
  maxRequestBodySize: number,
  onNote: (note: string) => void,
): Promise<Wire> => {
  const handler = createMcpHandler((context) => service.create(context), {
    onerror: (error) => onNote(problemOf(error)),
    maxRequestBodySize,
  });
  const answer = toNodeHandler(handler, { maxRequestBodySize }) as (
    request: IncomingMessage,
    response: ServerResponse,
  ) => Promise<void>;
  const server = createServer((request, response) => {
    const status = statusOf(request, path, token, host);
    if (status === undefined && !(Number(request.headers['content-length']) > maxRequestBodySize)) {
      return void answer(request, response);
    }
    // A client that is still sending when the connection closes does not read the answer.
    request.resume();
    if (status === undefined) {
      const message = `The message is longer than results.maxMessageBytes, ${maxRequestBodySize}.`;
      const body = JSON.stringify({ jsonrpc: '2.0', error: { code: -32_000, message }, id: null });
      return void response.writeHead(413, { 'content-type': 'application/json' }).end(body);
    }
    return void response.writeHead(status, status === 401 ? { 'www-authenticate': 'Bearer' } : {}).end();
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) =>
      reject(new ConfigError(`${listenProblem(error, { host, port })} Change "listen".`)),
    );
    server.listen(port, host, resolve);
  });
  // A connection that cannot be accepted, for example without free file descriptors.
  server.on('error', (error) => onNote(error.message));
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${(server.address() as AddressInfo).port}${path}`,
    onToolsChanged: () => handler.notify.toolsChanged(),
    close: async () => {
      await handler.close();
      await closed(server);
    },
  };
};

const closed = (server: Server): Promise<void> =>
  new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });

const loopback: ReadonlySet<string> = new Set(['127.0.0.1', '::1', 'localhost']);

const checkListen = (listen: Config['listen']): void => {
  if (listen === undefined || listen.token !== undefined || loopback.has(listen.host)) return;
  throw new ConfigError(`"listen.host" is ${JSON.stringify(listen.host)}, which others can reach. Set "listen.token".`);
};

/** Returns the status with which a request is refused. */
const statusOf = (
  { url = '', headers }: IncomingMessage,
  path: string,
  token: string | undefined,
  host: string,
): number | undefined => {
  // The target of a request need not be a URL: `//` is none.
  if (!URL.canParse(url, 'http://guard') || new URL(url, 'http://guard').pathname !== path) return 404;
  if (token !== undefined) return isSame(headers.authorization ?? '', `Bearer ${token}`) ? undefined : 401;
  // A page in a browser must not reach the guard under another name (DNS rebinding) or from another site.
  const name = (headers.host ?? '').replace(/:\d{1,5}$/, '').replaceAll(/[[\]]/g, '');
  const isKnown = loopback.has(name) || name === host;
  const isForeign = headers.origin !== undefined && !loopback.has(hostOf(headers.origin));
  return isKnown && !isForeign ? undefined : 403;
};

const hostOf = (origin: string): string => {
  try {
    return new URL(origin).hostname.replaceAll(/[[\]]/g, '');
  } catch {
    return '';
  }
};

const isSame = (one: string, other: string): boolean => {
  const hash = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(hash(one), hash(other));
};
