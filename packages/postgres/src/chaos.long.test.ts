import { fork, type ChildProcess } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { Pool } from 'pg';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startServer, type TestServer } from '../test/embedded-server.js';
import { connectPostgres, liveEvents, postgresSessions, type Postgres } from './index.js';
import type { Message, TurnEvent } from '@h/turn';
import { postgresApprovalRequests } from './approvals.js';
import { postgresBudget } from './budget.js';
import { postgresInbox } from './queue/index.js';

const numberOf = (name: string, otherwise: number): number => Number(process.env[name] ?? otherwise);

const seeds = Array.from({ length: numberOf('CHAOS_RUNS', 1) }, (_, index) => numberOf('CHAOS_SEED', 1) + index);
const sessionCount = numberOf('CHAOS_SESSIONS', 40);
const turnsPerSession = numberOf('CHAOS_TURNS', 5);
const workerCount = 4;
const concurrency = 6;
const leaseMs = numberOf('CHAOS_LEASE_MS', 5_000);

/** A generator of numbers from 0 to 1. */
const randomOf = (seed: number): (() => number) => {
  let state = seed * 2_654_435_761;
  return () => {
    state = (Math.imul(state ^ (state >>> 15), 2_246_822_519) + 374_761_393) | 0;
    return (state >>> 0) / 2 ** 32;
  };
};

const linesOf = async (path: string): Promise<readonly string[]> => {
  const text = await readFile(path, 'utf8').catch(() => '');
  return text.split('\n').filter((line) => line !== '');
};

/** Starts a server and workers, which end with the test. */
const prepare = async (workers: number) => {
  const server = await startServer();
  const folder = await mkdtemp(join(tmpdir(), 'h-chaos-'));
  const schema = 'chaos';
  const database = connectPostgres({ connectionString: server.url, schema, retryMs: 60_000 });
  const bundle = join(folder, 'worker.cjs');
  const cluster = new Cluster(bundle, [server.url, schema, folder, `${concurrency}`, `${leaseMs}`], folder);
  onTestFinished(async () => {
    await cluster.stop();
    await database.close();
    await server.stop();
    if (process.env['CHAOS_KEEP'] === undefined) await rm(folder, { recursive: true, force: true });
  });
  await build({
    entryPoints: [fileURLToPath(new URL('../test/chaos-worker.ts', import.meta.url))],
    outfile: bundle,
    bundle: true,
    platform: 'node',
    format: 'cjs',
    conditions: ['@h/source'],
    external: ['pg-native'],
    logLevel: 'silent',
  });
  await database.ready();
  cluster.fill(workers);
  return { server, folder, database, cluster };
};

describe('workers that are killed, suspended and cut off', () => {
  it('take messages again after they were suspended past their lease and lost their inbox', async () => {
    const { database, cluster } = await prepare(1);
    const inbox = postgresInbox(database);
    const deliver = async (session: string): Promise<void> => {
      await inbox.submit(session, `${session}/0`);
      const roles = async () => (await postgresSessions(database).messages(session)).map(({ role }) => role);
      await expect.poll(roles, { timeout: 60_000 }).toEqual(['user', 'assistant', 'tool', 'assistant']);
    };
    await deliver('s0');
    cluster.signal('SIGSTOP');
    const living = () =>
      database.query(`select 1 from ${database.name('process')} where lease_until > clock_timestamp()`);
    await expect.poll(living, { timeout: 60_000 }).toEqual([]);
    // This process has the inbox from here on; it takes no message.
    const next = postgresInbox(database);
    await next.open();
    await next.close();
    cluster.signal('SIGCONT');
    await deliver('s1');
    await cluster.drain();
  });

  it.each(seeds)('lose no turn and repeat none (seed %i)', async (seed) => {
    const { server, folder, database, cluster } = await prepare(workerCount);
    const inbox = postgresInbox(database);
    const names = Array.from({ length: sessionCount }, (_, index) => `s${index}`);
    for (let turn = 0; turn < turnsPerSession; turn += 1) {
      await Promise.all(names.map((session) => inbox.submit(session, `${session}/${turn}`, { id: `${turn}` })));
    }
    const began = performance.now();
    const watch = watchCap(database);
    const visitor = visit(database, names, randomOf(seed + 1_000));
    const total = names.length * (turnsPerSession + 1);
    const tormented = torment(cluster, server, database, randomOf(seed), total);
    await tormented.catch(() => undefined);
    const violations = await watch.end();
    const answered = await visitor.end();
    const counts = await tormented;
    const seconds = ((performance.now() - began) / 1000).toFixed(1);
    const sessions = postgresSessions(database);
    // `unfinished()` leaves out the turns of a worker that was suspended or killed a moment ago.
    const open = async () => [
      ...(await database.query(`select key from ${database.name('turn')} where outcome is null`)),
      ...((await liveEvents(database).unended?.()) ?? []),
    ];
    await expect.poll(open, { timeout: 60_000 }).toEqual([]);
    await cluster.drain();

    const problems: string[] = [...violations];
    const writes = new Map<string, number>();
    for (const line of await linesOf(join(folder, 'writes.log'))) writes.set(line, (writes.get(line) ?? 0) + 1);
    for (const [text, count] of writes) if (count > 1) problems.push(`${text} was written ${count} times`);
    let [interrupted, steps, missing, children] = [0, 0, 0, 0];
    const applied = new Map<string, string>();
    /** Requests whose calls did not run, because a message came first; an answer may come too late for them. */
    const skipped = new Set<string>();
    for (const session of names) {
      const found = historyOf(await sessions.messages(session));
      steps += found.steps;
      children += found.delivered.length;
      problems.push(...found.problems.map((problem) => `${session}: ${problem}`));
      const expected = Array.from({ length: turnsPerSession }, (_, turn) => `${session}/${turn}`);
      if (found.inputs.join() !== expected.join()) problems.push(`${session} has the inputs ${found.inputs.join()}`);
      if (found.steered.length !== 1) problems.push(`${session} has the messages ${found.steered.join()}`);
      for await (const { turn, outcome, messages: added } of sessions.archive(session)) {
        if (outcome !== 'completed') problems.push(`turn ${turn} of ${session} ended as ${outcome}`);
        const isInterrupted = JSON.stringify(added).includes('Interrupted: the process ended');
        if (isInterrupted) interrupted += 1;
        const seen = await streamOf(database, turn);
        const latest = seen.types.slice(-20).join(' ');
        if (!seen.isWhole) problems.push(`the stream of ${turn} (${session}) ends with ${latest}`);
        const approvals = approvalsIn((await sessions.journal(turn)).map(({ event }) => event));
        for (const { id, decisions, status } of approvals) {
          const [decision] = decisions;
          if (status === 'skipped') skipped.add(id);
          if (decision === undefined) continue;
          if (decisions.length > 1) problems.push(`${id} was answered twice`);
          applied.set(id, decision);
          if (decision === 'deny' && ran.has(status)) problems.push(`${id} was denied, and its call is ${status}`);
        }
        const text = added
          .flatMap((message) => (message.role === 'user' ? [textOf(message.content)] : []))
          .find(isInput);
        const number = Number(text?.split('/')[1]) % 5;
        if (text === undefined || number === 2) continue;
        const isApproved = approvals.some(({ decisions, status }) => decisions[0] === 'once' && status !== 'skipped');
        const isAllowed = number !== 1 || isApproved;
        if (writes.has(text) && !isAllowed) problems.push(`${text} was written without an approval`);
        if (!isAllowed || writes.has(text)) continue;
        missing += 1;
        if (!isInterrupted) problems.push(`${text} was not written`);
      }
    }
    for (const [id, decision] of answered) {
      if (applied.get(id) === decision || (!applied.has(id) && skipped.has(id))) continue;
      problems.push(`${id}: ${decision} was answered, ${applied.get(id)} applied`);
    }
    for (const id of applied.keys()) if (!answered.has(id)) problems.push(`${id} was applied, but not answered`);
    const budget = postgresBudget(database, { name: 'chaos', limits: { modelCalls: 1_000_000 } });
    await (await budget.reserve({ modelCalls: 1 })).settle();
    const { used, reserved } = await budget.state();
    const calls = (await linesOf(join(folder, 'calls.log'))).length;
    if (reserved.modelCalls !== 0) problems.push(`${reserved.modelCalls} model calls stay reserved`);
    if ((used.modelCalls ?? 0) < calls) problems.push(`${used.modelCalls} of ${calls} model calls were counted`);
    const disks = await linesOf(join(folder, 'artifacts.log'));
    const full = disks.filter((disk) => disk === 'ENOSPC').length;
    if (full === 0) problems.push(`No result was lost to a full disk; ${disks.length} were stored`);
    console.log(
      JSON.stringify({
        seed,
        seconds,
        ...counts,
        interrupted,
        missing,
        children,
        approvals: applied.size,
        full,
        steps,
        calls,
        used: used.modelCalls,
      }),
    );
    failOn(problems);
  });
});

/** Throws an error whose first line names the first problems: a summary of a run shows no more of a failure. */
const failOn = (problems: readonly string[]): void => {
  const [first, second, third] = problems;
  if (first === undefined) return;
  const shown = [first, second, third].flatMap((problem) => (problem === undefined ? [] : [problem.slice(0, 300)]));
  throw new Error(`${problems.length} problems: ${shown.join('; ')}`);
};

const isInput = (text: string): boolean => /^s\d+\/\d+$/u.test(text);

/** What a history contains: inputs and messages that steered in order, and the results of sub-agents. */
const historyOf = (messages: readonly Message[]) => {
  const [inputs, steered, delivered, problems]: [string[], string[], unknown[], string[]] = [[], [], [], []];
  const accepted: string[] = [];
  let steps = 0;
  for (const { role, content, metadata } of messages) {
    const children = metadata?.['subagents'];
    if (role === 'assistant') steps += 1;
    else if (role === 'tool') {
      const [, child] = /child[\\":]+([0-9a-f-]{36})/u.exec(JSON.stringify(content)) ?? [];
      if (child !== undefined) accepted.push(child);
    } else if (Array.isArray(children)) delivered.push(...(children as readonly unknown[]));
    else if (role === 'user' && isInput(textOf(content))) inputs.push(textOf(content));
    else if (role === 'user') steered.push(textOf(content));
  }
  if (new Set(delivered).size !== delivered.length) problems.push(`the sub-agents ${delivered.join()} were delivered`);
  const lost = accepted.filter((child) => !delivered.includes(child));
  if (lost.length > 0) problems.push(`the sub-agents ${lost.join()} were not delivered`);
  return { inputs, steered, delivered, problems, steps };
};

/** The statuses of calls that may have run. */
const ran: ReadonlySet<string | undefined> = new Set(['ok', 'stored', 'failed', 'timed-out', 'interrupted']);

/** The requests for an approval in a journal, each with its answers and the status of its call. A resumed turn asks again. */
const approvalsIn = (events: readonly TurnEvent[]) => {
  const calls = new Map<string, string | undefined>();
  const answers = new Map<string, string[]>();
  const statuses = new Map<string | undefined, string>();
  for (const event of events) {
    if (event.type === 'approval.request') calls.set(event.id, event.call?.id);
    if (event.type === 'approval.answer') answers.set(event.id, [...(answers.get(event.id) ?? []), event.decision]);
    if (event.type === 'tool.result') statuses.set(event.call.id, event.status);
  }
  return Array.from(calls, ([id, call]) => ({ id, decisions: answers.get(id) ?? [], status: statuses.get(call) }));
};

/** Steers each session once, and answers approvals as two people do who click at the same time. */
const visit = (database: Postgres, names: readonly string[], random: () => number) => {
  const inbox = postgresInbox(database);
  const approvals = postgresApprovalRequests(database);
  const answered = new Map<string, string>();
  const problems: string[] = [];
  const rest = [...names];
  const visited = { isOver: false };
  const look = async (): Promise<void> => {
    while (!visited.isOver) {
      const [session] = rest.splice(Math.floor(random() * rest.length), 1);
      if (session !== undefined) await inbox.submit(session, 'Be quick.', { id: 'steer', mode: 'steer' });
      for (const { id } of await approvals.pending()) {
        const decisions = random() < 0.3 ? (['deny', 'once'] as const) : (['once', 'deny'] as const);
        const first = await Promise.all(decisions.map((decision) => approvals.answer(id, decision)));
        for (const [index, isFirst] of first.entries()) {
          if (isFirst && answered.has(id)) problems.push(id);
          if (isFirst) answered.set(id, decisions[index] ?? '');
        }
      }
      await delay(50 + random() * 200);
    }
  };
  const looking = look();
  // Observed by end().
  looking.catch(() => undefined);
  return {
    end: async (): Promise<ReadonlyMap<string, string>> => {
      visited.isOver = true;
      await looking;
      failOn(problems.map((id) => `${id} had two first answers`));
      return answered;
    },
  };
};

const textOf = (content: unknown): string => {
  if (typeof content === 'string') return content;
  return (content as readonly { readonly text?: string }[]).map(({ text = '' }) => text).join('');
};

/** Reads a stream to its end. It is whole if it has each event once, and one result for each call. */
const streamOf = async (database: Postgres, turn: string) => {
  const abort = new AbortController();
  const types: string[] = [];
  const calls = new Map<string, { calls: number; results: number; status: string }>();
  for await (const item of liveEvents(database).read(turn, { signal: abort.signal })) {
    if (item.type === 'event') {
      const {
        type,
        status = '',
        call,
      } = item.event as {
        readonly type: string;
        readonly status?: string;
        readonly call?: { readonly id: string };
      };
      types.push(type);
      const known = calls.get(call?.id ?? '') ?? { calls: 0, results: 0, status };
      if (type === 'tool.call') calls.set(call?.id ?? '', { ...known, calls: known.calls + 1 });
      if (type === 'tool.result') calls.set(call?.id ?? '', { ...known, results: known.results + 1, status });
    }
    if (item.type === 'ended') types.push('ended');
    if (item.type === 'caught-up') abort.abort();
  }
  const count = (type: string): number => types.filter((each) => each === type).length;
  const once = ['turn.start', 'session.loaded', 'turn.end', 'ended'];
  // A call that was skipped because of a message may be answered before it is made.
  const isAnswered = [...calls.values()].every(
    (each) => each.results === 1 && (each.calls === 1 || (each.calls === 0 && each.status === 'skipped')),
  );
  return { types, isWhole: once.every((type) => count(type) === 1) && isAnswered };
};

/** Looks at the lanes all the time: no more slots than the limit, no session twice. */
const watchCap = (database: Postgres) => {
  const problems = new Set<string>();
  const watched = { isOver: false };
  const table = database.name('lane_request');
  const look = async (): Promise<void> => {
    while (!watched.isOver) {
      const [row] = await database.query<{ held: number; twice: number }>(
        `select (select count(*)::integer from ${table} where state = 1) as held, (select count(*)::integer from (
           select 1 from ${table} where state > 0 group by session having count(*) > 1) twice) as twice`,
      );
      if ((row?.held ?? 0) > concurrency) problems.add(`${row?.held} slots were held`);
      if ((row?.twice ?? 0) > 0) problems.add('a session was held twice');
      await delay(5);
    }
  };
  const looking = look();
  return {
    end: async (): Promise<readonly string[]> => {
      watched.isOver = true;
      await looking;
      return [...problems];
    },
  };
};

/** Harms the workers until all messages are delivered. */
const torment = async (
  cluster: Cluster,
  server: TestServer,
  database: Postgres,
  random: () => number,
  total: number,
) => {
  const counts = { killed: 0, suspended: 0, cut: 0, restarted: 0 };
  const deadline = performance.now() + numberOf('CHAOS_SECONDS', 600) * 1000;
  for (;;) {
    const [row] = await database.query<{ done: number }>(
      `select count(*)::integer as done from ${database.name('inbox_message')} where delivery is not null`,
    );
    if (row?.done === total) return counts;
    if (performance.now() > deadline) throw new Error(`${row?.done} of ${total} messages were delivered.`);
    await delay(500 + random() * 2_000);
    const chance = random();
    if (chance < 0.4) {
      cluster.kill(random());
      counts.killed += 1;
    } else if (chance < 0.6) {
      void cluster.suspend(random(), leaseMs * (0.5 + random()));
      counts.suspended += 1;
    } else if (chance < 0.9) {
      await cut(server);
      counts.cut += 1;
    } else if (counts.restarted < 3) {
      await server.restart();
      counts.restarted += 1;
    }
    cluster.fill(workerCount);
  }
};

const cut = async ({ url }: TestServer): Promise<void> => {
  const admin = new Pool({ connectionString: url, max: 1 });
  const sql = `select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and random() < 0.5`;
  await admin.query(sql).catch(() => undefined);
  await admin.end();
};

/** The worker processes. */
class Cluster {
  readonly #bundle: string;
  readonly #arguments: readonly string[];
  readonly #log: string;
  /** The workers whose disk is full. */
  readonly #full = new Set<ChildProcess>();
  /** The workers, and whether each has started. */
  readonly #workers = new Map<ChildProcess, Promise<unknown>>();

  constructor(bundle: string, args: readonly string[], folder: string) {
    this.#bundle = bundle;
    this.#arguments = args;
    this.#log = join(folder, 'workers.log');
  }

  fill(count: number): void {
    while (this.#workers.size < count) {
      // At any time, the disk of half of the workers is full.
      const isFull = this.#full.size < Math.floor(count / 2);
      const worker = fork(this.#bundle, [...this.#arguments, isFull ? 'full' : 'free'], {
        execArgv: [],
        stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
      });
      worker.stderr?.pipe(createWriteStream(this.#log, { flags: 'a' }));
      this.#workers.set(worker, new Promise((resolve) => void worker.once('message', resolve).once('exit', resolve)));
      if (isFull) this.#full.add(worker);
      worker.once('exit', () => this.#remove(worker));
    }
  }

  kill(choice: number): void {
    const worker = this.#pick(choice);
    if (!worker) return;
    worker.kill('SIGKILL');
    this.#remove(worker);
  }

  #remove(worker: ChildProcess): void {
    this.#workers.delete(worker);
    this.#full.delete(worker);
  }

  async suspend(choice: number, ms: number): Promise<void> {
    const worker = this.#pick(choice);
    worker?.kill('SIGSTOP');
    await delay(ms);
    worker?.kill('SIGCONT');
  }

  signal(signal: NodeJS.Signals): void {
    for (const worker of this.#workers.keys()) worker.kill(signal);
  }

  /** Ends the workers by SIGTERM. */
  async drain(): Promise<void> {
    for (const worker of this.#workers.keys()) worker.kill('SIGCONT');
    await Promise.all(this.#workers.values());
    const exits = Array.from(this.#workers.keys(), (worker) => exitOf(worker));
    for (const worker of this.#workers.keys()) worker.kill('SIGTERM');
    expect(await Promise.all(exits)).toEqual(exits.map(() => 0));
  }

  async stop(): Promise<void> {
    const exits = Array.from(this.#workers.keys(), (worker) => exitOf(worker));
    for (const worker of this.#workers.keys()) worker.kill('SIGKILL');
    await Promise.all(exits);
  }

  #pick(choice: number): ChildProcess | undefined {
    return [...this.#workers.keys()][Math.floor(choice * this.#workers.size)];
  }
}

const exitOf = (worker: ChildProcess): Promise<number | null> =>
  new Promise((resolve) => worker.once('exit', (code) => resolve(code)));
