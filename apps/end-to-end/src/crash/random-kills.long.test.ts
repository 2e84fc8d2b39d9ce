import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { repairHistory, type Message, type ToolResultPart } from '@h/turn';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bundleScript } from '../../../../tooling/vitest/bundle-script.js';
import { longWorld, session, writes, type Report } from './long-world.js';

/** Number of kills at random moments, set by `CRASH_KILLS`. */
const kills = Number(process.env['CRASH_KILLS'] ?? 300);
/** Number of processes that are suspended past their lease. */
const suspensions = Math.ceil(kills / 10);
/** A directory gets at most this many kills before its turn runs to the end. */
const maxKillsPerTurn = 6;
/** Longest delay of a kill after the event that it waits for, in milliseconds: longer than one model call or tool. */
const maxDelayMs = 10;
/** Longer than any pause of a process on a busy machine, which would otherwise lose its own lease. */
const leaseMs = 1000;

let root = '';
let starter = '';
/** Starts the script under another host name, so that its locks expire with their lease, not with the process. */
let foreignStarter = '';
let reference: Finished;
/** Number of events of an undisturbed turn. */
let turnEvents = 0;

interface Finished {
  readonly report: Report & { readonly error?: string };
  readonly messages: readonly Message[];
  readonly log: readonly string[];
}

interface Child {
  /**
   * Resolves after this many new events, or when the process has ended. Events and not time: the moments are spread
   * over the whole turn however fast the machine is.
   */
  reaches(events: number): Promise<void>;
  /** Resolves with the output and the signal that ended the process. */
  readonly exited: Promise<{ readonly output: string; readonly signal: NodeJS.Signals | null }>;
  signal(name: NodeJS.Signals): void;
}

const start = (directory: string, { script = starter, lease = 30_000 } = {}): Child => {
  const child = spawn(process.execPath, [script, directory, String(lease)], { stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  let onOutput = (): void => undefined;
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
    onOutput();
  });
  const exited = once(child, 'close').then(([, signal]) => ({ output, signal: signal as NodeJS.Signals | null }));
  const reaches = (events: number): Promise<void> =>
    new Promise((resolve) => {
      onOutput = () => void (eventsIn(output) >= events && resolve());
      onOutput();
      void exited.then(() => resolve());
    });
  return { reaches, exited, signal: (name) => void child.kill(name) };
};

/** The number of points at the beginning of the output. */
const eventsIn = (output: string): number => /^\.*/.exec(output)?.[0].length ?? 0;

const reportIn = (output: string): Finished['report'] => {
  const line = output.slice(eventsIn(output)).trim();
  if (line === '') throw new Error('The process ended without a report.');
  return JSON.parse(line) as Finished['report'];
};

/** Everything that was said in the session, including what a compaction has replaced. */
const everything = async (directory: string): Promise<readonly Message[]> => {
  const messages: Message[] = [];
  for await (const turn of longWorld(directory).sessions.archive(session)) messages.push(...turn.messages);
  return messages;
};

const linesOf = async (path: string): Promise<readonly string[]> =>
  (await readFile(path, 'utf8').catch(() => '')).split('\n').filter((line) => line !== '');

const finished = async (directory: string, report: Finished['report']): Promise<Finished> => ({
  report,
  messages: await everything(directory),
  log: await linesOf(join(directory, 'log.txt')),
});

/** Runs the turn of a directory to its end; waits while another process holds the session. */
const runToEnd = async (directory: string, options?: Parameters<typeof start>[1]): Promise<Finished['report']> => {
  for (;;) {
    const report = reportIn((await start(directory, options).exited).output);
    if (report.error === undefined || !report.error.includes('is held by')) return report;
    await sleep(leaseMs / 4);
  }
};

const resultsIn = (messages: readonly Message[]): readonly ToolResultPart[] =>
  messages.flatMap((message) =>
    message.role === 'tool' ? message.content.filter((part) => part.type === 'tool-result') : [],
  );

const callsIn = (messages: readonly Message[]): readonly string[] =>
  messages.flatMap(({ role, content }) =>
    role === 'assistant' && typeof content !== 'string'
      ? content.flatMap((part) => (part.type === 'tool-call' ? part.toolCallId : []))
      : [],
  );

const isUnknown = ({ output }: ToolResultPart): boolean =>
  output.type === 'error-text' && output.value.includes('outcome is unknown');

/**
 * The report without the model calls that failed. A call that fails is counted when its failure is recorded, so a kill
 * just before that loses it, and the resumed turn continues with the next attempt, which succeeds.
 */
const withoutFailedCalls = ({ totals: { calls, failedCalls, ...totals }, ...report }: Report) => ({
  ...report,
  totals: { ...totals, succeededCalls: calls - failedCalls },
});

/** Compares a disturbed run with the reference. */
const check = ({ report, messages, log }: Finished, where: string): void => {
  expect(report.error, where).toBeUndefined();
  expect(repairHistory(messages).repairs, where).toEqual([]);
  expect(callsIn(messages), where).toEqual(callsIn(reference.messages));
  const results = resultsIn(messages);
  expect(
    results.map(({ toolCallId }) => toolCallId),
    where,
  ).toEqual(callsIn(messages));
  const unknown = new Set(results.filter(isUnknown).map(({ toolCallId }) => toolCallId));
  for (const id of unknown) expect(writes, where).toContain(id);
  for (const id of writes) {
    const count = log.filter((line) => line === id).length;
    if (unknown.has(id)) expect(count, `${id}, ${where}`).toBeLessThanOrEqual(1);
    else expect(count, `${id}, ${where}`).toBe(1);
  }
  if (unknown.size === 0) expect(messages, where).toEqual(reference.messages);
  // A process that starts after the end of the turn reports no outcome.
  if (report.outcome === undefined) return;
  expect(withoutFailedCalls(report), where).toEqual(withoutFailedCalls(reference.report));
  expect(report.totals.failedCalls, where).toBeLessThanOrEqual(reference.report.totals.failedCalls);
};

/** Runs numbered cases on all processors and collects their failures. */
const runAll = async (count: number, run: (index: number) => Promise<void>): Promise<readonly string[]> => {
  const failures: string[] = [];
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let index = next++; index < count; index = next++) {
      await run(index).catch((error: unknown) => failures.push(String(error)));
    }
  };
  await Promise.all(Array.from({ length: Math.max(2, availableParallelism()) }, worker));
  return failures;
};

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'h-kills-'));
  starter = await bundleScript(new URL('./long-child.ts', import.meta.url), root);
  foreignStarter = join(root, 'foreign.cjs');
  await writeFile(
    foreignStarter,
    `require('node:os').hostname = () => 'another-host';\nrequire(${JSON.stringify(starter)});\n`,
  );
  // The first run fills the compile cache.
  await runToEnd(join(root, 'warm-up'));
  const directory = join(root, 'reference');
  const { output } = await start(directory).exited;
  turnEvents = eventsIn(output);
  reference = await finished(directory, reportIn(output));
}, 120_000);

afterAll(() => rm(root, { recursive: true, force: true, maxRetries: 5 }));

describe('a full pipeline', () => {
  it('completes without a crash, with compactions, a retry, approvals and a loop warning', () => {
    expect(reference.report).toMatchObject({ outcome: 'completed', budget: { steps: 15 } });
    expect([...reference.log].toSorted()).toEqual([...writes].toSorted());
    expect(callsIn(reference.messages)).toEqual(resultsIn(reference.messages).map(({ toolCallId }) => toolCallId));
    expect(JSON.stringify(reference.messages)).toContain('has given the same result');
  });

  it(`survives ${kills} kills at random moments with unchanged totals`, async () => {
    let killed = 0;
    let index = 0;
    const turns = Math.ceil(kills / 3);
    const failures = await runAll(turns * 4, async () => {
      if (killed >= kills) return;
      index += 1;
      const directory = join(root, `kill-${index}`);
      const moments: number[] = [];
      for (let attempt = 0; attempt < maxKillsPerTurn && killed < kills; attempt += 1) {
        const child = start(directory);
        const events = Math.floor((Math.random() * turnEvents * 2) / maxKillsPerTurn);
        await child.reaches(events);
        await sleep(Math.random() * maxDelayMs);
        child.signal('SIGKILL');
        const { signal } = await child.exited;
        if (signal !== 'SIGKILL') break;
        moments.push(events);
        killed += 1;
      }
      check(await finished(directory, await runToEnd(directory)), `killed after ${moments.join(', ')} events`);
      await rm(directory, { recursive: true, force: true });
    });
    expect(failures).toEqual([]);
    expect(killed).toBeGreaterThanOrEqual(kills);
  }, 900_000);

  it(`is taken over from ${suspensions} processes that are suspended past their lease`, async () => {
    let suspended = 0;
    const failures = await runAll(suspensions, async (index) => {
      const directory = join(root, `stop-${index}`);
      const first = start(directory, { lease: leaseMs });
      const events = Math.floor(Math.random() * turnEvents);
      await first.reaches(events);
      await sleep(Math.random() * maxDelayMs);
      first.signal('SIGSTOP');
      if (await Promise.race([first.exited.then(() => false), sleep(0, true)])) suspended += 1;
      try {
        const report = await runToEnd(directory, { script: foreignStarter, lease: leaseMs });
        first.signal('SIGCONT');
        await first.exited;
        check(await finished(directory, report), `suspended after ${events} events`);
      } finally {
        first.signal('SIGKILL');
      }
      await rm(directory, { recursive: true, force: true });
    });
    expect(failures).toEqual([]);
    expect(suspended).toBeGreaterThanOrEqual(suspensions / 2);
  }, 900_000);
});
