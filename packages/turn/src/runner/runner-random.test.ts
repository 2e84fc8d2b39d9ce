import * as fc from 'fast-check';
import { delay, map, mergeMap, of, tap, type MonoTypeOperatorFunction } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { fakeOwnTimers, type OwnTimers } from '../../test/own-timers.js';
import { slowSessions } from '../../test/slow-sessions.js';
import { expectEnded, expectSound, watch } from '../../test/turns.js';
import { annotate, deny, keep, notice, proceed, retry, stop } from '../contract/decisions.js';
import type { TurnEvent, TurnEventType } from '../contract/events.js';
import { harness } from '../harness.js';
import type { DecisionInput, Interceptor } from '../operators/handlers.js';
import { intercept } from '../operators/intercept.js';
import { call, failure, ok, response, scriptedModel, scriptedTools, user, type ScriptStep } from '../testing/index.js';

/** What an operator may do to any event, sensible or not. */
const moves = {
  pass: () => undefined,
  annotate: (event) => annotate(event, 'x', 1),
  'add a notice': (event) => [notice('event.ignored', { event: 'x', reason: '' }), event],
  'keep a value': (event) => [event, keep('x', 1)],
  append: (event) => [event, { type: 'history.append', origin: 'x', messages: [user('Appended.')] }],
  'replace the history': (event) => [{ type: 'history.replace', origin: 'x', messages: [user('Summary.')] }, event],
  'go on': (event) => [event, proceed([user('Go on.')], 'x')],
  'go on instead': () => proceed([user('Go on.')], 'x'),
  'stop too': (event) => [event, stop('blocked')],
  'stop instead': () => stop('blocked'),
  drop: () => null,
  double: (event) => [event, event],
  throw: () => {
    throw new Error('Broken.');
  },
  hold: (event) => new Promise((resolve) => setTimeout(() => resolve(event), 2)),
  'hold as observable': (event) => of(event).pipe(delay(3)),
  'hold for ever': () => new Promise(() => undefined),
  reject: () => new Promise((_, reject) => setTimeout(() => reject(new Error('Broken.')), 1)),
  deny: (event) => (event.type === 'tool.call' ? deny(event, 'No.') : undefined),
  answer: (event) =>
    event.type === 'tool.call' ? { type: 'tool.result', step: event.step, call: event.call, ...ok('x') } : undefined,
  reply: (event) =>
    event.type === 'model.request'
      ? { type: 'model.response', step: event.step, attempt: event.attempt, ...response('Cached.', call('1', 'ls')) }
      : undefined,
  fail: (event) =>
    event.type === 'model.request' || event.type === 'model.response'
      ? { type: 'model.error', step: event.step, attempt: event.attempt, error: failure('x') }
      : undefined,
} satisfies Record<string, (event: TurnEvent) => DecisionInput>;

type Move = keyof typeof moves;

const types = [
  'turn.start',
  'session.loaded',
  'model.request',
  'model.delta',
  'model.response',
  'model.error',
  'tool.call',
  'tool.result',
  'input.received',
  'history.append',
  'history.replace',
  'turn.continue',
  'turn.stop',
  'turn.end',
] as const satisfies readonly TurnEventType[];

/** What an operator does with the first events of each type; it passes all others. */
type Plan = readonly (readonly [type: (typeof types)[number], moves: readonly Move[]])[];

const acting = (name: string, plan: Plan): Interceptor =>
  intercept(name, () => {
    const left = new Map<string, Move[]>();
    for (const [type, list] of plan) left.set(type, [...(left.get(type) ?? []), ...list]);
    const decide = (event: TurnEvent): DecisionInput => moves[left.get(event.type)?.shift() ?? 'pass'](event);
    return { decide: Object.fromEntries(types.map((type) => [type, decide])) };
  });

const retrying = (): Interceptor =>
  intercept('retrying', () => ({
    decide: { 'model.error': (event) => (event.error.code === 'again' ? retry(event) : undefined) },
  }));

const natives: Readonly<Record<string, () => MonoTypeOperatorFunction<TurnEvent>>> = {
  tap: () => tap(),
  copy: () => map((event) => ({ ...event })),
  later: () => mergeMap((event) => (event.type === 'model.delta' ? of(event) : of(event).pipe(delay(1)))),
};

const step: fc.Arbitrary<ScriptStep> = fc.oneof(
  fc.constant<ScriptStep>('Hello there.'),
  fc.constant<ScriptStep>({ error: failure('x', { code: 'again' }), after: ['Hm'] }),
  fc.constant<ScriptStep>({ cut: ['Hm'] }),
  fc
    .array(fc.tuple(fc.constantFrom('1', '2', ''), fc.constantFrom('ls', 'slow', 'broken', 'unknown')), {
      minLength: 1,
      maxLength: 3,
    })
    .chain((calls) =>
      fc.constantFrom('tool-calls' as const, 'length' as const).map((finishReason): ScriptStep => ({
        ...response('Let me.', ...calls.map(([id, name]) => call(id, name))),
        finishReason,
      })),
    ),
);

const scenario = fc.record({
  script: fc.array(step, { maxLength: 5 }),
  plans: fc.array(
    fc.array(
      fc.tuple(
        fc.constantFrom(...types),
        fc.array(fc.constantFrom(...(Object.keys(moves) as Move[])), { minLength: 1, maxLength: 3 }),
      ),
      { maxLength: 3 },
    ),
    { maxLength: 3 },
  ),
  native: fc.option(fc.constantFrom(...Object.keys(natives)), { nil: undefined }),
  driverDelayMs: fc.constantFrom(undefined, 1),
  storeDelayMs: fc.constantFrom(undefined, 1, 4),
  slowOnly: fc.option(fc.constantFrom('open', 'append', 'close'), { nil: undefined }),
  steerAt: fc.option(fc.nat(30), { nil: undefined }),
  abortAt: fc.option(fc.nat(40), { nil: undefined }),
  leaveAt: fc.option(fc.nat(60), { nil: undefined }),
});

let timers: OwnTimers;
beforeEach(() => {
  timers = fakeOwnTimers(0);
});
afterEach(() => {
  timers.restore();
});

describe('a turn, whatever its operators, drivers, store and user do', () => {
  it('ends once, with a valid transcript, and leaves nothing behind', async () => {
    const property = fc.asyncProperty(
      scenario,
      async ({ script, plans, native, driverDelayMs, storeDelayMs, slowOnly, steerAt, abortAt, leaveAt }) => {
        const sessions = slowSessions({
          delayMs: (operation) => (slowOnly === undefined || slowOnly === operation ? storeDelayMs : undefined),
        });
        const model = scriptedModel(
          [...script, 'Done.'],
          driverDelayMs === undefined ? {} : { delayMs: driverDelayMs },
        );
        const tools = scriptedTools({
          ls: 'a',
          slow: () => new Promise((resolve) => setTimeout(() => resolve('b'), 2)),
          broken: () => {
            throw new Error('No.');
          },
        });
        const operators: MonoTypeOperatorFunction<TurnEvent>[] = plans.map((plan, index) =>
          acting(`operator-${index}`, plan),
        );
        if (native !== undefined) operators.splice(1, 0, natives[native]?.() ?? tap());
        const agent = harness({ model, tools, sessions, closeGraceMs: 100, maxModelCalls: 8 }).pipe(
          retrying(),
          ...operators,
        );
        const controller = new AbortController();
        let count = 0;
        const watched = watch(agent.turn({ session: 'alice', input: 'Go.', signal: controller.signal }), () => {
          count += 1;
          if (count === steerAt) agent.steer('alice', 'Hurry.');
          if (count === abortAt) controller.abort();
          if (count === leaveAt) queueMicrotask(() => watched.subscription.unsubscribe());
        });
        await vi.advanceTimersByTimeAsync(1_000);
        const isHeld = !watched.isComplete && !watched.subscription.closed;
        // An operator may hold what it likes for as long as it likes, but not against the user.
        if (isHeld) expect(plans.flat(2).flat(), 'it waits for a person').toContain('hold for ever');
        controller.abort();
        await vi.advanceTimersByTimeAsync(1_000);
        if (!watched.subscription.closed || watched.isComplete) expectEnded('', watched);
        expect([timers.count(), model.active, tools.active, agent.running().length]).toEqual([0, 0, 0, 0]);
        expectSound('', sessions.journal('alice'), sessions.messages('alice'));
        const next = watch(
          harness({ model: scriptedModel(['Hello.']), sessions })
            .pipe()
            .turn({ session: 'alice', input: 'And now?' }),
        );
        await vi.advanceTimersByTimeAsync(1_000);
        expect(next.end.outcome).toBe('completed');
        expect(next.all('session.loaded')[0]?.repairs).toEqual([]);
      },
    );
    await timers.run(() => fc.assert(property, { numRuns: Number(process.env['RUNS'] ?? 300) }));
  });
});
