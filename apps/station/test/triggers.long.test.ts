import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { connectPostgres } from '@h/postgres';
import { expect, it, onTestFinished } from 'vitest';
import * as z from 'zod';
import { startStation } from '../bench/load.js';
import * as contract from '../src/api/contract.js';
import { createToken } from '../src/api/tokens.js';
import { openPostgresRecords } from '../src/service/postgres-records.js';
import type { Records } from '../src/service/records.js';
import { signatureOf } from '../src/triggers/webhook.js';
import { startModelServer } from './model-server.js';
import { ownDatabase } from './program.js';
import { testFolder } from './station.js';

const kills = 4;
/** Ticks of the heartbeat between two kills. */
const ticksPerRound = 3;
const beatMs = 3_000;
const secret = 'whsec_c2VjcmV0';

const config = (modelUrl: string): object => ({
  models: { default: 'acme/large', providers: { acme: { base_url: `${modelUrl}/v1` } } },
  triggers: {
    beat: { type: 'heartbeat', every: `${beatMs}ms`, agent: 'helper', input: 'Beat {{at}}.' },
    tick: { type: 'cron', schedule: '*/2 * * * * *', workflow: 'flow', input: 'Tick {{at}}.' },
    hook: {
      type: 'webhook',
      secret_env: 'STATION_TEST_HOOK',
      agent: 'helper',
      input: 'Got {{body.n}}.',
      session: 'hooks',
    },
    word: { type: 'message', contains: 'deploy', agent: 'helper', input: 'Asked: {{text}}', session: 'asked' },
  },
});
const flow = `id: flow
name: Flow
states:
  - { name: only, type: agent, agent: helper, input: '{{input.text}}', transition: end }
`;

/** What users of a session said. */
const saidIn = ({ entries }: z.infer<typeof contract.entryPage>): readonly string[] =>
  entries.flatMap(({ role, parts }) =>
    role === 'user' ? parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])) : [],
  );

/** The times of the ticks of a trigger, apart from the first, which marks the beginning. */
const timesOf = async (records: Records, trigger: string): Promise<readonly number[]> =>
  (await records.list('tick', { tenant: trigger, limit: 1_000 }))
    .map(({ at }) => at)
    .toReversed()
    .slice(1);

it('has each effect once over two processes with PostgreSQL that are killed in turn', async () => {
  const folder = await testFolder();
  const model = await startModelServer(() => 'Done.');
  await mkdir(join(folder, 'agents'));
  await mkdir(join(folder, 'workflows'));
  await writeFile(join(folder, 'agents/helper.md'), '---\ntools: [read]\n---\nYou help.\n');
  await writeFile(join(folder, 'workflows/flow.yaml'), flow);
  await writeFile(join(folder, 'config.yaml'), JSON.stringify(config(model.url)));
  const databaseUrl = await ownDatabase();
  process.env['STATION_TEST_HOOK'] = secret;
  onTestFinished(() => void delete process.env['STATION_TEST_HOOK']);
  const database = connectPostgres({ connectionString: databaseUrl });
  onTestFinished(() => database.close());
  const start = async () => {
    const files = ['--config', join(folder, 'config.yaml'), '--data', join(folder, 'data')];
    const station = startStation([...files, '--database-url', databaseUrl, '--concurrency', '8']);
    onTestFinished(() => station.stop('SIGKILL'));
    return { station, url: (await station.started).url };
  };
  const running = await Promise.all([start(), start()]);
  const records = await openPostgresRecords(database);
  onTestFinished(() => records.close());
  const token = await createToken(records, { name: 'ann', tenant: 'default', scopes: ['read', 'write'] });

  /** Sends a request to a process, and to the other one if it does not answer. */
  const request = async (index: number, path: string, options: RequestInit = {}): Promise<unknown> => {
    for (let attempt = index; ; attempt += 1) {
      const headers = { authorization: `Bearer ${token}`, ...(options.headers as Record<string, string> | undefined) };
      const url = `${running[attempt % 2]?.url ?? ''}/api/v1${path}`;
      const response = await fetch(url, { ...options, headers }).catch(() => undefined);
      if (response === undefined || response.status >= 500) continue;
      expect([path, response.status < 300]).toEqual([path, true]);
      return response.json();
    }
  };
  const post = (index: number, path: string, body: string, headers: Readonly<Record<string, string>>) =>
    request(index, path, { method: 'POST', body, headers });
  const deliver = (index: number, n: number): Promise<unknown> => {
    const body = JSON.stringify({ n });
    const [id, timestamp] = [`delivery-${n}`, String(Math.floor(Date.now() / 1_000))];
    const signature = signatureOf(body, { id, timestamp }, secret);
    return post(index, '/triggers/hook', body, {
      'webhook-id': id,
      'webhook-timestamp': timestamp,
      'webhook-signature': signature,
    });
  };

  const session = contract.session.parse(
    await post(0, '/sessions', '{"agent":"helper"}', { 'idempotency-key': 'new' }),
  );
  for (let round = 0; round < kills; round += 1) {
    const before = (await timesOf(records, 'beat')).length;
    // The process is killed while it may have claimed what it was sent, and both receive everything.
    const text = JSON.stringify({ text: `Please deploy ${round}.`, mode: 'followup' });
    const sending = [0, 1].flatMap((index) => [
      deliver(index, round),
      post(index, `/sessions/${session.id}/messages`, text, { 'idempotency-key': `message-${round}` }),
    ]);
    const killed = running[round % 2];
    if (round > 0) await sending[0];
    await killed?.station.stop('SIGKILL');
    running[round % 2] = await start();
    await Promise.all(sending);
    await expect
      .poll(async () => (await timesOf(records, 'beat')).length, { timeout: 120_000 })
      .toBeGreaterThanOrEqual(before + ticksPerRound);
  }

  const beats = await timesOf(records, 'beat');
  const ticks = await timesOf(records, 'tick');
  const last = Math.min(beats.at(-1) ?? 0, ticks.at(-1) ?? 0);
  const until = <Value>(times: readonly Value[]): readonly Value[] => times.filter((at) => Number(at) <= last);
  // One of the processes was alive at each tick.
  expect(beats).toEqual(beats.map((_, index) => (beats[0] ?? 0) + index * beatMs));
  await expect
    .poll(
      async () => {
        const all = await Promise.all(
          ['beat', 'tick', 'hook', 'word'].map((tenant) => records.list('tick', { tenant, limit: 1_000 })),
        );
        return all.flat().filter(({ body }) => !body.isDone && body.at <= Math.max(last, Date.now() - 60_000));
      },
      { timeout: 120_000 },
    )
    .toEqual([]);

  const ended = async (): Promise<readonly contract.StationSession[]> => {
    const { sessions } = contract.sessionPage.parse(await request(0, '/sessions?limit=200'));
    return sessions;
  };
  const titles = until(beats).map((at) => `beat ${new Date(at).toISOString()}`);
  await expect
    .poll(
      async () =>
        (await ended()).filter(({ title, outcome }) => titles.includes(title) && outcome === 'completed').length,
      {
        timeout: 120_000,
      },
    )
    .toBe(titles.length);
  const entriesOf = async (id: string) =>
    contract.entryPage.parse(await request(1, `/sessions/${id}/entries?limit=200`));
  for (const { id, title } of (await ended()).filter((one) => titles.includes(one.title))) {
    expect(saidIn(await entriesOf(id))).toEqual([`Beat ${title.slice('beat '.length)}.`]);
  }
  const runs = async () => z.array(contract.workflowRun).parse(await request(0, '/workflows/flow/runs'));
  const inTime = async () => (await runs()).filter(({ startedAt }) => startedAt <= last + 1_000);
  await expect
    .poll(async () => (await inTime()).every(({ state }) => state === 'completed'), { timeout: 120_000 })
    .toBe(true);
  const inputs: string[] = [];
  for (const { steps } of await runs()) {
    for (const step of steps) if (step.session !== null) inputs.push(...saidIn(await entriesOf(step.session)));
  }
  const asked = until(ticks).map((at) => `Tick ${new Date(at).toISOString()}.`);
  expect(asked.map((text) => [text, inputs.filter((input) => input === text).length])).toEqual(
    asked.map((text) => [text, 1]),
  );

  const rounds = Array.from({ length: kills }, (_, round) => round);
  const sessionNamed = async (name: string) => (await ended()).find(({ title }) => title === name)?.id ?? '';
  const saidTo = async (name: string) => [...saidIn(await entriesOf(await sessionNamed(name)))].toSorted();
  // Each message is a turn of its session, which may still wait for its worker.
  await expect.poll(async () => saidTo('hooks'), { timeout: 120_000 }).toEqual(rounds.map((n) => `Got ${n}.`));
  await expect
    .poll(async () => saidTo('asked'), { timeout: 120_000 })
    .toEqual(rounds.map((n) => `Asked: Please deploy ${n}.`));
});
