import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { compaction } from '@h/compaction';
import { failover } from '@h/failover';
import { createBudget, guardrails, type Counters } from '@h/guardrails';
import { hooks, type Hook } from '@h/hooks';
import { loopDetect } from '@h/loop-detect';
import { createUsageMeter, observe, type UsageTotals } from '@h/observe';
import { createLanes, queue } from '@h/queue';
import { security } from '@h/security';
import { fileSessions, recoverTurns, type FileSessions } from '@h/session';
import { createRegistry, defineTool, toolDriver, tools, type Tool } from '@h/tools';
import { harness, type Agent, type ModelDriver, type ModelResponse, type TurnEvent, type TurnOutcome } from '@h/turn';
import { call, failure, response } from '@h/turn/testing';

export const session = 'main';
export const turn = 'turn-main';

/** Latency of models and tools in milliseconds, so that a random kill hits every phase. */
const latencyMs = 4;
const sections = [1, 2, 3, 4, 5, 6] as const;

const read = (id: string, path: string) => call(id, 'read', { path });
const log = (id: string) => call(id, 'log', { line: id });

/** Contains reads, parallel writes, approvals, a loop that causes a warning, and text for several compactions. */
const script: readonly ModelResponse[] = [
  response('Looking.', read('r1', 'a'), log('w1'), read('r2', 'b'), call('i1', 'put', { text: 'settings' })),
  response('Two writes.', log('w2'), log('w3')),
  response(call('p1', 'publish', { version: '1.0.0' })),
  ...sections.map((number) =>
    response(`Section ${number}.`, read(`s${number}`, `section-${number}`), log(`v${number}`)),
  ),
  ...['l1', 'l2', 'l3', 'l4'].map((id) => response(read(id, 'status'))),
  response(call('p2', 'publish', { version: '1.0.1' }), log('w4')),
  response('All is done.'),
];

/** Calls that must not run twice. */
export const writes: readonly string[] = script.flatMap(({ content }) =>
  content.flatMap((part) =>
    part.type === 'tool-call' && ['log', 'publish'].includes(part.toolName) ? [part.toolCallId] : [],
  ),
);

/** Answers by the script and fails the first attempt of step 2. */
const model: ModelDriver = async function* (_, { step, attempt }) {
  await sleep(latencyMs);
  if (step === 2 && attempt === 1) {
    yield { type: 'error', error: failure('Internal server error', { status: 500 }) };
    return;
  }
  const usage = { input: 1000 + step, cacheRead: 100, cacheWrite: 0, output: 10 + step, reasoning: 0 };
  yield { type: 'response', response: { ...(script[step - 1] ?? response('There is nothing more to do.')), usage } };
};

const textInput = (key: string) =>
  ({ type: 'object', properties: { [key]: { type: 'string' } }, required: [key] }) as const;

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

const toolsIn = (directory: string): readonly Tool[] => {
  const written = join(directory, 'log.txt');
  /** Appends a line after a delay, so that kills occur before and after the write. */
  const append = async (id: string): Promise<string> => {
    await sleep(latencyMs);
    appendFileSync(written, `${id}\n`);
    await sleep(latencyMs);
    return 'Added.';
  };
  return [
    defineTool({
      name: 'read',
      description: 'Reads.',
      input: textInput('path'),
      effect: 'read-only',
      run: async ({ path }) => {
        await sleep(latencyMs);
        return path === 'status'
          ? 'Revision 7 of the draft.'
          : `Contents of ${textOf(path)}: ${'nothing of interest, '.repeat(400)}`;
      },
    }),
    defineTool({
      name: 'put',
      description: 'Writes the whole file.',
      input: textInput('text'),
      effect: 'local-write',
      idempotent: true,
      resources: () => ['file:/settings'],
      run: async ({ text }) => {
        await sleep(latencyMs);
        writeFileSync(join(directory, 'settings.txt'), textOf(text));
        return 'Written.';
      },
    }),
    defineTool({
      name: 'log',
      description: 'Adds a line.',
      input: textInput('line'),
      effect: 'local-write',
      run: (_, { call: { id } }) => append(id),
    }),
    defineTool({
      name: 'publish',
      description: 'Publishes.',
      input: textInput('version'),
      effect: 'destructive',
      run: (_, { call: { id } }) => append(id),
    }),
  ];
};

const approval: Hook = {
  name: 'approve-publishing',
  beforeTool: ({ call: { name } }) =>
    name === 'publish' ? { decision: 'ask', reason: 'Publishing requires approval.' } : undefined,
};

/** The report that a process prints at the end of the turn. */
export interface Report {
  /** Absent if another process had ended the turn. */
  readonly outcome?: TurnOutcome | undefined;
  readonly budget: Omit<Counters, 'durationMs'>;
  readonly totals: UsageTotals;
}

export interface LongWorld {
  readonly agent: Agent;
  readonly sessions: FileSessions;
  report(outcome: TurnOutcome | undefined): Report;
}

/** Creates a pipeline of all operators over file sessions. */
export const longWorld = (directory: string, leaseMs?: number): LongWorld => {
  mkdirSync(directory, { recursive: true });
  const sessions = fileSessions({ directory: join(directory, 'sessions'), fsync: 'never', leaseMs });
  const driver = toolDriver(createRegistry().register(...toolsIn(directory)));
  const budget = createBudget({ maxTokens: 1_000_000, maxToolCalls: 1000 });
  const costOf = (): number => 0.01;
  const meter = createUsageMeter({ costOf });
  const agent = harness({ model, tools: driver, sessions }).pipe(
    queue(createLanes({ concurrency: 1 })),
    hooks([approval]),
    guardrails({ budget, maxSteps: 60, costOf }),
    failover({ backoff: () => latencyMs, random: () => 0 }),
    compaction({
      window: 12_000,
      reserve: 2000,
      protectTokens: 600,
      summarize: () => 'Nothing of interest was found.',
    }),
    loopDetect(),
    tools({ driver, maxChars: 16_000 }),
    security(),
    observe({ meter }),
  );
  return {
    agent,
    sessions,
    report: (outcome) => {
      const { durationMs: _, ...counters } = budget.used();
      return { outcome, budget: counters, totals: meter.turn(turn) };
    },
  };
};

/**
 * Starts the turn, or resumes it after a crash; approves every request. Calls `onProgress` for each new event. Rejects
 * if another process holds the session.
 */
export const runToEnd = async (
  { agent }: LongWorld,
  onProgress: () => void = () => undefined,
): Promise<TurnOutcome | undefined> => {
  const approve = (event: TurnEvent): void => {
    if (event.replayed !== true) onProgress();
    if (event.type === 'approval.request') queueMicrotask(() => agent.answer(event.id, 'once'));
  };
  const recovered = await recoverTurns(agent, { policy: 'resume', onEvent: approve });
  const resumed = recovered.find((one) => one.turn === turn);
  if (resumed !== undefined) return resumed.outcome;
  return new Promise((resolve, reject) => {
    agent.turn({ session, input: 'Begin.', id: turn }).subscribe({
      next: (event) => {
        approve(event);
        if (event.type !== 'turn.end') return;
        if (event.error?.code === 'session-busy') return reject(new Error(event.error.message));
        if (event.error?.code !== 'duplicate-turn') return resolve(event.outcome);
        // The turn id is an idempotency key, so a turn that has ended is not run again. One that has not ended was held
        // until now, and the next process resumes it.
        const isReleased = event.error.message.includes('has not ended');
        if (isReleased) return reject(new Error('The turn is held by no process now. Run it again.'));
        resolve(undefined);
      },
      error: reject,
    });
  });
};
