import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import fc from 'fast-check';
import { expect, it, onTestFinished } from 'vitest';
import { eventsIn, startStation } from '../bench/load.js';
import * as contract from '../src/api/contract.js';
import { ownDatabase } from './program.js';
import { testFolder } from './station.js';

const program = fileURLToPath(new URL('../dist/main.js', import.meta.url));
const sessionCount = Number(process.env['CHAOS_SESSIONS'] ?? 10);
const turnCount = Number(process.env['CHAOS_TURNS'] ?? 4);
const restartCount = Number(process.env['CHAOS_RESTARTS'] ?? 10);
const suspensionCount = Number(process.env['CHAOS_SUSPENSIONS'] ?? 3);

type Station = ReturnType<typeof startStation>;
interface Running {
  readonly station: Station;
  readonly url: string;
}
type Role = 'web' | 'worker';

interface Event {
  readonly id: number;
  readonly type: string;
  readonly outcome?: string | undefined;
  readonly reason?: string | undefined;
}

/** Events that a stream repeats after the end of its turn. Deltas are removed then. */
const lasts = ({ type }: { readonly type: string }): boolean => type !== 'model.delta' && type !== 'tool.progress';

/** Longer than the lease of a process, so that another one resumes its turns. */
const suspensionMs = 20_000;

type Step = { readonly role: Role; readonly index: number; readonly signal: NodeJS.Signals };

const kills = fc.record({
  role: fc.constantFrom<Role>('web', 'worker'),
  index: fc.nat({ max: 1 }),
  signal: fc.constantFrom<NodeJS.Signals>('SIGKILL', 'SIGTERM'),
});
const suspensions = fc.record({
  role: fc.constant<Role>('worker'),
  index: fc.nat({ max: 1 }),
  signal: fc.constant<NodeJS.Signals>('SIGSTOP'),
});
const plans: readonly [string, () => readonly Step[]][] = [
  ['web processes and workers are stopped and killed', () => fc.sample(kills, restartCount)],
  ['workers are suspended past their lease', () => fc.sample(suspensions, suspensionCount)],
];

it.each(plans)('loses and repeats nothing while %s', async (_, planOf) => {
  const data = await testFolder();
  const tenant = `tenant-${randomUUID()}`;
  const database = ['--data', data, '--database-url', await ownDatabase()];
  const args = [program, 'token', 'ann', '--tenant', tenant, ...database];
  const [token = ''] = /hst_\S+/.exec((await promisify(execFile)(process.execPath, args)).stdout) ?? [];
  const start = async (role: Role): Promise<Running> => {
    // Each web process replaces the printed token of its own tenant.
    const options = ['--demo', '--role', role, '--concurrency', '8', '--tenant', `${tenant}-${randomUUID()}`];
    const station = startStation([...database, ...options]);
    onTestFinished(() => station.stop('SIGKILL'));
    return { station, url: (await station.started).url };
  };
  const running: Record<Role, Running[]> = {
    web: await Promise.all([start('web'), start('web')]),
    worker: await Promise.all([start('worker'), start('worker')]),
  };
  const headers = { authorization: `Bearer ${token}` };
  let asked = 0;
  /** Asks one web process after the other until one answers; at most one is down. */
  const request = async (path: string, options: RequestInit = {}): Promise<Response> => {
    for (;;) {
      const web = running.web[(asked += 1) % 2];
      try {
        const given = { ...headers, ...(options.headers as Record<string, string> | undefined) };
        const response = await fetch(`${web?.url ?? ''}/api/v1${path}`, { ...options, headers: given });
        if (response.status < 500) return response;
        await response.body?.cancel();
      } catch {
        // The process was stopped.
      }
    }
  };
  const json = async (path: string, key?: string, body?: unknown): Promise<unknown> => {
    for (;;) {
      const post = { method: 'POST', headers: { 'idempotency-key': key ?? '' }, body: JSON.stringify(body) };
      const response = await request(path, key === undefined ? {} : post);
      if (response.status >= 300) throw new Error(`${path} answered ${response.status}: ${await response.text()}`);
      try {
        return await response.json();
      } catch {
        // The process was killed before it sent the whole answer. The request is repeated with its key.
      }
    }
  };
  /** Follows a session over all restarts, from the last event that it has. */
  const follow = async (session: string, turns: number) => {
    const found: Event[] = [];
    let ends = 0;
    while (ends < turns) {
      const last = String(found.at(-1)?.id ?? 0);
      const response = await request(`/sessions/${session}/events`, { headers: { 'last-event-id': last } });
      try {
        for await (const { id, event, data: text } of eventsIn(response)) {
          expect(event).not.toBe('reset');
          if (event !== 'turn') continue;
          const { type, outcome, reason } = JSON.parse(text) as Omit<Event, 'id'>;
          found.push({ id, type, outcome, reason });
          if (type === 'turn.end' && (ends += 1) === turns) break;
        }
      } catch (error) {
        if (error instanceof Error && error.name === 'AssertionError') throw error;
      }
    }
    return found;
  };

  const talk = async (index: number): Promise<void> => {
    const { id } = contract.session.parse(await json('/sessions', `new-${index}`, { agent: 'engineer' }));
    const following = follow(id, turnCount);
    for (let turn = 0; turn < turnCount; turn += 1) {
      const body = { text: `message ${index}-${turn}`, mode: 'followup' };
      await json(`/sessions/${id}/messages`, `${index}-${turn}`, body);
    }
    const events = await following;
    const ids = events.map((event) => event.id);
    expect(ids).toEqual([...new Set(ids)].toSorted((left, right) => left - right));
    const ends = events.filter(({ type }) => type === 'turn.end').map(({ outcome, reason }) => ({ outcome, reason }));
    expect(ends).toEqual(Array.from({ length: turnCount }, () => ({ outcome: 'completed', reason: undefined })));
    // What was read in parts is what a client reads at once.
    expect(events.filter(lasts)).toEqual((await follow(id, turnCount)).filter(lasts));
    const page = contract.entryPage.parse(await json(`/sessions/${id}/entries?limit=200`));
    const said = page.entries.filter(({ role }) => role === 'user').map(({ parts }) => JSON.stringify(parts));
    expect(said).toHaveLength(turnCount);
    expect(said.map((text) => /message [\d-]+/.exec(text)?.[0])).toEqual(
      Array.from({ length: turnCount }, (_, turn) => `message ${index}-${turn}`),
    );
  };

  const plan = planOf();
  const done = new AbortController();
  const restart = async (): Promise<void> => {
    for (const { role, index, signal } of plan) {
      if (done.signal.aborted) return;
      if (signal === 'SIGSTOP') {
        await running[role][index]?.station.suspend(suspensionMs);
        continue;
      }
      await running[role][index]?.station.stop(signal);
      running[role][index] = await start(role);
    }
  };
  const restarting = restart();
  try {
    await Promise.all(Array.from({ length: sessionCount }, (_, index) => talk(index)));
  } catch (error) {
    throw new Error(`The plan was ${JSON.stringify(plan)}.`, { cause: error });
  } finally {
    done.abort();
    await restarting;
  }
  // A process that was suspended ends like any other.
  const stations = [...running.worker, ...running.web].map(({ station }) => station);
  await Promise.all(stations.map(async (station) => station.stop('SIGTERM')));
  expect(await Promise.all(stations.map(({ ended }) => ended))).toEqual([0, 0, 0, 0]);
});
