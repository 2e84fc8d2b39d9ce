import { concat, NEVER, Observable, of, Subject, throwError } from 'rxjs';
import { describe, expect, it, vi } from 'vitest';
import type { TurnEvent } from './contract/events.js';
import { harness } from './harness.js';
import { iterate } from './iterate.js';
import { event, scriptedModel } from './testing/index.js';
import type { ModelDelta } from './contract/model.js';

const delta = (
  text: string,
  more: Partial<ModelDelta> & { readonly step?: number; readonly attempt?: number } = {},
): TurnEvent => {
  const { step = 1, attempt = 1, ...rest } = more;
  return event('model.delta', { step, attempt, delta: { type: 'text', text, ...rest } as ModelDelta });
};

const collect = async (turn$: Observable<TurnEvent>): Promise<TurnEvent[]> => {
  const events: TurnEvent[] = [];
  for await (const given of iterate(turn$)) events.push(given);
  return events;
};

const textOf = (given: TurnEvent): string => (given.type === 'model.delta' ? given.delta.text : given.type);

describe('iterate', () => {
  it('yields every event of a turn in order, then ends', async () => {
    const agent = harness({ model: scriptedModel(['Hello there.']) }).pipe();
    const types = (await collect(agent.turn({ session: 's', input: 'Hi' }))).map(({ type }) => type);
    expect(types.slice(0, 3)).toEqual(['turn.start', 'session.loaded', 'history.append']);
    expect(types.at(-1)).toBe('turn.end');
  });

  it('starts with the first next(), once for every iteration', async () => {
    let subscriptions = 0;
    const turn$ = new Observable<TurnEvent>((subscriber) => {
      subscriptions += 1;
      subscriber.next(delta('a'));
      subscriber.complete();
    });
    const iterable = iterate(turn$);
    const iterator = iterable[Symbol.asyncIterator]();
    expect(subscriptions).toBe(0);
    expect(await iterator.next()).toEqual({ done: false, value: delta('a') });
    expect(await iterator.next()).toEqual({ done: true, value: undefined });
    expect(await iterator.next()).toEqual({ done: true, value: undefined });
    expect(subscriptions).toBe(1);
    for await (const given of iterable) expect(given).toEqual(delta('a'));
    expect(subscriptions).toBe(2);
  });

  it('ends the turn when the loop is left', async () => {
    const model = scriptedModel([{ never: ['a', 'b'] }]);
    const agent = harness({ model }).pipe();
    for await (const given of iterate(agent.turn({ session: 's', input: 'Hi' }))) {
      if (given.type === 'model.delta') break;
    }
    expect(model.active).toBe(0);
    expect(model.abandoned).toBe(1);
    expect(agent.running()).toEqual([]);
  });

  it('ends the turn when the loop throws', async () => {
    const left = vi.fn();
    const turn$ = new Observable<TurnEvent>((subscriber) => {
      subscriber.next(delta('a'));
      return left;
    });
    const read = async (): Promise<void> => {
      for await (const given of iterate(turn$)) throw new Error(textOf(given));
    };
    await expect(read()).rejects.toThrow('a');
    expect(left).toHaveBeenCalledOnce();
  });

  it('ends the turn on return() while next() is pending, and resolves the pending call', async () => {
    const left = vi.fn();
    const iterator = iterate(new Observable<TurnEvent>(() => left))[Symbol.asyncIterator]();
    const waiting = [iterator.next(), iterator.next()];
    expect(await iterator.return?.()).toEqual({ done: true, value: undefined });
    expect(await Promise.all(waiting)).toEqual([
      { done: true, value: undefined },
      { done: true, value: undefined },
    ]);
    expect(left).toHaveBeenCalledOnce();
    expect(await iterator.next()).toEqual({ done: true, value: undefined });
  });

  it('starts nothing after return()', async () => {
    const subscribed = vi.fn();
    const iterator = iterate(new Observable<TurnEvent>(subscribed))[Symbol.asyncIterator]();
    await iterator.return?.();
    expect(await iterator.next()).toMatchObject({ done: true });
    expect(subscribed).not.toHaveBeenCalled();
  });

  it('resolves several pending calls in order', async () => {
    const source = new Subject<TurnEvent>();
    const iterator = iterate(source)[Symbol.asyncIterator]();
    const waiting = Promise.all([iterator.next(), iterator.next(), iterator.next()]);
    source.next(delta('a'));
    source.next(delta('b'));
    source.complete();
    expect((await waiting).map(({ done, value }) => (done === true ? 'done' : textOf(value)))).toEqual([
      'a',
      'b',
      'done',
    ]);
  });

  it('throws the error of the stream once, after the events before it', async () => {
    const failing$ = concat(
      of(delta('a')),
      throwError(() => new Error('No.')),
    );
    const iterator = iterate(failing$)[Symbol.asyncIterator]();
    expect((await iterator.next()).value).toEqual(delta('a'));
    await expect(iterator.next()).rejects.toThrow('No.');
    expect(await iterator.next()).toMatchObject({ done: true });

    const source = new Subject<TurnEvent>();
    const later = iterate(source)[Symbol.asyncIterator]();
    const waiting = later.next();
    source.error(new Error('Later.'));
    await expect(waiting).rejects.toThrow('Later.');
  });
});

describe('a slow reader of iterate', () => {
  const waitingFor = async (...events: readonly TurnEvent[]): Promise<readonly string[]> => {
    const many = Array.from({ length: 1024 }, (_, index) => delta(String(index), { step: 9 }));
    const iterator = iterate(concat(of(...many, ...events), NEVER))[Symbol.asyncIterator]();
    const texts: string[] = [];
    for (let count = 0; count < many.length; count += 1) texts.push(textOf((await iterator.next()).value as TurnEvent));
    expect(texts.slice(0, 1023)).toEqual(many.slice(0, 1023).map(textOf));
    const rest: string[] = texts.slice(1023);
    for (;;) {
      const next = await Promise.race([iterator.next(), Promise.resolve(undefined)]);
      if (next === undefined) return rest;
      rest.push(textOf(next.value as TurnEvent));
    }
  };

  it('loses no text: adjacent deltas of one kind are joined', async () => {
    expect(await waitingFor(delta('a'), delta('b'), delta('c'))).toEqual(['1023', 'abc']);
  });

  it('separates deltas of different steps, attempts, kinds and ids', async () => {
    expect(await waitingFor(delta('a'), delta('b', { attempt: 2 }), delta('c', { step: 2 }))).toEqual([
      '1023',
      'a',
      'b',
      'c',
    ]);
    expect(
      await waitingFor(delta('a'), delta('b', { type: 'reasoning' }), delta('c', { type: 'reasoning', id: '1' })),
    ).toEqual(['1023', 'a', 'b', 'c']);
    const inputs = ['1', '1', '2'].map((toolCallId) => delta('x', { type: 'tool-input', toolCallId, toolName: 'ls' }));
    expect(await waitingFor(...inputs)).toEqual(['1023', 'xx', 'x']);
  });

  it('keeps the order of other events between the deltas', async () => {
    const note = event('event.ignored', { event: 'x', reason: 'y' });
    expect(await waitingFor(delta('a'), note, delta('b'), delta('c'))).toEqual(['1023', 'a', 'event.ignored', 'bc']);
  });

  it('receives single deltas while fewer than 1,024 events wait', async () => {
    const iterator = iterate(of(delta('a'), delta('b')))[Symbol.asyncIterator]();
    expect([
      textOf((await iterator.next()).value as TurnEvent),
      textOf((await iterator.next()).value as TurnEvent),
    ]).toEqual(['a', 'b']);
  });
});
