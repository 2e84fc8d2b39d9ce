import {
  concat,
  defer,
  delay,
  EMPTY,
  from,
  lastValueFrom,
  NEVER,
  Observable,
  of,
  Subject,
  throwError,
  timer,
  toArray,
} from 'rxjs';
import { describe, expect, it, vi } from 'vitest';
import { deny, notice, stop } from '../contract/decisions.js';
import { OperatorError } from '../contract/errors.js';
import type { NewEvent, TurnEvent, TurnEventOf } from '../contract/events.js';
import type { DecisionInput, Handlers } from './handlers.js';
import { intercept } from './intercept.js';
import { event } from '../testing/index.js';

const toolCall = (id: string): TurnEventOf<'tool.call'> =>
  event('tool.call', { step: 1, index: 0, call: { id, name: 'ls', input: {} } });
const text = (value: string): TurnEvent =>
  event('model.delta', { step: 1, attempt: 1, delta: { type: 'text', text: value } });
const remark = (reason: string): NewEvent => notice('event.ignored', { event: 'x', reason });

interface Seen {
  readonly events: readonly string[];
  readonly error: unknown;
  readonly isComplete: boolean;
}

/** What came out, each event by its id, text or reason. */
const open = (handlers: Handlers | (() => Handlers)) => {
  const source = new Subject<TurnEvent>();
  const seen = { events: [] as string[], error: undefined as unknown, isComplete: false };
  const subscription = source
    .pipe(intercept('test', () => (typeof handlers === 'function' ? handlers() : handlers)))
    .subscribe({
      next: (given) => seen.events.push(labelOf(given)),
      error: (error: unknown) => (seen.error = error),
      complete: () => (seen.isComplete = true),
    });
  return { source, subscription, seen: seen as Seen };
};

const labelOf = (given: TurnEvent): string => {
  if (given.type === 'tool.call') return given.denied ? `denied ${given.call.id}` : given.call.id;
  if (given.type === 'model.delta') return given.delta.text;
  return given.type === 'event.ignored' ? given.reason : given.type;
};

const onCall = (answer: (id: string) => DecisionInput): Handlers => ({
  decide: { 'tool.call': ({ call: { id } }) => answer(id) },
});
const ticks = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 0));

describe('a held event', () => {
  it('does not block other events, and leaves when its promise resolves', async () => {
    const answers = new Map<string, (decision: undefined) => void>();
    const { source, seen } = open(onCall((id) => new Promise<undefined>((resolve) => answers.set(id, resolve))));
    source.next(toolCall('1'));
    source.next(toolCall('2'));
    source.next(text('a'));
    expect(seen.events).toEqual(['a']);
    answers.get('2')?.(undefined);
    await ticks();
    answers.get('1')?.(undefined);
    await ticks();
    expect(seen.events).toEqual(['a', '2', '1']);
  });

  it.each<[string, () => DecisionInput, readonly string[]]>([
    ['a promise of undefined', () => Promise.resolve(undefined), ['1']],
    ['a promise of an event', () => Promise.resolve(deny(toolCall('1'), 'No.')), ['denied 1']],
    ['a promise of several', () => Promise.resolve([remark('a'), toolCall('1'), remark('b')]), ['a', '1', 'b']],
    [
      'a thenable',
      // oxlint-disable-next-line unicorn/no-thenable -- a promise of another library
      () => ({ then: (done: (decision: undefined) => void) => done(undefined) }) as PromiseLike<undefined>,
      ['1'],
    ],
    [
      'a thenable that answers later',
      () =>
        ({
          // oxlint-disable-next-line unicorn/no-thenable -- a promise of another library
          then: (done: (decision: undefined) => void) => void setTimeout(done, 1),
        }) as unknown as PromiseLike<undefined>,
      ['1'],
    ],
    ['an observable of undefined', () => of(undefined), ['1']],
    ['an observable of an event', () => of(deny(toolCall('1'), 'No.')), ['denied 1']],
    ['an observable of several at once', () => of([remark('a'), toolCall('1')]), ['a', '1']],
    ['an observable of several in turn', () => of(remark('a'), toolCall('1'), remark('b')), ['a', '1', 'b']],
    ['an observable that comes later', () => of(toolCall('1')).pipe(delay(1)), ['1']],
    ['an empty observable', () => EMPTY, ['1']],
    ['an observable that is empty later', () => timer(1).pipe(delay(1), () => EMPTY), ['1']],
  ])('is answered by %s', async (_, answer, expected) => {
    const { source, seen } = open(onCall(answer));
    source.next(toolCall('1'));
    source.complete();
    await vi.waitFor(() => expect(seen.isComplete).toBe(true));
    expect(seen).toEqual({ events: expected, error: undefined, isComplete: true });
  });

  it('is dropped by a promise or an observable of null if the loop does not need it', async () => {
    for (const answer of [() => Promise.resolve(null), () => of(null), () => of(null).pipe(delay(1))]) {
      const { source, seen } = open({ decide: { 'event.ignored': answer } });
      source.next(event('event.ignored', { event: 'x', reason: 'a' }));
      source.complete();
      await vi.waitFor(() => expect(seen.isComplete).toBe(true));
      expect(seen.events).toEqual([]);
    }
  });

  it('leaves in the same tick if its observable answers synchronously', () => {
    const { source, seen } = open(onCall((id) => (id === '1' ? of(remark('first'), toolCall('1')) : undefined)));
    source.next(toolCall('1'));
    source.next(toolCall('2'));
    expect(seen.events).toEqual(['first', '1', '2']);
  });

  it('is replaced by the first emission of an observable that continues', async () => {
    const later = new Subject<NewEvent>();
    const { source, seen } = open(onCall(() => concat(of(remark('asked')), later)));
    source.next(toolCall('1'));
    expect(seen.events).toEqual(['asked']);
    later.next(toolCall('1'));
    later.next(remark('more'));
    expect(seen.events).toEqual(['asked', '1', 'more']);
    source.complete();
    expect(seen.isComplete).toBe(false);
    later.complete();
    expect(seen.isComplete).toBe(true);
  });

  it('keeps the stream from completing until it has left', async () => {
    let keepPromise: ((decision: undefined) => void) | undefined;
    const { source, seen } = open(onCall(() => new Promise<undefined>((resolve) => (keepPromise = resolve))));
    source.next(toolCall('1'));
    source.complete();
    await ticks();
    expect(seen.isComplete).toBe(false);
    keepPromise?.(undefined);
    await ticks();
    expect(seen).toMatchObject({ events: ['1'], isComplete: true });
  });

  it('is not lost when it is released during another event after the source completed', async () => {
    const gate = new Subject<undefined>();
    const hold = intercept('hold', ({ after, emit }) => {
      after(1, () => emit(remark('now')));
      return onCall(() => gate);
    });
    const opener = intercept('opener', () => ({ observe: { 'event.ignored': () => gate.complete() } }));
    const events = await lastValueFrom(of<TurnEvent>(toolCall('held')).pipe(hold, opener, toArray()));
    expect(events.map(labelOf)).toEqual(['now', 'held']);
  });

  it('passes a native operator and another interceptor like a late event', async () => {
    const slow = intercept('slow', () =>
      onCall((id) => (id === '1' ? timer(5).pipe(() => of(undefined).pipe(delay(5))) : undefined)),
    );
    const after = intercept('after', () => onCall((id) => deny(toolCall(id), 'Later.')));
    const events = await lastValueFrom(
      from<TurnEvent[]>([toolCall('1'), toolCall('2')]).pipe(slow, delay(0), after, toArray()),
    );
    expect(events.map(labelOf)).toEqual(['denied 2', 'denied 1']);
  });
});

describe('an invalid answer while holding', () => {
  const failures: readonly (readonly [string, () => unknown, RegExp])[] = [
    ['a promise that is rejected', () => Promise.reject(new Error('No luck.')), /failed on tool\.call: No luck\./],
    ['an observable that fails', () => throwError(() => new Error('No luck.')), /failed on tool\.call: No luck\./],
    [
      'an observable that fails after an answer',
      () =>
        concat(
          of(undefined),
          throwError(() => new Error('No luck.')),
        ),
      /No luck\./,
    ],
    [
      'something to subscribe to that throws',
      () => ({
        subscribe: () => {
          throw new Error('No luck.');
        },
      }),
      /No luck\./,
    ],
    [
      'a thenable that throws',
      () => ({
        // oxlint-disable-next-line unicorn/no-thenable -- a promise of another library
        then: () => {
          throw new Error('No luck.');
        },
      }),
      /No luck\./,
    ],
    [
      'a promise of an invalid event',
      () => Promise.resolve('yes'),
      /answered tool\.call with "yes", which is not an event/,
    ],
    ['an observable of an invalid event', () => of(true), /answered tool\.call with true, which is not an event/],
    [
      'an observable of a list with an invalid event',
      () => of([toolCall('1'), undefined]),
      /undefined, which is not an event/,
    ],
    [
      'a promise of null for a call that needs an answer',
      () => Promise.resolve(null),
      /removed tool\.call, which the turn waits for/,
    ],
    ['an observable of a notice alone', () => of(remark('a')), /removed tool\.call, which the turn waits for/],
    ['a failure without a reason', () => throwError(() => undefined), /failed on tool\.call/],
  ];
  it.each(failures)('by %s: the operator is named', async (_, answer, message) => {
    const { source, seen } = open(onCall(answer as () => DecisionInput));
    source.next(toolCall('1'));
    await vi.waitFor(() => expect(seen.error).toBeInstanceOf(OperatorError));
    expect((seen.error as OperatorError).message).toMatch(message);
    expect((seen.error as OperatorError).operator).toBe('test');
  });

  it('unsubscribes from an observable that emitted an invalid event', async () => {
    const left = vi.fn();
    const answers = new Observable<NewEvent>((subscriber) => {
      subscriber.next(5 as unknown as NewEvent);
      return left;
    });
    const { source, seen } = open(onCall(() => answers));
    source.next(toolCall('1'));
    expect(seen.error).toBeInstanceOf(OperatorError);
    expect(left).toHaveBeenCalledOnce();
    expect(seen.events).toEqual([]);
  });

  it('fails a delta handler that answers later, and handles its rejection', async () => {
    for (const answer of [
      async () => {
        throw new Error('x');
      },
      () => of(undefined),
      () => NEVER,
    ]) {
      const { source, seen } = open({ decide: { 'model.delta': answer } });
      source.next(text('a'));
      expect((seen.error as OperatorError).message).toMatch(/Handlers of model\.delta must be synchronous/);
      expect(seen.events).toEqual([]);
    }
    await ticks();
  });

  it('fails an observe handler that answers later, and handles its rejection', async () => {
    const { source, seen } = open({
      observe: { 'tool.call': () => Promise.reject(new Error('x')) as unknown as void },
    });
    source.next(toolCall('1'));
    await ticks();
    expect((seen.error as OperatorError).message).toMatch(/the observe handler returned a promise or an observable/);
  });
});

describe('the signal of a held event', () => {
  it('is aborted when the subscriber leaves, and a later answer is ignored', async () => {
    let signal: AbortSignal | undefined;
    let keepPromise: ((decision: undefined) => void) | undefined;
    const { source, subscription, seen } = open({
      decide: {
        'tool.call': (_, context) => {
          ({ signal } = context);
          return new Promise<undefined>((resolve) => (keepPromise = resolve));
        },
      },
    });
    source.next(toolCall('1'));
    expect(signal?.aborted).toBe(false);
    subscription.unsubscribe();
    expect(signal?.aborted).toBe(true);
    keepPromise?.(undefined);
    await ticks();
    expect(seen).toEqual({ events: [], error: undefined, isComplete: false });
  });

  it('is aborted if it is first read after the end', () => {
    const contexts: { readonly signal: AbortSignal }[] = [];
    const { source, subscription } = open({ decide: { 'tool.call': (_, context) => void contexts.push(context) } });
    source.next(toolCall('1'));
    subscription.unsubscribe();
    expect(contexts[0]?.signal.aborted).toBe(true);
  });

  it('unsubscribes from the pending observable', () => {
    const left = vi.fn();
    const { source, subscription } = open(onCall(() => defer(() => new Observable<NewEvent>(() => left))));
    source.next(toolCall('1'));
    expect(left).not.toHaveBeenCalled();
    subscription.unsubscribe();
    expect(left).toHaveBeenCalledOnce();
  });

  it('does not affect an observable that stops the turn', () => {
    const { source, seen } = open(onCall(() => of(stop('blocked'))));
    source.next(toolCall('1'));
    expect(seen.events).toEqual(['turn.stop']);
  });
});
