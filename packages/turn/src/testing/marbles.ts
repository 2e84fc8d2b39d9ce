import type { Observable } from 'rxjs';
import { TestScheduler, type RunHelpers } from 'rxjs/testing';
import { expect } from 'vitest';
import type { TurnEvent } from '../contract/events.js';

/** Helpers of a marble test. */
export interface TurnMarbles extends RunHelpers {
  /** The scheduler of the virtual time, for options that take one. */
  readonly scheduler: TestScheduler;
  /** Creates a stream from a marble diagram: each letter is the event of that name. */
  turn(
    marbles: string,
    events: Readonly<Record<string, TurnEvent>>,
  ): ReturnType<RunHelpers['cold']> & Observable<TurnEvent>;
}

/**
 * Runs a marble test in virtual time.
 *
 * @example
 * ```ts
 * marbles(({ turn, expectObservable }) => {
 *   const events = { a: event('model.delta', { step: 1, attempt: 1, delta: { type: 'text', text: 'Hi' } }) };
 *   expectObservable(turn('a-a|', events).pipe(operator())).toBe('a-a|', events);
 * });
 * ```
 */
export const marbles = <Result>(test: (helpers: TurnMarbles) => Result): Result => {
  const scheduler = new TestScheduler((actual, expected) => {
    expect(actual).toEqual(expected);
  });
  return scheduler.run((helpers) =>
    test({
      ...helpers,
      scheduler,
      turn: (drawing, events) => helpers.cold<TurnEvent>(drawing, { ...events }),
    }),
  );
};
