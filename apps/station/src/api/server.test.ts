import { connect } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import * as z from 'zod';
import * as contract from './contract.js';
import type { StationSession } from './contract.js';
import { Metrics } from './metrics.js';
import { startServer } from './server.js';
import { revokeTokens } from './tokens.js';
import {
  eventsOf,
  eventually,
  testFolder,
  testStation,
  type StreamEvent,
  type TestStation,
  usual,
} from '../../test/station.js';
import { embeddedBackend } from '../service/embedded.js';
import type { SessionBody } from '../service/records.js';

const create = async (given: TestStation, text: string): Promise<StationSession> => {
  const { status, body } = await given.call('POST', '/api/v1/sessions', {
    schema: contract.session,
    body: { agent: 'helper', message: { text } },
  });
  expect(status).toBe(201);
  return body;
};

const textsOf = ({ content }: { readonly content: contract.StationEntry['parts'] }): contract.StationEntry['parts'] =>
  content;

const ended = (given: TestStation, id: string, turns = 1): Promise<StationSession> =>
  eventually(given, async () => {
    const found = (await given.backend.records.get('session', id))?.body;
    return found && found.turns >= turns && found.turn === null && found.state !== 'queued' ? found : undefined;
  });

it('counts a request whose client leaves within the body as a bad request, and reports no problem', async () => {
  const given = await testStation();
  const body = new ReadableStream({
    start: (controller) => {
      controller.enqueue(new TextEncoder().encode('{"agent":"hel'));
      controller.error(new Error('aborted'));
    },
  });
  const headers = { host: 'localhost', authorization: `Bearer ${await given.token()}` };
  const init = { method: 'POST', body, headers, duplex: 'half' } as RequestInit;
  const response = await given.app.request('http://localhost/api/v1/sessions', init);
  expect([response.status, await response.json()]).toEqual([400, expect.objectContaining({ code: 'incomplete-body' })]);
  expect(given.problems).toEqual([]);
});

describe('sessions', () => {
  it('runs a message to its end and returns the conversation', async () => {
    const given = await testStation();
    const { id } = await create(given, 'echo hello');
    const session = await ended(given, id);
    expect(session).toMatchObject({ title: 'echo hello', outcome: 'completed', state: 'idle', messages: 2 });
    const { body } = await given.call('GET', `/api/v1/sessions/${id}/entries`);
    expect(body).toMatchObject({
      total: 2,
      entries: [
        { role: 'user', parts: [{ type: 'text', text: 'echo hello' }] },
        { role: 'assistant', parts: [{ type: 'text', text: 'echo hello' }] },
      ],
    });
    expect(given.problems).toEqual([]);
  });

  it('streams all events of a session once, over reconnections', async () => {
    const given = await testStation();
    const { id } = await create(given, 'wait');
    const read = async (after: number, until: (event: StreamEvent) => boolean): Promise<StreamEvent[]> => {
      const { response } = await given.call('GET', `/api/v1/sessions/${id}/events`, {
        headers: { 'last-event-id': String(after) },
      });
      const found: StreamEvent[] = [];
      for await (const event of eventsOf(response)) {
        found.push(event);
        if (until(event)) break;
      }
      return found;
    };
    const first = await read(0, ({ data }) => data['type'] === 'model.delta');
    given.agent.release();
    const last = first.at(-1)?.id ?? 0;
    const second = await read(last, ({ data }) => data['type'] === 'turn.end');
    const ids = [...first, ...second].flatMap((event) => event.id ?? []);
    expect(ids).toEqual([...new Set(ids)].toSorted((left, right) => left - right));
    const types = [...first, ...second].flatMap(({ event, data }) => (event === 'turn' ? [data['type']] : []));
    expect(types).toContain('turn.start');
    expect(types).toContain('model.response');
    expect(types.at(-1)).toBe('turn.end');
  });

  it('continues a page with the events it lacks, before the turn has its number', async () => {
    const backend = await embeddedBackend({ ...usual, directory: await testFolder(), onProblem: () => undefined });
    const { records, events } = backend;
    const update = records.update.bind(records);
    let number: Promise<void> | undefined;
    const held: typeof update = async (kind, id, change) => {
      const current = await records.get(kind, id);
      const next = change(current);
      const [before, after] = [current?.body, next?.body] as (Partial<SessionBody> | undefined)[];
      if (kind === 'session' && before?.lastTurn !== after?.lastTurn) await number;
      return update(kind, id, change);
    };
    const given = await testStation({ backend: Object.assign(records, { update: held }) && backend });
    const { id } = await create(given, 'echo 0');
    await ended(given, id);
    for (let round = 1; round <= 2; round += 1) {
      let release = (): void => undefined;
      number = new Promise((resolve) => (release = resolve));
      await given.call('POST', `/api/v1/sessions/${id}/messages`, { body: { text: `echo ${round}` } });
      const turn = await eventually(given, async () => (await records.get('session', id))?.body.turn ?? undefined);
      for await (const item of events.read(turn)) {
        if (item.type === 'event' && (item.event as { readonly type: string }).type === 'history.append') break;
      }
      const { body: page } = await given.call('GET', `/api/v1/sessions/${id}/entries`, { schema: contract.entryPage });
      const texts = page.entries.flatMap(({ role, parts }) => (role === 'user' ? parts : []));
      const { response } = await given.call('GET', `/api/v1/sessions/${id}/events?after=${page.seq}`);
      release();
      for await (const { data } of eventsOf(response)) {
        if (data['type'] === 'history.append' && data['origin'] === 'input') {
          texts.push(...(data['messages'] as readonly { readonly content: typeof texts }[]).flatMap(textsOf));
        }
        if (data['type'] === 'turn.end') break;
      }
      expect(texts.map((part) => 'text' in part && part.text)).toEqual(
        Array.from({ length: round + 1 }, (_, index) => `echo ${index}`),
      );
      await ended(given, id, round + 1);
    }
  });

  it('ends the streams of a token that is revoked, and no others', async () => {
    const given = await testStation();
    const [revoked, other] = [await given.token('acme', ['read'], 'bob'), await given.token('acme', ['read'], 'eve')];
    const open = async (token: string) => {
      const { response } = await given.call('GET', '/api/v1/events', { token });
      const events = eventsOf(response);
      let found = await events.next();
      while (found.done !== true && found.value.event !== 'caught-up') found = await events.next();
      return events;
    };
    const [ends, continues] = [await open(revoked), await open(other)];
    await revokeTokens(given.backend.records, 'acme', 'bob');
    await create(given, 'echo hello');
    expect(await ends.next()).toMatchObject({ done: true });
    expect(await continues.next()).toMatchObject({ value: { event: 'session' } });
    await continues.return(undefined);
  });

  it.each(['/api/v1/events', '/api/v1/sessions/ID/events'])('leaves no stream open after HEAD %s', async (path) => {
    const metrics = new Metrics();
    const given = await testStation({ metrics });
    const { id } = await create(given, 'echo hello');
    const { response } = await given.call('HEAD', path.replace('ID', id));
    expect([response.status, response.body, metrics.openStreams]).toEqual([200, null, 0]);
  });

  it('ends the streams of pipelined requests when their client leaves', async () => {
    const metrics = new Metrics();
    const given = await testStation();
    const { station } = given;
    const server = await startServer({
      ...usual,
      port: 0,
      station,
      metrics,
      onProblem: (problem) => given.problems.push(problem),
    });
    onTestFinished(() => server.close());
    const request = `GET /api/v1/events HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${await given.token()}\r\n\r\n`;
    const socket = connect(Number(new URL(server.url).port), '127.0.0.1');
    socket.write(request.repeat(20));
    await expect.poll(() => metrics.openStreams).toBe(20);
    socket.destroy();
    await expect.poll(() => metrics.openStreams).toBe(0);
    expect(given.problems).toEqual([]);
  });

  it('asks for approval, and runs the call that was approved', async () => {
    const given = await testStation();
    const { id } = await create(given, 'deploy staging');
    const [approval] = await eventually(given, async () => {
      const { body } = await given.call('GET', '/api/v1/approvals', { schema: z.array(contract.approval) });
      return body.length > 0 ? body : undefined;
    });
    expect(approval).toMatchObject({
      state: 'open',
      reason: 'It deploys.',
      call: { name: 'deploy', input: { to: 'staging' } },
    });
    const path = `/api/v1/approvals/${approval?.id ?? ''}`;
    const wrong = await given.call('POST', path, { body: { decision: 'once', hash: 'other' } });
    expect(wrong).toMatchObject({ status: 409, body: { code: 'other-call', field: 'hash' } });
    const right = await given.call('POST', path, { body: { decision: 'once', hash: approval?.call?.hash } });
    expect(right).toMatchObject({ status: 200, body: { state: 'approved', decidedBy: 'ann' } });
    await ended(given, id);
    const { body } = await given.call('GET', `/api/v1/sessions/${id}/entries`);
    expect(JSON.stringify(body)).toContain('deployed to staging');
    const again = await given.call('POST', path, { body: { decision: 'deny', hash: approval?.call?.hash } });
    expect(again).toMatchObject({ status: 409, body: { code: 'approval-closed' } });
    const audit = await given.call('GET', '/api/v1/audit');
    expect(audit.body).toContainEqual(
      expect.objectContaining({ actor: 'ann', action: 'approval.decide', target: approval?.id }),
    );
  });
});
