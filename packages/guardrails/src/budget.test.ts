import { InvalidOptionError } from '@h/options';
import { harness, reply } from '@h/turn';
import { call, response, scriptedModel, scriptedTools, type ScriptStep } from '@h/turn/testing';
import * as fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { costing, eager, run, worker } from '../test/turns.js';
import { createBudget, type Budget } from './budget.js';
import { guardrails } from './guardrails.js';

const usedOf = (budget: Budget) => {
  const { steps, toolCalls, inputTokens, outputTokens } = budget.used();
  return { steps, toolCalls, inputTokens, outputTokens };
};

/** Starts turns of several sessions at once with one budget. */
const together = (count: number, script: readonly ScriptStep[], budget: Budget, delayMs = 10) => {
  const models = Array.from({ length: count }, () => scriptedModel(script, { delayMs }));
  const replies = models.map((model, index) =>
    reply(
      harness({ model, tools: scriptedTools({ ls: 'a.txt' }) })
        .pipe(guardrails({ budget, wrapUp: false }))
        .turn({ session: `s${index}`, input: 'Go.' }),
    ),
  );
  return { models, ended: Promise.all(replies) };
};

describe('a budget that turns share', () => {
  beforeEach(() => void vi.useFakeTimers({ now: 0 }));
  afterEach(() => void vi.useRealTimers());

  it('is used up by all of them', async () => {
    const budget = createBudget({ maxSteps: 5 });
    const first = reply(
      harness({ model: scriptedModel(worker(3)), tools: scriptedTools({ ls: 'a.txt' }) })
        .pipe(guardrails({ budget }))
        .turn({ session: 'a', input: 'Go.' }),
    );
    await vi.advanceTimersByTimeAsync(0);
    expect(await first).toMatchObject({ outcome: 'completed', steps: 3 });
    const second = reply(
      harness({ model: scriptedModel(worker(9)), tools: scriptedTools({ ls: 'a.txt' }) })
        .pipe(guardrails({ budget, wrapUp: false }))
        .turn({ session: 'b', input: 'Go.' }),
    );
    expect(await second).toMatchObject({
      outcome: 'max-steps',
      steps: 2,
      reason: 'The budget has made 5 of the 5 steps that it may make.',
    });
    expect(usedOf(budget)).toEqual({ steps: 5, toolCalls: 4, inputTokens: 50, outputTokens: 25 });
  });

  it('gives its last step to one of two concurrent turns', async () => {
    const budget = createBudget({ maxSteps: 1 });
    const { models, ended } = together(2, ['Done.'], budget);
    await vi.advanceTimersByTimeAsync(1000);
    expect((await ended).map(({ outcome }) => outcome)).toEqual(['completed', 'max-steps']);
    expect(models.map(({ requests }) => requests.length)).toEqual([1, 0]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('gives its last tool call to one of two turns', async () => {
    const budget = createBudget({ maxToolCalls: 3 });
    const { ended } = together(4, [response(call('1', 'ls')), 'Done.'], budget);
    await vi.advanceTimersByTimeAsync(1000);
    expect((await ended).map(({ outcome }) => outcome)).toEqual(['completed', 'completed', 'completed', 'completed']);
    expect(budget.used().toolCalls).toBe(3);
  });

  it('holds a turn until another turn releases its reservation', async () => {
    const budget = createBudget({ maxOutputTokens: 1000 });
    const { models, ended } = together(3, [costing(10, 100, 'Done.')], budget, 50);
    await vi.advanceTimersByTimeAsync(1);
    expect(models.map(({ requests }) => requests.length)).toEqual([1, 0, 0]);
    await vi.advanceTimersByTimeAsync(110);
    expect(models.map(({ requests }) => requests.length)).toEqual([1, 1, 0]);
    await vi.advanceTimersByTimeAsync(1000);
    expect((await ended).map(({ outcome }) => outcome)).toEqual(['completed', 'completed', 'completed']);
    expect(models[2]?.requests[0]?.settings.maxOutputTokens).toBe(800);
    expect(budget.used().outputTokens).toBe(300);
  });

  it('keeps a model that does not know when to stop from what others have set aside', async () => {
    const budget = createBudget({ maxOutputTokens: 20_000 });
    const greedy = scriptedModel([{ never: Array.from({ length: 300 }, () => 'x'.repeat(400)) }], { delayMs: 1 });
    const modest = scriptedModel([{ never: [] }]);
    let pieces = 0;
    harness({ model: greedy })
      .pipe(guardrails({ budget }))
      .turn({ session: 'a', input: 'Go.' })
      .subscribe(({ type }) => {
        if (type === 'model.delta') pieces += 1;
      });
    const waiting = harness({ model: modest })
      .pipe(guardrails({ budget }))
      .turn({ session: 'b', input: 'Go.' })
      .subscribe();
    await vi.advanceTimersByTimeAsync(1000);
    expect({ pieces, active: [greedy.active, modest.active] }).toEqual({ pieces: 164, active: [0, 1] });
    waiting.unsubscribe();
  });

  it('grows the reservation of a long answer while the budget allows it', async () => {
    const budget = createBudget({ maxOutputTokens: 100_000 });
    const long = scriptedModel([{ never: Array.from({ length: 300 }, () => 'x'.repeat(400)) }], { delayMs: 1 });
    const subscription = harness({ model: long })
      .pipe(guardrails({ budget }))
      .turn({ session: 'a', input: 'Go.' })
      .subscribe();
    await vi.advanceTimersByTimeAsync(1000);
    expect(long.active).toBe(1);
    subscription.unsubscribe();
    expect(budget.used()).toMatchObject({ outputTokens: 30_000, steps: 1 });
    expect(budget.reserve({ outputTokens: 70_000 })).toBeDefined();
  });

  it('cancels a waiting turn', async () => {
    const budget = createBudget({ maxOutputTokens: 100 });
    const { models } = together(1, [{ never: ['x'] }], budget);
    const model = scriptedModel(['Done.']);
    const subscription = harness({ model })
      .pipe(guardrails({ budget }))
      .turn({ session: 'other', input: 'Go.' })
      .subscribe();
    await vi.advanceTimersByTimeAsync(100);
    subscription.unsubscribe();
    budget.cutOff('Enough.');
    expect(model.requests).toHaveLength(0);
    await vi.advanceTimersByTimeAsync(10);
    expect(models[0]?.active).toBe(0);
  });

  it('runs turns side by side while there is plenty', async () => {
    const { models } = together(3, ['Done.'], createBudget({ maxTokens: 1_000_000 }), 50);
    await vi.advanceTimersByTimeAsync(1);
    expect(models.map(({ active }) => active)).toEqual([1, 1, 1]);
    await vi.advanceTimersByTimeAsync(1000);
  });

  it('is never overrun by turns side by side that keep to maxOutputTokens, whatever they say', async () => {
    const sizes = fc.array(fc.integer({ min: 1, max: 4000 }), { minLength: 5, maxLength: 5 });
    await fc.assert(
      fc.asyncProperty(
        fc.array(sizes, { minLength: 2, maxLength: 4 }),
        fc.integer({ min: 100, max: 12_000 }),
        async (turns, maxOutputTokens) => {
          const budget = createBudget({ maxOutputTokens });
          const ended = turns.map((outputs, index) => {
            const script = outputs.map(
              (output, place): ScriptStep =>
                ({ settings }) =>
                  // What is written is no more than the one token that a request may be left with; a longer text would
                  // not keep to that.
                  costing(
                    10,
                    Math.min(output, settings.maxOutputTokens ?? 4096),
                    place === outputs.length - 1 ? 'Ok' : call('1', 'ls'),
                  ),
            );
            const model = scriptedModel(script, { delayMs: 1 + index });
            return reply(
              harness({ model, tools: scriptedTools({ ls: 'a.txt' }) })
                .pipe(guardrails({ budget }))
                .turn({ session: `s${index}`, input: 'Go.' }),
            );
          });
          await vi.advanceTimersByTimeAsync(10_000);
          await Promise.all(ended);
          expect(budget.used().outputTokens).toBeLessThanOrEqual(maxOutputTokens);
        },
      ),
      { numRuns: 40 },
    );
  });

  it('is chosen for each turn by a function', async () => {
    const budgets: Readonly<Record<string, Budget>> = { alice: createBudget({ name: 'budget of alice', maxSteps: 0 }) };
    const options = { budget: ({ session }: { readonly session: string }) => budgets[session] };
    const model = scriptedModel(['Hi', 'Hi']);
    const agent = harness({ model }).pipe(guardrails(options));
    expect(await reply(agent.turn({ session: 'alice', input: 'Hi' }))).toMatchObject({
      outcome: 'max-steps',
      reason: 'The budget of alice has made 0 of the 0 steps that it may make.',
    });
    expect(await reply(agent.turn({ session: 'bob', input: 'Hi' }))).toMatchObject({ outcome: 'completed' });
  });
});

describe('a budget that is cut off', () => {
  beforeEach(() => void vi.useFakeTimers({ now: 0 }));
  afterEach(() => void vi.useRealTimers());

  it('ends all turns that use it and rejects new ones', async () => {
    const budget = createBudget();
    const tools = scriptedTools({ ls: { never: true } });
    const model = scriptedModel([{ never: ['x'] }]);
    const busy = scriptedModel([response(call('1', 'ls'))]);
    const agents = [harness({ model, tools }), harness({ model: busy, tools })].map((made) =>
      made.pipe(guardrails({ budget: budget.share({ name: 'child' }) })),
    );
    const ended = Promise.all(agents.map((agent, index) => reply(agent.turn({ session: `s${index}`, input: 'Go.' }))));
    await vi.advanceTimersByTimeAsync(100);
    expect([model.active, tools.active]).toEqual([1, 1]);
    budget.cutOff('The operator said so.');
    for (const result of await ended) {
      expect(result).toMatchObject({
        outcome: 'budget-exceeded',
        reason: 'The budget was cut off: The operator said so.',
      });
    }
    expect([model.active, tools.active, vi.getTimerCount()]).toEqual([0, 0, 0]);
    expect(
      await reply(harness({ model }).pipe(guardrails({ budget })).turn({ session: 'late', input: 'Go.' })),
    ).toMatchObject({ outcome: 'budget-exceeded', steps: 0 });
  });

  it('does not cut off its parent', () => {
    const budget = createBudget();
    const child = budget.share();
    child.cutOff('Enough.');
    expect([child.cutOffReason, budget.cutOffReason, budget.share().cutOffReason]).toEqual([
      'Enough.',
      undefined,
      undefined,
    ]);
    child.cutOff('Again.');
    expect(child.cutOffReason).toBe('Enough.');
  });

  it('forgets the turns that have ended', async () => {
    const budget = createBudget();
    const watch = budget.watch.bind(budget);
    let watching = 0;
    const spy = vi.spyOn(budget, 'watch').mockImplementation((listener) => {
      const unwatch = watch(listener);
      watching += 1;
      return () => {
        watching -= 1;
        unwatch();
      };
    });
    expect(
      await reply(
        harness({ model: scriptedModel(['Hi']) })
          .pipe(guardrails({ budget }))
          .turn({ session: 'a', input: 'Hi' }),
      ),
    ).toMatchObject({ outcome: 'completed' });
    expect(spy).toHaveBeenCalled();
    expect(watching).toBe(0);
    expect(budget.toJSON()['tabs']).toEqual({});
    budget.cutOff('Late.');
  });

  it('reports whether it is charged for a running turn, through shares too', async () => {
    const whole = createBudget();
    const share = whole.share({ name: 'child' });
    const charged = (): readonly boolean[] =>
      [whole, share, share.share(), whole.share()].map((budget) => budget.charges('t'));
    const turn = harness({ model: scriptedModel([{ never: [] }]) })
      .pipe(guardrails({ budget: share }))
      .turn({ session: 'a', input: 'Go.', id: 't' });
    expect(charged()).toEqual([false, false, false, false]);
    const subscription = turn.subscribe();
    await vi.waitFor(() => expect(charged()).toEqual([true, true, false, false]));
    expect(share.charges('another')).toBe(false);
    subscription.unsubscribe();
    expect(charged()).toEqual([false, false, false, false]);
  });
});

describe('a share of a budget', () => {
  it('has further limits and is also spent from its parent', async () => {
    const budget = createBudget({ maxSteps: 10 });
    const child = budget.share({ name: 'researcher', maxSteps: 2 });
    const result = await run(worker(9), { budget: child, wrapUp: false });
    expect(result).toMatchObject({
      outcome: 'max-steps',
      reason: 'The researcher has made 2 of the 2 steps that it may make.',
    });
    expect([child.used().steps, budget.used().steps]).toEqual([2, 2]);
  });

  it('ends when its parent is used up', async () => {
    const budget = createBudget({ maxTokens: 100, name: 'job' });
    budget.spend({ inputTokens: 95 });
    const result = await run(worker(9), { budget: budget.share({ maxTokens: 1000, name: 'child' }), wrapUp: false });
    expect(result).toMatchObject({
      outcome: 'budget-exceeded',
      steps: 0,
      reason: expect.stringContaining('The job has used 95 of the 100 tokens') as string,
    });
  });

  it('sums up any tree of spending', () => {
    const spendings = fc.array(fc.record({ parent: fc.nat(20), spent: fc.nat(100) }), { minLength: 1, maxLength: 20 });
    fc.assert(
      fc.property(spendings, (given) => {
        const nodes: { readonly budget: Budget; readonly above: readonly number[]; total: number }[] = [
          { budget: createBudget(), above: [], total: 0 },
        ];
        for (const { parent, spent } of given) {
          const place = parent % nodes.length;
          const { budget, above } = nodes[place] as (typeof nodes)[number];
          nodes.push({ budget: budget.share(), above: [...above, place], total: 0 });
          nodes.at(-1)?.budget.spend({ inputTokens: spent });
          for (const index of [...above, place, nodes.length - 1]) {
            (nodes[index] as (typeof nodes)[number]).total += spent;
          }
        }
        for (const { budget, total } of nodes) expect(budget.used().inputTokens).toBe(total);
      }),
    );
  });

  it('reserves in its parents, and notifies their watchers on release', () => {
    const budget = createBudget({ maxCost: 1 });
    const [left, right] = [budget.share(), budget.share()];
    const reservation = left.reserve({ cost: 0.8 });
    expect([budget.reserve({ cost: 0.8 }), right.reserve({ cost: 0.8 })]).toEqual([undefined, undefined]);
    const heard = vi.fn<() => void>();
    const unwatch = right.watch(heard);
    reservation?.settle();
    expect(heard).toHaveBeenCalledTimes(1);
    expect(right.reserve({ cost: 0.8 })).toBeDefined();
    unwatch();
    left.reserve({ cost: 0.1 })?.settle();
    expect(heard).toHaveBeenCalledTimes(1);
  });

  it('names the budget whose limit is near', async () => {
    const { of } = await run([eager, eager, eager, eager], {
      budget: createBudget({ name: 'job' }).share({ name: 'child', maxSteps: 3 }),
    });
    expect(of('budget.near')).toMatchObject([{ scope: 'child', limit: 'maxSteps', used: 2, left: 1 }]);
  });
});

describe('a reservation', () => {
  it('withholds its amounts from others until it is settled', () => {
    const budget = createBudget({ maxCost: 1 });
    const reservation = budget.reserve({ cost: 0.7 });
    expect(budget.reserve({ cost: 0.7 })).toBeUndefined();
    expect(reservation?.grow({ cost: 0.4 })).toBe(false);
    expect(reservation?.grow({ cost: 0.2 })).toBe(true);
    const heard = vi.fn<() => void>();
    const unwatch = budget.watch(heard);
    reservation?.settle({ cost: 0.5 });
    reservation?.settle({ cost: 0.5 });
    expect(heard).toHaveBeenCalledTimes(1);
    unwatch();
    expect(budget.used().cost).toBe(0.5);
    expect(reservation?.grow({ cost: 0.1 })).toBe(false);
    expect(budget.reserve({ cost: 0.5 })).toBeDefined();
    expect(heard).toHaveBeenCalledTimes(1);
  });

  it('never exceeds the limit, in any order of operations', () => {
    const step = fc.record({
      amount: fc.nat(40),
      settle: fc.option(fc.record({ place: fc.nat(10), share: fc.double({ min: 0, max: 1, noNaN: true }) })),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const parent = createBudget({ maxTokens: 200 });
        const children = [parent.share({ maxTokens: 120 }), parent.share(), parent];
        const open: { amount: number; reservation: NonNullable<ReturnType<Budget['reserve']>> }[] = [];
        for (const [index, { amount, settle }] of steps.entries()) {
          const reservation = children[index % 3]?.reserve({ inputTokens: amount });
          if (reservation) open.push({ amount, reservation });
          const [ended] = settle ? open.splice(settle.place, 1) : [];
          ended?.reservation.settle({ inputTokens: Math.floor(ended.amount * (settle?.share ?? 0)) });
          const underway = open.reduce((sum, item) => sum + item.amount, 0);
          expect(parent.used().inputTokens + underway).toBeLessThanOrEqual(200);
          expect(children[0]?.used().inputTokens).toBeLessThanOrEqual(120);
        }
      }),
    );
  });

  it('is rejected if the budget was cut off', () => {
    const budget = createBudget();
    expect(budget.reserve({ steps: 1 })).toBeDefined();
    budget.cutOff('Enough.');
    expect(budget.share().reserve({ steps: 1 })).toBeUndefined();
  });
});

describe('a budget with a limit on time', () => {
  beforeEach(() => void vi.useFakeTimers({ now: 0 }));
  afterEach(() => void vi.useRealTimers());

  it('counts the time in which any of its turns runs, once', async () => {
    const budget = createBudget({ maxDurationMs: 10_000 });
    const { ended } = together(2, [{ never: ['x'] }], budget);
    await vi.advanceTimersByTimeAsync(4000);
    expect(budget.used(Date.now()).durationMs).toBe(4000);
    const { models } = together(1, [{ never: ['x'] }], budget);
    await vi.advanceTimersByTimeAsync(5999);
    expect(models[0]?.active).toBe(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(models[0]?.active).toBe(0);
    expect((await ended).map(({ outcome }) => outcome)).toEqual(['timed-out', 'timed-out']);
    await vi.advanceTimersByTimeAsync(50_000);
    expect(budget.used(Date.now()).durationMs).toBe(10_000);
  });
});

describe('a budget that is stored', () => {
  it('continues where it stopped', async () => {
    const budget = createBudget({ maxSteps: 4 });
    await run(worker(3), { budget });
    const restored = createBudget({ maxSteps: 4, restore: JSON.parse(JSON.stringify(budget)) });
    expect(restored.used()).toEqual(budget.used());
    expect(await run(worker(3), { budget: restored, wrapUp: false })).toMatchObject({ outcome: 'max-steps', steps: 1 });
  });

  it('stays cut off', () => {
    const budget = createBudget();
    budget.cutOff('Enough.');
    expect(createBudget({ restore: budget.toJSON() }).cutOffReason).toBe('Enough.');
  });

  it('rejects an invalid stored value instead of starting with nothing spent', () => {
    const stored = createBudget().toJSON();
    const counters = stored['counters'] as object;
    for (const restore of [
      null,
      7,
      JSON.stringify(createBudget()),
      [],
      { version: 2 },
      {},
      new Date(),
      { version: 1 },
      { version: 1, counters: {} },
      { counters },
      { ...stored, counters: { Steps: 5 } },
      { ...stored, counters: { ...counters, steps: -1 } },
      { ...stored, counters: { ...counters, cost: Number.NaN } },
      { ...stored, counters: { ...counters, steps: '5' } },
      { ...stored, counters: { ...counters, steps: undefined } },
      { ...stored, tabs: { a: 'b' } },
      { ...stored, tabs: { a: {} } },
      { ...stored, cutOff: 3 },
    ]) {
      expect(() => createBudget({ restore })).toThrow(InvalidOptionError);
    }
  });

  it('rejects amounts that are not positive numbers, so that a budget accepts its own state', () => {
    const budget = createBudget();
    const reservation = budget.reserve({ cost: 1 });
    for (const amounts of [{ cost: -0.3 }, { cost: Number.NaN }, { cost: Infinity }, { Cost: 1 } as never]) {
      expect(() => budget.spend(amounts)).toThrow(InvalidOptionError);
      expect(() => reservation?.settle(amounts)).toThrow(InvalidOptionError);
    }
    const tab = budget.open('a', 0);
    budget.spend({ cost: 0.1 });
    tab.spend({ cost: 0.2 });
    for (const cost of [-0.1, -0.2]) tab.spend({ cost });
    expect(createBudget({ restore: JSON.parse(JSON.stringify(budget)) }).used().cost).toBeCloseTo(0);
  });

  it('restores what every use leaves', () => {
    const amounts = fc.record({ cost: fc.double({ min: 0, max: 1e9, noNaN: true }), steps: fc.nat() });
    fc.assert(
      fc.property(fc.array(amounts), fc.array(fc.string()), (uses, turns) => {
        const budget = createBudget();
        for (const [index, use] of uses.entries()) {
          if (index % 2 === 0 || turns.length === 0) budget.spend(use);
          else budget.open(turns[index % turns.length] as string, index).spend(use);
        }
        const restored = createBudget({ restore: JSON.parse(JSON.stringify(budget)) });
        expect(JSON.stringify(restored)).toBe(JSON.stringify(budget));
      }),
    );
  });
});
