import { harness, reply, type JournalRecord, type Reply, type SessionStore } from '@h/turn';
import { decodeRecord, encodeRecord } from '@h/turn/records';
import { call, failure, response, scriptedModel, scriptedTools, type ScriptStep } from '@h/turn/testing';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { costing, cut, eager } from '../test/turns.js';
import { createBudget, type Budget } from './budget.js';
import { guardrails } from './guardrails.js';
import type { GuardrailsOptions } from './options.js';

/** A store whose process died after these records; it keeps what comes after them. */
const storeOf = (records: readonly JournalRecord[]): SessionStore & { readonly journal: readonly JournalRecord[] } => {
  const journal = records.map((record) => decodeRecord(encodeRecord(record)));
  return {
    journal,
    open: () => ({
      snapshot: { messages: [], state: {} },
      journal: [...journal],
      append: (record) => {
        journal.push(record);
      },
      close: () => undefined,
    }),
    locate: () => 'alice',
    unfinished: () => [],
  };
};

interface Run {
  readonly result: Reply;
  readonly journal: readonly JournalRecord[];
  readonly requests: number;
}

const tools = () =>
  scriptedTools(
    {
      ls: 'a.txt',
      fail: () => {
        throw new Error('No.');
      },
    },
    { ls: { effect: 'read-only' }, fail: { effect: 'read-only' } },
  );

/** Runs the turn, or resumes it at the end of the journal: the model infers its position from the history. */
const run = async (
  records: readonly JournalRecord[],
  script: readonly ScriptStep[],
  options: GuardrailsOptions,
): Promise<Run> => {
  const store = storeOf(records);
  const byHistory: ScriptStep = (request, context) => {
    const step = script[request.messages.toArray().filter(({ role }) => role === 'assistant').length] ?? 'Done.';
    return typeof step === 'function' ? step(request, context) : step;
  };
  const model = scriptedModel(Array.from({ length: 40 }, () => byHistory));
  const agent = harness({ model, sessions: store, tools: tools() }).pipe(guardrails(options));
  const result = await reply(
    records.length === 0 ? agent.turn({ session: 'alice', input: 'Go.', id: 'turn-1' }) : agent.resume('turn-1'),
  );
  return { result, journal: store.journal, requests: model.requests.length };
};

/** What the session has used in the end, but for the time. */
const keptBy = ({ journal }: Run): unknown => {
  const last = journal.findLast(({ event }) => event.type === 'session.state')?.event;
  const used = last?.type === 'session.state' ? (last.value as { used: Record<string, number> }).used : {};
  return { ...used, durationMs: 0 };
};

const session = { maxTokens: 1e9 };
const looking = costing(100, 10, call('1', 'ls'));
const failing = costing(100, 10, call('1', 'fail'), call('2', 'ls'));

const scenarios: readonly (readonly [string, readonly ScriptStep[], GuardrailsOptions])[] = [
  ['that completes', [looking, failing, cut('One, '), 'two.'], {}],
  ['that sums up in its last step', [looking, looking, looking, eager, eager, eager], { maxSteps: 4 }],
  [
    'that uses up its tool calls',
    [looking, response(call('1', 'ls'), call('2', 'ls'), call('3', 'ls')), eager, eager],
    { maxToolCalls: 2 },
  ],
  ['that uses up its tokens', Array.from({ length: 30 }, () => looking), { maxTokens: 500, wrapUp: false }],
  [
    'that uses up its cost limit',
    Array.from({ length: 30 }, () => looking),
    { maxCost: 5, costOf: () => 1, wrapUp: false },
  ],
  ['whose price is unknown', [looking, looking], { maxCost: 5, costOf: () => undefined }],
  ['with too many exceptions', Array.from({ length: 30 }, () => failing), { maxExceptions: 2 }],
  ['with too many exceptions in a row', [failing, looking, failing, failing, failing], { maxConsecutiveExceptions: 1 }],
  ['whose answers are truncated too often', [cut('One, '), cut('two, '), cut('three, '), 'four'], {}],
  [
    'whose answers with calls are truncated too often',
    Array.from({ length: 9 }, () => cut('One', call('1', 'ls'))),
    {},
  ],
  [
    'whose steps are extended',
    [cut('One, '), 'two.'],
    { maxSteps: 2, extension: { perCompletion: 1, limits: ['maxSteps'] } },
  ],
  [
    'that writes too much',
    [response('1234567', call('1', 'ls')), response('1234567', call('1', 'ls')), 'x'],
    { maxOutputChars: 12 },
  ],
];

describe.each(scenarios)('a turn %s', (_, script, options) => {
  it('ends in the same way with the same counts when it is resumed from any record of its journal', async () => {
    const whole = await run([], script, { ...options, session });
    for (let length = 1; length < whole.journal.length; length += 1) {
      const resumed = await run(whole.journal.slice(0, length), script, { ...options, session });
      const { outcome, reason, steps, text } = whole.result;
      expect({ ...pick(resumed.result), at: length }).toEqual({ outcome, reason, steps, text, at: length });
      expect({ kept: keptBy(resumed), at: length }).toEqual({ kept: keptBy(whole), at: length });
    }
  });

  it('charges a new budget with all of it, and a restored one with what is missing', async () => {
    const fresh = (restore?: unknown): Budget => createBudget({ ...(restore !== undefined && { restore }) });
    const first = fresh();
    const whole = await run([], script, { ...options, budget: first });
    const { durationMs: _time, ...used } = first.used();
    for (let length = 1; length < whole.journal.length; length += 3) {
      const budget = fresh();
      await run(whole.journal.slice(0, length), script, { ...options, budget });
      expect({ ...budget.used(), at: length }).toMatchObject({ ...used, at: length });
    }
    const counters = (amounts: object) => ({ ...createBudget().used(), ...amounts });
    const restored = fresh({
      version: 1,
      counters: counters({ steps: 11, inputTokens: 1001, outputTokens: 1 }),
      tabs: { 'turn-1': counters({ steps: 1, inputTokens: 1, outputTokens: 1 }) },
    });
    await run(whole.journal.slice(0, -1), script, { ...options, budget: restored });
    expect(restored.used()).toMatchObject({
      steps: used.steps + 10,
      inputTokens: used.inputTokens + 1000,
      outputTokens: used.outputTokens,
    });
  });
});

const pick = ({ outcome, reason, steps, text }: Reply) => ({ outcome, reason, steps, text });

describe('a turn that has ended', () => {
  it('is not charged to a budget when it is only shown again', async () => {
    const budget = createBudget();
    const whole = await run([], [looking], { budget });
    const used = budget.used();
    await run(whole.journal, [looking], { budget });
    expect(budget.used()).toEqual(used);
  });
});

describe('the model of a resumed turn', () => {
  it('gets the warning of an unanswered step again, and no warning that it has answered', async () => {
    const script = Array.from({ length: 7 }, () => eager);
    const options = { maxSteps: 6, reserveSteps: 3 };
    const whole = await run([], script, options);
    const kindsAfter = async (length: number): Promise<readonly (string | undefined)[]> => {
      const resumed = await run(whole.journal.slice(0, length), script, options);
      const requests = resumed.journal
        .slice(length)
        .flatMap(({ event }) => (event.type === 'model.request' ? [event] : []));
      return requests.map(({ tail }) => tail[0]?.metadata?.kind);
    };
    const places = whole.journal.flatMap(({ event }, index) => (event.type === 'model.request' ? [index] : []));
    expect(await kindsAfter((places[3] as number) + 1)).toEqual(['budget-near', undefined, 'budget-last']);
    expect(await kindsAfter((places[3] as number) + 2)).toEqual([undefined, 'budget-last']);
    expect(await kindsAfter((places[5] as number) + 1)).toEqual(['budget-last']);
  });
});

describe('the time of a resumed turn', () => {
  beforeEach(() => void vi.useFakeTimers({ now: 1_000_000 }));
  afterEach(() => void vi.useRealTimers());

  const begin = (store: SessionStore, script: readonly ScriptStep[], options: GuardrailsOptions, delayMs = 1000) => {
    const model = scriptedModel(script, { delayMs });
    return { model, agent: harness({ model, sessions: store, tools: tools() }).pipe(guardrails(options)) };
  };

  it('omits the time without a process, however often', async () => {
    const options = { maxDurationMs: 10_000, wrapUp: false } as const;
    const whole = storeOf([]);
    const first = begin(whole, [looking, { never: ['x'] }], options);
    first.agent.turn({ session: 'alice', input: 'Go.', id: 'turn-1' }).subscribe();
    // Two pieces and an answer in 3 s, then 2 s of the next.
    await vi.advanceTimersByTimeAsync(5000);
    const died = storeOf(whole.journal);
    await vi.advanceTimersByTimeAsync(3_600_000);

    const second = begin(died, [looking, { never: ['x'] }], options);
    second.agent.resume('turn-1').subscribe();
    await vi.advanceTimersByTimeAsync(4000);
    const diedAgain = storeOf(died.journal);
    await vi.advanceTimersByTimeAsync(3_600_000);

    const third = begin(diedAgain, [{ never: ['x'] }], options);
    const ended = reply(third.agent.resume('turn-1'));
    let outcome: string | undefined;
    void ended.then((result) => {
      outcome = result.outcome;
    });
    const asked = diedAgain.journal.findLast(({ event }) => event.type === 'model.request')?.event;
    const { elapsedMs = Infinity } = (asked?.annotations?.['guardrails'] ?? {}) as { readonly elapsedMs?: number };
    expect(elapsedMs).toBeLessThan(7000);
    await vi.advanceTimersByTimeAsync(10_000 - elapsedMs - 1);
    expect(outcome).toBeUndefined();
    await vi.advanceTimersByTimeAsync(1);
    expect(await ended).toMatchObject({
      outcome: 'timed-out',
      reason: 'The turn has taken 10000 of the 10000 milliseconds that it may take.',
    });
  });

  it('ends the turn on time without further events, and so does a budget that is cut off', async () => {
    const store = storeOf([]);
    const stuck = scriptedTools({ wait: { never: true } }, { wait: { effect: 'read-only' } });
    const model = scriptedModel([response(call('1', 'wait'))]);
    harness({ model, sessions: store, tools: stuck })
      .pipe(guardrails())
      .turn({ session: 'alice', input: 'Go.', id: 'turn-1' })
      .subscribe();
    await vi.advanceTimersByTimeAsync(10);
    for (const isCut of [false, true, 'before']) {
      const budget = createBudget();
      if (isCut === 'before') budget.cutOff('Enough.');
      const agent = harness({ model: scriptedModel([]), sessions: storeOf(store.journal), tools: stuck }).pipe(
        guardrails({ maxDurationMs: 5000, budget }),
      );
      const ended = reply(agent.resume('turn-1'));
      await vi.advanceTimersByTimeAsync(100);
      if (isCut === true) budget.cutOff('Enough.');
      else if (isCut === false) await vi.advanceTimersByTimeAsync(5000);
      expect(await ended).toMatchObject({ outcome: isCut === false ? 'timed-out' : 'budget-exceeded' });
    }
  });
});

describe('a failed attempt', () => {
  it('counts its partial output after a crash', async () => {
    const asking: ScriptStep = { error: failure('Lost.'), after: ['x'.repeat(4000)] };
    const whole = await run([], [looking, asking], { session });
    const place = whole.journal.findIndex(({ event }) => event.type === 'model.error');
    const resumed = await run(whole.journal.slice(0, place + 1), [looking, asking], { session });
    expect(keptBy(resumed)).toEqual(keptBy(whole));
  });
});
