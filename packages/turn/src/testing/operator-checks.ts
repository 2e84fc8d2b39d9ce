import { NEVER, Observable, Subject, of, throwError } from 'rxjs';
import { expect, vi } from 'vitest';
import type { TurnEvent, TurnOperator } from '../contract/events.js';
import { harness } from '../harness.js';
import { memorySessions } from '../journal/memory-sessions.js';
import { repairHistory } from '../transcript/repair.js';
import { reply } from '../reply.js';
import { call, response } from './builders.js';
import { sampleTurn } from './sample-turn.js';
import { scriptedModel } from './scripted-model.js';
import { checkReplay } from './replay-check.js';
import { scriptedTools } from './scripted-tools.js';

/** Options of `describeOperator`. */
export interface OperatorCheckOptions {
  /** Types of events that the operator may change, hold, drop or add; all others must pass unchanged. */
  readonly changes?: readonly string[] | undefined;
  /** Whether a turn of two steps completes with this operator only. @defaultValue `true` */
  readonly completes?: boolean | undefined;
}

const notPassed = 'the operator changed, held, dropped or added events; name their types in { changes: […] }';

/** One rule of the contract; `check` throws if the operator breaks it. */
export interface OperatorCheck {
  readonly name: string;
  check(factory: () => TurnOperator, options: OperatorCheckOptions): void | Promise<void>;
}

/** The conformance checks of operators, one per rule of the contract. */
export const operatorChecks: readonly OperatorCheck[] = [
  {
    name: 'passes ordinary and unknown events by identity and in order',
    check: async (factory, { changes = [] }) => {
      const isPlain = (event: TurnEvent): boolean => !changes.includes(event.type);
      const events = sampleTurn();
      const { emitted } = await play(factory(), events);
      const expected = events.filter(isPlain);
      const actual = emitted.filter(isPlain);
      expect(
        actual.map(({ type }) => type),
        notPassed,
      ).toEqual(expected.map(({ type }) => type));
      for (const [index, event] of expected.entries()) {
        expect(actual[index], `${event.type} is no longer the same object`).toBe(event);
      }
    },
  },
  {
    name: 'mutates nothing',
    check: async (factory) => {
      const events = sampleTurn().map(deepFreeze);
      const before = JSON.stringify(events);
      const { error } = await play(factory(), events);
      expect(error, 'the operator failed on frozen events').toBeUndefined();
      expect(JSON.stringify(events)).toBe(before);
    },
  },
  {
    name: 'keeps no state between subscriptions',
    check: async (factory) => {
      const operator = factory();
      const first = await play(operator, sampleTurn());
      const second = await play(operator, sampleTurn());
      expect(shape(second.emitted)).toEqual(shape(first.emitted));
      const [left, right] = interleave(operator, sampleTurn());
      const crossed = left.some(({ turn }) => turn !== 'left') || right.some(({ turn }) => turn !== 'right');
      expect(crossed, 'one subscription receives the events of another').toBe(false);
      expect(shape(right), 'two concurrent subscriptions interfere with each other').toEqual(shape(left));
    },
  },
  {
    name: 'works twice in a pipe',
    check: async (factory, { changes = [] }) => {
      const events = sampleTurn();
      const { emitted, error } = await play((source) => source.pipe(factory(), factory()), events);
      expect(error).toBeUndefined();
      const isPlain = (event: TurnEvent): boolean => !changes.includes(event.type);
      expect(emitted.filter(isPlain), notPassed).toEqual(events.filter(isPlain));
    },
  },
  {
    name: 'forwards completion and errors',
    check: async (factory) => {
      expect((await play(factory(), [])).completed, 'an empty source does not complete').toBe(true);
      const failure = new Error('the source failed');
      const errors: unknown[] = [];
      throwError(() => failure)
        .pipe(factory())
        .subscribe({ error: (error: unknown) => errors.push(error) });
      expect(errors).toEqual([failure]);
      const started = sampleTurn().slice(0, 1);
      const { completed } = await play(factory(), started);
      expect(completed, 'a source that ends early does not complete').toBe(true);
    },
  },
  {
    name: 'unsubscribes its source and leaves no timers',
    check: async (factory) => {
      for (let length = 0; length <= sampleTurn().length; length += 1) await leaveAfter(factory, length);
    },
  },
  {
    name: 'decides the same after a resume from any record',
    check: (factory) => checkReplay(factory),
  },
  {
    name: 'passes deltas synchronously',
    check: (factory) => {
      const source = new Subject<TurnEvent>();
      let seen = 0;
      const subscription = source.pipe(factory()).subscribe({
        next: (event) => {
          if (event.type === 'model.delta') seen += 1;
        },
        error: () => undefined,
      });
      let given = 0;
      for (const event of sampleTurn()) {
        source.next(event);
        if (event.type !== 'model.delta') continue;
        given += 1;
        expect(seen, 'a delta did not leave in the tick in which it arrived').toBe(given);
      }
      subscription.unsubscribe();
    },
  },
  {
    name: 'subscribes to its source once, on subscription',
    check: (factory) => {
      let subscriptions = 0;
      const source = new Observable<TurnEvent>((subscriber) => {
        subscriptions += 1;
        subscriber.complete();
      });
      const turn$ = source.pipe(factory());
      expect(subscriptions, 'the operator subscribes to its source before it has a subscriber').toBe(0);
      turn$.subscribe({ error: () => undefined });
      expect(subscriptions).toBe(1);
    },
  },
  {
    name: 'lets a turn complete with a valid transcript',
    check: async (factory, { completes = true }) => {
      if (!completes) return;
      for (const delayMs of [undefined, 1]) {
        const sessions = memorySessions();
        const model = scriptedModel([response('Let me look.', call('1', 'ls'), call('2', 'ls')), 'One file.'], {
          ...(delayMs !== undefined && { delayMs }),
        });
        const agent = harness({ model, tools: scriptedTools({ ls: 'a.txt' }), sessions }).pipe(factory());
        const { outcome, error } = await reply(agent.turn({ session: 'session-1', input: 'What is here?' }));
        expect({ outcome, error }).toEqual({ outcome: 'completed', error: undefined });
        expect(repairHistory(sessions.messages('session-1')).repairs).toEqual([]);
      }
    },
  },
];

interface Played {
  readonly emitted: readonly TurnEvent[];
  readonly completed: boolean;
  readonly error: unknown;
}

/** Sends events through an operator and waits until it emits nothing more. */
const play = async (operator: TurnOperator, events: readonly TurnEvent[]): Promise<Played> => {
  vi.useFakeTimers({ now: 0 });
  try {
    const emitted: TurnEvent[] = [];
    let completed = false;
    let error: unknown;
    const subscription = of(...events)
      .pipe(operator)
      .subscribe({
        next: (event) => emitted.push(event),
        error: (thrown: unknown) => {
          error = thrown;
        },
        complete: () => {
          completed = true;
        },
      });
    await vi.advanceTimersByTimeAsync(60_000);
    subscription.unsubscribe();
    return { emitted, completed, error };
  } finally {
    vi.useRealTimers();
  }
};

/** Sends the same events through two subscriptions of one operator, alternately. */
const interleave = (
  operator: TurnOperator,
  events: readonly TurnEvent[],
): readonly [readonly TurnEvent[], readonly TurnEvent[]] => {
  const open = ['left', 'right'].map((turn) => {
    const source = new Subject<TurnEvent>();
    const emitted: TurnEvent[] = [];
    const subscription = source
      .pipe(operator)
      .subscribe({ next: (event) => emitted.push(event), error: () => undefined });
    return { turn, source, emitted, subscription };
  });
  for (const event of events) for (const { source, turn } of open) source.next({ ...event, turn });
  for (const { subscription } of open) subscription.unsubscribe();
  const [left, right] = open.map(({ emitted }) => emitted);
  return [left ?? [], right ?? []];
};

/** Unsubscribes after `length` events and checks that all resources are released. */
const leaveAfter = async (factory: () => TurnOperator, length: number): Promise<void> => {
  vi.useFakeTimers({ now: 0 });
  try {
    let open = 0;
    let late = 0;
    const source = new Observable<TurnEvent>((subscriber) => {
      open += 1;
      for (const event of sampleTurn().slice(0, length)) subscriber.next(event);
      subscriber.add(NEVER.subscribe());
      return () => {
        open -= 1;
      };
    });
    let hasLeft = false;
    const subscription = source.pipe(factory()).subscribe({
      next: () => {
        if (hasLeft) late += 1;
      },
      error: () => undefined,
    });
    await vi.advanceTimersByTimeAsync(0);
    subscription.unsubscribe();
    hasLeft = true;
    expect(open, `the source is still subscribed to, ${length} events into the turn`).toBe(0);
    expect(vi.getTimerCount(), `timers are left, ${length} events into the turn`).toBe(0);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(late, 'events were emitted after the end').toBe(0);
  } finally {
    vi.useRealTimers();
  }
};

/** Removes the generated ids, which differ between runs. */
const shape = (events: readonly TurnEvent[]): unknown =>
  events.map((event) => {
    const { id: _id, turn: _turn, ...rest } = event as TurnEvent & { readonly id?: string };
    return rest;
  });

const deepFreeze = <Value>(value: Value): Value => {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  for (const item of Object.values(value)) deepFreeze(item);
  return value;
};
