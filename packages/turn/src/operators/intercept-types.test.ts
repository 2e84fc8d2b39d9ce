import { EMPTY, takeUntil, tap, timer, type MonoTypeOperatorFunction, type Observable } from 'rxjs';
import { describe, expect, expectTypeOf, it } from 'vitest';
import {
  harness,
  intercept,
  iterate,
  notice,
  reply,
  stop,
  type Agent,
  type Reply,
  type TurnEvent,
  type TurnEventOf,
  type TurnOperator,
} from '@h/turn';
import { scriptedModel } from '@h/turn/testing';

declare module '@h/turn' {
  interface TurnEvents {
    'types-test.measured': { readonly metres: number };
  }
}

describe('an event that a package adds by declaration merging', () => {
  it('is typed in handlers, in decisions and in subscribe', async () => {
    const seen: number[] = [];
    const measure = intercept('measure', () => ({
      observe: {
        'types-test.measured': (event) => {
          expectTypeOf(event.metres).toEqualTypeOf<number>();
          expectTypeOf(event.turn).toEqualTypeOf<string>();
        },
        '*': (event) => expectTypeOf(event).toEqualTypeOf<TurnEvent>(),
      },
      decide: {
        'turn.stop': (event) => {
          expectTypeOf(event).toEqualTypeOf<TurnEventOf<'turn.stop'>>();
          return [notice('types-test.measured', { metres: 3 }), event];
        },
        'types-test.measured': (event, { signal }) => {
          expectTypeOf(signal).toEqualTypeOf<AbortSignal>();
          return { ...event, metres: event.metres + 1 };
        },
      },
    }));
    const look = intercept('look', () => ({
      decide: { 'types-test.measured': ({ metres }) => (metres > 100 ? stop('blocked') : undefined) },
    }));
    await new Promise<void>((resolve) => {
      harness({ model: scriptedModel(['Hi.']) })
        .pipe(measure, measure, look)
        .turn({ session: 's', input: 'Hi' })
        .subscribe({
          next: (event) => {
            if (event.type === 'types-test.measured') seen.push(event.metres);
          },
          complete: resolve,
        });
    });
    expect(seen).toEqual([4, 3]);
  });

  it('rejects other members and types', () => {
    // @ts-expect-error -- its field has another type
    notice('types-test.measured', { metres: 'three' });
    // @ts-expect-error -- there is no such event
    notice('types-test.unheard-of', {});
    // @ts-expect-error -- handlers exist for known events only
    intercept('wrong', () => ({ observe: { 'types-test.unheard-of': () => undefined } }));
    // @ts-expect-error -- an answer is an event
    intercept('wrong', () => ({ decide: { 'turn.stop': () => 5 } }));
    // @ts-expect-error -- no such outcome
    stop('happy');
    expectTypeOf<TurnEvent['type']>().toExtend<string>();
    expect(notice('types-test.measured', { metres: 3 })).toEqual({ type: 'types-test.measured', metres: 3 });
  });
});

describe('a pipe', () => {
  it('accepts any number of interceptors and RxJS operators and returns an agent', () => {
    const ours = intercept('ours', () => ({}));
    const agent = harness({ model: scriptedModel([]) }).pipe(
      ours,
      tap((event) => expectTypeOf(event).toEqualTypeOf<TurnEvent>()),
      takeUntil(timer(1_000)),
      ours,
      ...Array.from({ length: 20 }, () => ours),
    );
    expectTypeOf(agent).toEqualTypeOf<Agent>();
    expectTypeOf(agent.turn).returns.toEqualTypeOf<Observable<TurnEvent>>();
    expectTypeOf(ours).toExtend<TurnOperator>();
    expectTypeOf<TurnOperator>().toEqualTypeOf<MonoTypeOperatorFunction<TurnEvent>>();
    expect(agent.operators).toHaveLength(24);
    // @ts-expect-error -- an operator of something else
    harness({ model: scriptedModel([]) }).pipe(tap((event: number) => event));
  });

  it('has typed helpers', async () => {
    const ended = reply(EMPTY);
    expectTypeOf(ended).toEqualTypeOf<Promise<Reply>>();
    expect(await ended).toEqual({
      text: '',
      outcome: 'cancelled',
      usage: expect.anything() as unknown,
      steps: 0,
      messages: [],
    });
    for await (const event of iterate(EMPTY)) expectTypeOf(event).toEqualTypeOf<TurnEvent>();
  });
});
