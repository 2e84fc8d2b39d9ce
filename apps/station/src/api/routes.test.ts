import { beforeEach, describe, expect, it } from 'vitest';
import { eventsOf, eventually, testStation, usual, type TestStation } from '../../test/station.js';
import { artifactId } from '../service/session-id.js';
import { startWorkflows } from '../service/workflow-runs.js';
import { parseWorkflow } from '../workflows/parse-workflow.js';
import * as contract from './contract.js';
import { Metrics } from './metrics.js';
import { scopes } from './route.js';
import { createApp } from './server.js';

/** A value that no other text of the test contains. */
const mark = 'MARK7f3a';
const flow = `id: flow
name: Flow
states:
  - { name: ask, type: approval, message: 'Accept ${mark}?', transition: end }
`;

interface Operation {
  readonly method: string;
  /** As in the OpenAPI document, such as `/sessions/{id}`. */
  readonly path: string;
  readonly scope: string;
}

/** The routes of the OpenAPI document that the service sends. */
const operationsOf = async ({ app }: Pick<TestStation, 'app'>): Promise<readonly Operation[]> => {
  const response = await app.request('http://localhost/openapi.json', { headers: { host: 'localhost' } });
  const { paths } = (await response.json()) as {
    readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly description: string }>>>>;
  };
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { description }]) => ({
      method: method.toUpperCase(),
      path: path.replace('/api/v1', ''),
      scope: /`(\w+)`/.exec(description)?.[1] ?? '',
    })),
  );
};

/** A service whose tenant `acme` has one of everything. */
const openFilled = async () => {
  const given = await testStation();
  const { station, backend } = given;
  const workflows = await startWorkflows(station, [parseWorkflow(flow, 'flow.yaml', []).workflow], (problem) =>
    given.problems.push(problem),
  );
  const app = createApp({
    maxBodyBytes: usual.maxBodyBytes,
    station,
    workflows,
    metrics: new Metrics(),
    onProblem: (problem) => given.problems.push(problem),
  });
  const request = async (
    method: string,
    path: string,
    token: string | undefined,
    body?: unknown,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Response> =>
    app.request(`http://localhost/api/v1${path}`, {
      method,
      headers: { host: 'localhost', ...(token !== undefined && { authorization: `Bearer ${token}` }), ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  const own = await given.token();
  const message = { text: `deploy ${mark}` };
  const created = await request('POST', '/sessions', own, { agent: 'helper', title: mark, message });
  const session = contract.session.parse(await created.json()).id;
  const approval = await eventually(given, async () => (await station.approvals.list('acme'))[0]);
  const run = await workflows.start('acme', 'flow', {}, 'one');
  await eventually(given, async () => ((await station.approvals.list('acme')).length > 1 ? true : undefined));
  const stored = await backend.artifacts.put({ session, content: mark });
  /** What `{id}` is, by the first segment of the path. A route of another kind needs a sample here. */
  const ids: Readonly<Record<string, string>> = {
    sessions: session,
    approvals: approval.id,
    artifacts: artifactId(session, stored.id),
    runs: run.id,
    workflows: 'flow',
  };
  const address = (path: string): string => {
    const kind = path.split('/')[1] ?? '';
    if (path.includes('{id}') && ids[kind] === undefined) throw new Error(`The test has no sample for ${path}.`);
    return path.replace('{id}', encodeURIComponent(ids[kind] ?? ''));
  };
  /** The bodies of requests, by path. A new route that receives one needs a sample here. */
  const bodies: Readonly<Record<string, unknown>> = {
    '/sessions': { agent: 'helper', message: { text: 'echo hello' } },
    '/sessions/{id}/messages': { text: 'echo hello', mode: 'followup' },
    '/sessions/{id}/fork': {},
    '/sessions/{id}/cancel': {},
    '/approvals/{id}': { decision: 'once', hash: approval.call?.hash },
    '/approvals/{id}/link': undefined,
    '/workflows/{id}/runs': { input: {} },
    '/runs/{id}/cancel': undefined,
  };
  /** What a tenant has, apart from what changes with time. */
  const state = async (tenant: string): Promise<string> => {
    const kinds = ['session', 'approval', 'run', 'message', 'cancel', 'audit', 'link'] as const;
    const lists = kinds.map(async (kind) =>
      (await backend.records.list(kind, { tenant, limit: 1_000 })).map(({ id }) => id),
    );
    return JSON.stringify(await Promise.all(lists));
  };
  return { ...given, app, workflows, request, own, address, bodies, state, operations: await operationsOf({ app }) };
};

describe('each route of the OpenAPI document', () => {
  let given: Awaited<ReturnType<typeof openFilled>>;
  beforeEach(async () => {
    given = await openFilled();
    return () => given.workflows.close();
  });

  it('refuses requests without a token, and without its scope', async () => {
    const { operations, request, token } = given;
    expect(operations.length).toBeGreaterThan(20);
    for (const { method, path, scope } of operations) {
      const address = path.replace('{id}', 'some');
      expect([path, (await request(method, address, undefined)).status]).toEqual([path, 401]);
      const others = scopes.filter((other) => other !== scope && other !== 'admin');
      const limited = await request(method, address, await token('acme', others));
      expect([path, limited.status]).toEqual([path, 403]);
      expect(await limited.json()).toMatchObject({ code: 'missing-scope' });
    }
  });

  it('shows nothing of a tenant to another one, and changes nothing of it', async () => {
    const { operations, request, address, bodies, state, own } = given;
    const other = await given.token('rival', scopes, 'bob');
    const before = await state('acme');
    for (const { method, path } of operations) {
      if (method === 'GET' && path.includes('{id}') && !path.endsWith('/events')) {
        expect([path, (await request(method, address(path), own)).status]).toEqual([path, 200]);
      }
      const answered = await request(method, address(path), other, method === 'POST' ? bodies[path] : undefined);
      // Workflows belong to the service, their runs to a tenant.
      const isOwned = path.includes('{id}') && !path.startsWith('/workflows');
      expect([path, isOwned ? answered.status : answered.status < 300]).toEqual([path, isOwned ? 404 : true]);
      if (answered.headers.get('content-type')?.startsWith('text/event-stream') === true) {
        for await (const event of eventsOf(answered)) {
          expect(JSON.stringify(event)).not.toContain(mark);
          if (event.event === 'caught-up') break;
        }
      } else expect([path, await answered.text()]).toEqual([path, expect.not.stringContaining(mark)]);
    }
    expect(await state('acme')).toBe(before);
    expect((await given.station.approvals.list('acme')).map((approval) => approval.state)).toEqual(['open', 'open']);
  });

  it('performs a POST with an idempotency key once', async () => {
    const { operations, request, address, bodies, state, own } = given;
    const posts = operations.filter(({ method }) => method === 'POST').map(({ path }) => path);
    expect(posts.toSorted()).toEqual(Object.keys(bodies).toSorted());
    // A link and a decision need an open approval, which a cancelled turn withdraws.
    const ofApproval = ['/approvals/{id}/link', '/approvals/{id}'];
    const order = [...ofApproval, ...posts.filter((path) => !ofApproval.includes(path))];
    for (const path of order) {
      const send = (): Promise<Response> =>
        request('POST', address(path), own, bodies[path], {
          'idempotency-key': `key ${path}`.replaceAll(/[^\w/]/g, '-'),
        });
      const first = await send();
      expect([path, first.status < 300]).toEqual([path, true]);
      const before = await state('acme');
      const second = await send();
      expect([path, second.status]).toEqual([path, first.status]);
      if (path.endsWith('/link')) continue;
      expect([path, second.headers.get('idempotency-replayed')]).toEqual([path, 'true']);
      expect([path, await second.json()]).toEqual([path, await first.json()]);
      expect([path, await state('acme')]).toEqual([path, before]);
    }
  });

  it('is every route of the service, apart from those that other tests cover', () => {
    const documented = new Set(
      given.operations.map(({ method, path }) => `${method} /api/v1${path.replace('{id}', ':id')}`),
    );
    const all = new Set(given.app.routes.map(({ method, path }) => `${method} ${path}`));
    expect([...all].filter((route) => !documented.has(route) && !route.startsWith('ALL ')).toSorted()).toEqual([
      'GET /*',
      'GET /a/:token',
      'GET /healthz',
      'GET /metrics',
      'GET /openapi.json',
      'GET /readyz',
      'POST /a/:token',
      'POST /ag-ui/:agent',
      'POST /api/v1/triggers/:name',
    ]);
  });
});
