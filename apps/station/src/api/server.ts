import { serve, type ServerType } from '@hono/node-server';
import { Hono, type Context } from 'hono';
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { packageVersion } from '@h/files';
import type * as z from 'zod';
import { listenProblem } from '@h/options';
import { UsageError } from '../arguments.js';
import { sha256, StationError } from '../service/session-id.js';
import type { Station } from '../service/station.js';
import type { Triggers } from '../triggers/triggers.js';
import { WebhookError } from '../triggers/webhook.js';
import { agUiInput, runAgUi } from './ag-ui.js';
import * as contract from './contract.js';
import { type Metrics } from './metrics.js';
import { openApiOf } from './openapi.js';
import { servePage } from './page-files.js';
import { jsonOf, textOf } from './request-body.js';
import type { Caller, Route, RouteRequest } from './route.js';
import { stationRoutes } from './routes.js';
import { callerOf, checkScope } from './tokens.js';
import type { WorkflowService } from './workflow-service.js';

/** Options of {@link startServer}. */
export interface ServerOptions {
  readonly station: Station;
  readonly metrics: Metrics;
  /** @defaultValue `'127.0.0.1'`: nothing but this machine */
  readonly host?: string | undefined;
  /** @defaultValue a free port */
  readonly port?: number | undefined;
  /** Names under which the service is reached, besides the loopback names and `host`. */
  readonly hosts?: readonly string[] | undefined;
  /** The address in approval links. @defaultValue the address of the request */
  readonly publicUrl?: string | undefined;
  /** Origins of other pages that may call the API. @defaultValue none */
  readonly origins?: readonly string[] | undefined;
  /** Size limit of a request in bytes. */
  readonly maxBodyBytes: number;
  readonly workflows?: WorkflowService | undefined;
  /** Accepts signed webhooks. @defaultValue none is known */
  readonly triggers?: Pick<Triggers, 'webhook'> | undefined;
  readonly onProblem: (error: unknown) => void;
}

export interface RunningServer {
  readonly url: string;
  close(): Promise<void>;
}

/** Size limit of the requests that have no token, in bytes: the decision of a link, and webhooks. */
const maxOpenBody = 1_000_000;
const version = packageVersion(import.meta.url);

/** Security headers of every response. */
const headers: Readonly<Record<string, string>> = {
  'content-security-policy':
    "default-src 'self'; img-src 'self' blob: data:; connect-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
};

/** Creates the application. It is reached by `startServer`, and in tests by `app.fetch`. */
export const createApp = (options: ServerOptions): Hono => {
  const { station, metrics, origins = [], maxBodyBytes, onProblem } = options;
  const { records } = station.backend;
  const app = new Hono();
  const isHost = hostCheck(options);
  const openLimit = Math.min(maxBodyBytes, maxOpenBody);
  app.use(async (context, next) => {
    const startedWith = context.req.header('host') ?? '';
    if (!isHost(startedWith)) throw new StationError(421, 'unknown-host', unknownHost(startedWith));
    const origin = context.req.header('origin');
    const isAllowed = origin !== undefined && origins.includes(origin);
    if (context.req.method === 'OPTIONS') {
      return isAllowed ? context.body(null, 204, preflight(origin)) : context.body(null, 403);
    }
    await next();
    // The response to HEAD is that to GET without its body, whose source must end.
    if (context.req.method === 'HEAD') await context.res.body?.cancel();
    for (const [name, value] of Object.entries(headers)) {
      if (!context.res.headers.has(name)) context.res.headers.set(name, value);
    }
    if (isAllowed) {
      context.res.headers.set('access-control-allow-origin', origin);
      context.res.headers.set('vary', 'origin');
    }
    return undefined;
  });
  app.onError((error, context) => {
    const failure = toProblem(error);
    if (failure.status >= 500) onProblem(error);
    for (const [name, value] of Object.entries(headers)) context.header(name, value);
    return context.json(failure.body, failure.status as 500);
  });
  app.notFound((context) => context.json(toProblem(notFound).body, 404));

  const routes = stationRoutes({ metrics, workflows: options.workflows });
  const document = openApiOf(routes, version);
  for (const route of routes) {
    app.on(route.method.toUpperCase(), `/api/v1${route.path}`, async (context) => {
      let status = 500;
      try {
        const response = await answer(route, context, { station, maxBodyBytes, publicUrl: options.publicUrl });
        ({ status } = response);
        return response;
      } catch (error) {
        ({ status } = toProblem(error));
        throw error;
      } finally {
        metrics.requests.inc({ method: route.method, route: route.path, status });
      }
    });
  }
  app.get('/openapi.json', (context) => context.json(document as object));
  app.get('/healthz', (context) => context.json({ status: 'ok' }));
  app.get('/readyz', async (context) => {
    try {
      await station.backend.check();
      return context.json({ status: 'ready' });
    } catch (error) {
      onProblem(error);
      return context.json({ status: 'not-ready' }, 503);
    }
  });
  app.get('/metrics', async (context) => {
    checkScope(await callerOf(records, context.req.header('authorization') ?? null), 'admin');
    const { text, contentType } = await metrics.page(station.activeTurns);
    return context.text(text, 200, { 'content-type': contentType });
  });
  app.post('/api/v1/triggers/:name', async (context) => {
    if (!options.triggers) throw notFound;
    const headers = {
      id: context.req.header('webhook-id'),
      timestamp: context.req.header('webhook-timestamp'),
      signature: context.req.header('webhook-signature'),
    };
    const body = await textOf(context.req.raw, openLimit);
    return context.json(await options.triggers.webhook(context.req.param('name'), { headers, body }), 202);
  });
  app.get('/a/:token', async (context) => {
    if (context.req.header('accept')?.includes('application/json') !== true) return servePage('/approve.html');
    return context.json(await station.approvals.linked(context.req.param('token')));
  });
  app.post('/a/:token', async (context) => {
    const body = parse(contract.approvalDecision, await jsonOf(context.req.raw, openLimit), 'body');
    const { tenant, approval, by } = await station.approvals.decideLinked(context.req.param('token'), body);
    await audit(station, { tenant, name: by }, 'approval.decide', approval.id, { decision: body.decision });
    return context.json(approval);
  });
  app.post('/ag-ui/:agent', async (context) => {
    const caller = await callerOf(records, context.req.header('authorization') ?? null);
    checkScope(caller, 'write');
    const input = parse(agUiInput, await jsonOf(context.req.raw, maxBodyBytes), 'body');
    return runAgUi({ station, metrics, caller, agent: context.req.param('agent'), input });
  });
  app.get('/*', async ({ req: { path } }) => {
    // A program that mistypes a route must not read the page as an answer.
    if (path.startsWith('/api/')) throw notFound;
    return servePage(path);
  });
  return app;
};

/** Starts the HTTP server. */
export const startServer = async (options: ServerOptions): Promise<RunningServer> => {
  const { host = '127.0.0.1', port = 0 } = options;
  const app = createApp(options);
  const server = await new Promise<ServerType>((resolve, reject) => {
    const started = serve({ fetch: app.fetch, hostname: host, port }, () => resolve(started));
    started.once('error', (error) =>
      reject(new UsageError(`${listenProblem(error, { host, port })} Choose another with --host or --port.`)),
    );
  });
  server.on('request', reportLeaving);
  const { port: actual } = server.address() as AddressInfo;
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${actual}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        // Open event streams end with the station; other connections are closed.
        if ('closeAllConnections' in server) server.closeAllConnections();
      }),
  };
};

/** Node reports the end of a connection to the response that it sends, and not to those of pipelined requests. */
const reportLeaving = ({ socket }: IncomingMessage, response: ServerResponse): void => {
  const onClose = (): void => {
    if (!response.closed) response.emit('close');
  };
  socket.setMaxListeners(0).once('close', onClose);
  response.once('close', () => socket.off('close', onClose));
};

interface AnswerOptions {
  readonly station: Station;
  readonly publicUrl: string | undefined;
  readonly maxBodyBytes: number;
}

/** Checks a request and answers it. A repeated one is answered from the records. */
const answer = async (
  route: Route,
  context: Context,
  { station, maxBodyBytes, publicUrl }: AnswerOptions,
): Promise<Response> => {
  const { records } = station.backend;
  const caller = await callerOf(records, context.req.header('authorization') ?? null);
  checkScope(caller, route.scope);
  const query = route.query ? parse(route.query, context.req.query(), 'query') : undefined;
  const given = route.method === 'post' ? await jsonOf(context.req.raw, maxBodyBytes) : undefined;
  const body = route.body ? parse(route.body, given ?? {}, 'body') : undefined;
  const key = route.method === 'post' ? keyOf(context.req.header('idempotency-key')) : undefined;
  const { path } = context.req;
  const seed =
    key === undefined || route.isSecret === true
      ? undefined
      : sha256(JSON.stringify([caller.tenant, caller.name, path, key]));
  const request = sha256(JSON.stringify(given ?? null));
  if (seed !== undefined) {
    const known = await reserve(station, { seed, tenant: caller.tenant, request });
    if (known) return respond(known.status, known.body, { 'idempotency-replayed': 'true' });
  }
  const params = context.req.param() as Readonly<Record<string, string>>;
  const origin = publicUrl?.replace(/\/+$/, '') ?? new URL(context.req.url).origin;
  const routed = { station, caller, params, query, body, raw: context.req.raw, origin, seed };
  const result = await route.handle(routed as unknown as RouteRequest<never, never>);
  if (route.audit !== undefined) {
    await audit(station, caller, route.audit, params['id'] ?? idIn(result), detailOf(body));
  }
  if (result instanceof Response) return result;
  if (seed !== undefined) {
    const body = { request, answer: { status: route.status, body: result ?? null } };
    await records.update('idempotency', seed, (current) => current && { ...current, body });
  }
  return respond(route.status, result);
};

/**
 * Binds an idempotency key to its first request, before that has an effect: what is created under the key is created
 * once, so a request with another body would be answered with the effect of the first one.
 *
 * @returns the stored answer; `undefined` if the request must be performed, also again after a crash
 * @throws StationError 422 if the key belongs to another request
 */
const reserve = async (
  { backend: { records }, now }: Station,
  { seed, tenant, request }: { readonly seed: string; readonly tenant: string; readonly request: string },
): Promise<{ readonly status: number; readonly body: unknown } | undefined> => {
  const body = { request, answer: null };
  if (await records.insert({ kind: 'idempotency', id: seed, tenant, at: now(), body })) return undefined;
  const known = (await records.get('idempotency', seed))?.body;
  if (known && known.request !== request) {
    throw new StationError(422, 'other-request', 'The idempotency key was used for another request. Use a new key.');
  }
  return known?.answer ?? undefined;
};

const respond = (status: number, body: unknown, more: Readonly<Record<string, string>> = {}): Response =>
  status === 204
    ? new Response(null, { status, headers: more })
    : new Response(JSON.stringify(body ?? null), {
        status,
        headers: { 'content-type': 'application/json', 'cache-control': 'no-store', ...more },
      });

const audit = async (
  { backend: { records }, now }: Station,
  { tenant, name }: Pick<Caller, 'tenant' | 'name'>,
  action: string,
  target: string,
  detail: z.infer<typeof contract.auditEntry>['detail'],
): Promise<void> => {
  const at = now();
  const body = { at, actor: name, action, target, detail };
  await records.insert({ kind: 'audit', id: randomUUID(), tenant, at, body });
};

const idIn = (result: unknown): string =>
  typeof result === 'object' && result !== null && 'id' in result && typeof result.id === 'string' ? result.id : '';

/** What the audit log contains of a request: its short members. Messages belong to the session. */
const detailOf = (body: unknown): Readonly<Record<string, string>> | null => {
  if (typeof body !== 'object' || body === null) return null;
  const short = Object.entries(body).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string' && entry[1].length <= 1_000,
  );
  return short.length === 0 ? null : Object.fromEntries(short);
};

/** @throws StationError 422 that names the field */
const parse = <Schema extends z.ZodType>(schema: Schema, value: unknown, place: string): z.output<Schema> => {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const field = issue?.path.join('.') ?? '';
  const name = field === '' ? place : field;
  throw new StationError(422, 'invalid-request', `${name}: ${issue?.message ?? 'is not valid'}.`, name);
};

const keyOf = (key: string | undefined): string | undefined => {
  if (key === undefined || /^[\x21-\x7e]{1,200}$/.test(key)) return key;
  throw new StationError(400, 'invalid-key', 'The idempotency key must have 1 to 200 printable ASCII characters.');
};

const toProblem = (error: unknown): { status: number; body: z.infer<typeof contract.problem> } => {
  if (error instanceof StationError) {
    const { status, code, message, field } = error;
    return { status, body: { code, message, field, isRetryable: status === 429 || status === 503 } };
  }
  if (error instanceof WebhookError) {
    const { code, message } = error;
    return { status: code === 'unknown-trigger' ? 404 : 401, body: { code, message, field: null, isRetryable: false } };
  }
  const isRetryable =
    typeof error === 'object' && error !== null && 'isRetryable' in error && error.isRetryable === true;
  const message = isRetryable
    ? 'The database is unavailable. Retry.'
    : 'The request has failed. See the log of the station.';
  return {
    status: isRetryable ? 503 : 500,
    body: { code: isRetryable ? 'unavailable' : 'internal', message, field: null, isRetryable },
  };
};

const notFound = new StationError(404, 'not-found', 'Nothing is available at this address.');

const preflight = (origin: string): Record<string, string> => ({
  'access-control-allow-origin': origin,
  'access-control-allow-methods': 'GET, POST, DELETE',
  'access-control-allow-headers': 'authorization, content-type, idempotency-key, last-event-id',
  'access-control-max-age': '600',
  vary: 'origin',
});

const loopback = ['localhost', '127.0.0.1', '[::1]'];

/** A page of another site that resolves its name to this machine sends its own name: such requests are refused. */
const hostCheck = ({ host = '127.0.0.1', hosts = [] }: ServerOptions): ((header: string) => boolean) => {
  const known = new Set([...loopback, host.toLowerCase(), ...hosts.map((name) => name.toLowerCase())]);
  return (header) => known.has(header.toLowerCase().replace(/:\d{1,5}$/, ''));
};

const unknownHost = (host: string): string =>
  `The station is not known under the host name ${JSON.stringify(host.slice(0, 100))}. Start it with --allow-host.`;
