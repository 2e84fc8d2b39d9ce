import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { listenProblem } from '@h/options';
import { authenticator } from './limits/clients.js';
import { ConfigError, isLoopback, type ProxyConfig } from './config.js';
import { baseOf, forwardedHeaders, noBody, type ClientRequest } from './calls/forwarding.js';
import { ModelCalls } from './calls/model-calls.js';
import { Refusal, type Provider } from './calls/refusal.js';
import { limitPauses, relayBody, relayHead } from './calls/relay.js';
import { readBody } from './wire/request-body.js';
import { routeOf } from './calls/routes.js';
import { Upstream } from './calls/upstream.js';

/** What a proxy needs from its surroundings. */
export interface ProxyContext {
  /** @defaultValue `process.env` */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /** The time in milliseconds since 1970. @defaultValue `Date.now` */
  readonly now?: (() => number) | undefined;
  /** Returns a random number from 0 to 1, for the times in `retry-after`. @defaultValue `Math.random` */
  readonly random?: (() => number) | undefined;
}

/** A proxy that accepts requests. */
export interface RunningProxy {
  /** The base URL for Anthropic clients; OpenAI clients append `/v1`. */
  readonly url: string;
  /** Aborts open requests, stores the usage and releases everything. */
  close(): Promise<void>;
}

/** The prefix of the proxy's own pages. */
const ownPrefix = '/_h/';
/**
 * Starts a proxy in front of the model providers.
 *
 * Requests and answers are forwarded byte for byte unless a guard of the configuration changes them.
 *
 * @throws ConfigError if a key is missing from the environment
 * @throws LockHeldError if another proxy uses the same state folder
 *
 * @example
 * ```ts
 * const proxy = await startProxy(parseConfig({ listen: { port: 0 } }));
 * console.log(proxy.url);
 * await proxy.close();
 * ```
 */
export const startProxy = async (config: ProxyConfig, context: ProxyContext = {}): Promise<RunningProxy> => {
  const { env = process.env, now = Date.now, random = Math.random } = context;
  const upstream = new Upstream(config.timeouts);
  const calls = await ModelCalls.open({ config, upstream, env, now, random });
  const authenticate = authenticator(config.clients);
  const running = new Set<AbortController>();
  const open = new Set<Promise<void>>();

  const pass = async ({ incoming, outgoing, route, client, body, signal }: ClientRequest): Promise<void> => {
    const from = await upstream.send({
      base: baseOf(config, route.provider),
      method: incoming.method ?? 'GET',
      path: incoming.url ?? '/',
      headers: forwardedHeaders(incoming, client.hasOwnCredential ? undefined : calls.anyKey(route.provider)),
      body,
      signal,
    });
    relayHead(from, outgoing);
    limitPauses(outgoing, config.timeouts.idleMs);
    await relayBody(from, outgoing, undefined);
  };

  const handle = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    const url = incoming.url ?? '/';
    const route = routeOf(incoming.method ?? 'GET', url, incoming.headers);
    const abort = new AbortController();
    running.add(abort);
    // An answer that has begun has no room for an error, and its client may read nothing more.
    abort.signal.addEventListener('abort', () => {
      if (outgoing.headersSent) outgoing.destroy();
    });
    outgoing.once('close', () => {
      if (!outgoing.writableFinished) abort.abort(new Error('The client left.'));
    });
    const stopWatching = closeWithConnection(incoming, outgoing);
    try {
      checkOrigin(incoming, config.listen.host);
      if (url.startsWith(ownPrefix)) {
        if (!isLoopback(incoming.socket.remoteAddress?.replace('::ffff:', '') ?? '')) authenticate(incoming.headers);
        await calls.page(url.slice(ownPrefix.length), outgoing);
        return;
      }
      const client = authenticate(incoming.headers);
      if (incoming.headers.upgrade?.toLowerCase() === 'websocket') throw new Refusal('no-websocket', noWebSocket);
      if (config.unmetered === 'deny') {
        if (route.isUnmetered) throw new Refusal('forbidden', unmetered(url));
        if (route.isStored && !client.hasOwnCredential) throw new Refusal('forbidden', stored(url));
      }
      const { signal } = abort;
      const request: ClientRequest = { incoming, outgoing, route, client, signal, body: noBody };
      request.body = await readBody(incoming, config.maxBodyBytes, signal);
      await (route.format === undefined ? pass(request) : calls.call(request));
    } catch (error) {
      refuse(incoming, outgoing, route.provider, error);
    } finally {
      stopWatching();
      running.delete(abort);
    }
  };

  const server = createServer({ keepAliveTimeout: 75_000, requestTimeout: 300_000 }, (incoming, outgoing) => {
    const done = handle(incoming, outgoing);
    open.add(done);
    void done.finally(() => open.delete(done));
  });
  try {
    await listen(server, config.listen);
  } catch (error) {
    upstream.close();
    await calls.close();
    throw error;
  }
  const { address, port } = server.address() as AddressInfo;
  return {
    url: `http://${address.includes(':') ? `[${address}]` : address}:${port}`,
    close: async () => {
      const closed = new Promise<void>((resolve) => {
        server.close(() => resolve());
      });
      const reason = new Refusal('unavailable', 'The proxy is shutting down. Try again.');
      for (const abort of running) abort.abort(reason);
      await Promise.allSettled(open);
      server.closeAllConnections();
      await closed;
      upstream.close();
      await calls.close();
    },
  };
};

/**
 * Rejects requests from web pages: those of other origins, and those that reach loopback by a name that was rebound.
 *
 * @throws Refusal `forbidden`
 */
const checkOrigin = ({ headers }: IncomingMessage, listenHost: string): void => {
  if (headers.origin !== undefined) {
    throw new Refusal('forbidden', 'The proxy does not accept requests from web pages.');
  }
  if (!isLoopback(listenHost)) return;
  const host = (headers.host ?? '').replace(/:\d+$/, '');
  if (!isLoopback(host)) {
    throw new Refusal('forbidden', `The proxy listens on loopback and is not ${JSON.stringify(host)}. Use 127.0.0.1.`);
  }
};

/**
 * Closes an answer when its connection closes. Node.js does so only for the answer that it sends: one that a client has
 * requested on the same connection before the previous one ended would wait for its turn forever.
 *
 * @returns a function that stops watching the connection
 */
const closeWithConnection = ({ socket }: IncomingMessage, outgoing: ServerResponse): (() => void) => {
  const onClose = (): void => {
    if (outgoing.socket !== null || outgoing.writableFinished) return;
    outgoing.destroy();
    outgoing.emit('close');
  };
  // A client may send any number of requests at once.
  socket.setMaxListeners(0).once('close', onClose);
  return () => void socket.off('close', onClose);
};

const noWebSocket = 'The proxy does not accept WebSockets. Send the request by HTTP POST.';

const unmetered = (url: string): string =>
  `The proxy cannot measure what ${url.slice(0, 100)} costs. Set "unmetered: pass" to allow such requests.`;

const stored = (url: string): string =>
  `${url.slice(0, 100)} may reach what other clients have stored with the same key of the provider. ` +
  'Set "unmetered: pass" to allow such requests.';

const refuse = (incoming: IncomingMessage, outgoing: ServerResponse, provider: Provider, error: unknown): void => {
  if (outgoing.headersSent || outgoing.destroyed) {
    outgoing.destroy();
    return;
  }
  const refusal =
    error instanceof Refusal
      ? error
      : new Refusal('internal', `The proxy failed: ${error instanceof Error ? error.message : String(error)}`);
  // Node would parse the unread rest of the body as the next request.
  if (!incoming.complete) outgoing.shouldKeepAlive = false;
  outgoing.writeHead(refusal.status, [...refusal.headers()]);
  outgoing.end(refusal.body(provider));
};

const listen = (server: Server, { host, port }: ProxyConfig['listen']): Promise<void> =>
  new Promise((resolve, reject) => {
    const onError = (error: Error): void =>
      reject(new ConfigError(`${listenProblem(error, { host, port })} Change "listen", or pass --port.`));
    server.once('error', onError);
    server.listen(port, host.replace(/^\[|\]$/g, ''), () => {
      server.off('error', onError);
      resolve();
    });
  });
