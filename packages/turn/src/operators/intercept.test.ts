import { of, Subject, toArray, type Observable } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { connect, connector } from './connect.js';
import { annotate, deny, keep, notice, proceed, retry, stop } from '../contract/decisions.js';
import type { NewEvent, TurnEvent, TurnEventOf } from '../contract/events.js';
import type { Handlers } from './handlers.js';
import { intercept } from './intercept.js';
import { event, ok, sampleTurn, user } from '../testing/index.js';

const delta = (text: string): TurnEventOf<'model.delta'> =>
  event('model.delta', { step: 1, attempt: 1, delta: { type: 'text', text } });
const toolCall = (id = '1'): TurnEventOf<'tool.call'> =>
  event('tool.call', { step: 1, index: 0, call: { id, name: 'ls', input: {} } }, { at: 7 });
const ignored = (reason: string): TurnEventOf<'event.ignored'> => event('event.ignored', { event: 'x', reason });

const through = (handlers: Handlers, ...events: readonly TurnEvent[]): readonly TurnEvent[] => {
  let result: readonly TurnEvent[] = [];
  of(...events)
    .pipe(
      intercept('test', () => handlers),
      toArray(),
    )
    .subscribe((given) => {
      result = given;
    });
  return result;
};

describe('intercept', () => {
  it('passes events without a handler by identity, in order, in the same tick', () => {
    const events = sampleTurn();
    const passed = through(
      { observe: { 'model.error': () => undefined }, decide: { 'history.replace': () => null } },
      ...events,
    );
    expect(passed.every((given, index) => given === events[index])).toBe(true);
    expect(passed).toHaveLength(events.length);
  });

  it('asks the `*` decide handler about the types without a handler, and only these', () => {
    const asked: string[] = [];
    const passed = through(
      {
        decide: {
          '*': (given) => {
            asked.push(given.type);
            return given.type === 'model.delta' ? null : undefined;
          },
          'tool.call': (given) => [given, ignored('added')],
        },
      },
      delta('a'),
      toolCall(),
      ignored('first'),
    );
    expect(asked).toEqual(['model.delta', 'event.ignored']);
    expect(passed.map(({ type }) => type)).toEqual(['tool.call', 'event.ignored', 'event.ignored']);
  });

  describe('a handler for an event type that cannot arrive', () => {
    const misspelled: readonly [string, RegExp][] = [
      ['tool.resultt', /"tool\.resultt" is not an event type\. Did you mean "tool\.result"\?/],
      ['toolResult', /Did you mean "tool\.result"\?/],
      ['tool_call', /Did you mean "tool\.call"\?/],
      ['tools.result', /Did you mean "tool\.result"\?/],
      ['model.reqeust', /Did you mean "model\.request"\?/],
      ['turn.started', /Did you mean "turn\.start"\?/],
      ['approval.requested', /Did you mean "approval\.request"\?/],
      ['event.ignore', /Did you mean "event\.ignored"\?/],
      ['finished', /Event types have two words, such as "tool\.call"/],
      ['', /"" is not an event type/],
    ];
    const tables = ['observe', 'decide'] as const;

    it.each(tables.flatMap((table) => misspelled.map(([type, message]) => [table, type, message] as const)))(
      'is refused in %s: %s',
      (table, type, message) => {
        const handlers = { [table]: { [type]: () => undefined } };
        const build = () => intercept('limit', { setup: () => undefined, ...handlers });
        expect(build).toThrow(message);
        expect(build).toThrow(expect.objectContaining({ code: 'invalid-option', option: `${table}.${type}` }));
        // With handlers of its own, the operator fails in each turn.
        const connectOwn = connector([intercept('own', () => handlers)]);
        for (const turn of ['1', '2']) {
          const failures: unknown[] = [];
          connectOwn({ turn, onEvent: () => undefined, onError: (error) => failures.push(error) }).feed(toolCall());
          expect(failures[0]).toMatchObject({ operator: 'own', message: expect.stringMatching(message) as string });
        }
      },
    );

    it.each([
      'failure-limit.near',
      'git.commit',
      'approval.remembered',
      'approval.store-failed',
      'tools.unselected',
      'session.saved',
      'budget.exceeded',
      'loop.warning',
      'tool.audit.passed',
      'model.fallback',
      'event.ignored',
      'tool.progress',
      '*',
    ])('is not that for a notice or an event of the loop: %s', (type) => {
      const handlers = { observe: { [type]: () => undefined }, decide: { [type]: () => undefined } };
      expect(() => intercept('limit', { setup: () => undefined, ...handlers })).not.toThrow();
      expect(through(handlers, toolCall())).toEqual([toolCall()]);
    });
  });

  it('refuses an unknown or invalid place', () => {
    const build = (place: object) => () => intercept('test', () => ({}), place);
    expect(build({ befor: ['tools'] })).toThrow('intercept(): unknown option "befor"');
    expect(build({ after: 'tools' })).toThrow('intercept(): "after" must be an array');
  });

  it('refuses a missing name, a missing setup and handlers that no turn would call', () => {
    const build = (name: unknown, setup: unknown) => () => intercept(name as string, setup as never);
    expect(build(() => ({}), undefined)).toThrow('intercept(): "name" must be a non-empty string');
    expect(build('test', undefined)).toThrow('intercept("test"): options must be an object; received undefined.');
    expect(build('test', { observe: {} })).toThrow('intercept("test"): "setup" is required');
    expect(build('test', { setup: () => 1, observes: {} })).toThrow('Did you mean "observe"?');
  });

  it('runs setup once for every subscription, and not before', () => {
    let setups = 0;
    const operator = intercept('test', () => {
      setups += 1;
      return {};
    });
    const turn$ = of(delta('a')).pipe(operator);
    expect(setups).toBe(0);
    turn$.subscribe();
    turn$.subscribe();
    expect(setups).toBe(2);
  });

  it('separates the state of concurrent subscriptions', () => {
    const operator = intercept('count', () => {
      let count = 0;
      return { decide: { 'event.ignored': (given) => ({ ...given, reason: String((count += 1)) }) } };
    });
    const seen: string[] = [];
    const sources = [new Subject<TurnEvent>(), new Subject<TurnEvent>()] as const;
    for (const source of sources) {
      source.pipe(operator).subscribe((given) => seen.push((given as TurnEventOf<'event.ignored'>).reason));
    }
    for (const source of [sources[0], sources[1], sources[0], sources[1]]) source.next(ignored('?'));
    expect(seen).toEqual(['1', '1', '2', '2']);
  });
});

describe('observe', () => {
  it("sees its type, and with '*' every type first, deltas and unknown ones included", () => {
    const seen: string[] = [];
    const unknown = { type: 'weather.changed', turn: 'turn-1', at: 0 } as unknown as TurnEvent;
    through(
      {
        observe: {
          '*': ({ type }) => void seen.push(`* ${type}`),
          'tool.call': ({ call: { id } }) => void seen.push(`call ${id}`),
        },
      },
      delta('a'),
      toolCall('9'),
      unknown,
    );
    expect(seen).toEqual(['* model.delta', '* tool.call', 'call 9', '* weather.changed']);
  });

  it('sees events as they left, and no dropped ones', () => {
    const seen: unknown[] = [];
    const operators = [
      intercept('above', () => ({ observe: { '*': (given) => void seen.push(given) } })),
      intercept('below', () => ({
        decide: {
          'tool.call': (given) => [deny(given, 'No.'), ignored('added below')],
          'tool.progress': () => null,
        },
      })),
    ];
    const left: TurnEvent[] = [];
    const connection = connect(operators, {
      turn: 'turn-1',
      onEvent: (given) => left.push(given),
      onError: (error) => {
        throw error;
      },
    });
    connection.feed(toolCall('1'));
    connection.feed({ type: 'tool.progress', step: 1, call: toolCall('1').call, progress: 1 });
    expect(seen).toEqual(left);
    expect(seen).toMatchObject([{ type: 'tool.call', denied: { reason: 'No.' } }, { type: 'event.ignored' }]);
    connection.close();
  });

  it('ignores the return value', () => {
    const given = delta('a');
    expect(through({ observe: { 'model.delta': () => null as unknown as void } }, given)).toEqual([given]);
    expect(through({ observe: { 'model.delta': () => 5 as unknown as void } }, given)[0]).toBe(given);
  });

  it('ignores inherited handlers', () => {
    const odd = ['toString', 'constructor', '__proto__', 'hasOwnProperty', '*'].map(
      (type) => ({ type, turn: 't', at: 0 }) as unknown as TurnEvent,
    );
    expect(through({ observe: {}, decide: {} }, ...odd)).toEqual(odd);
  });
});

describe('decide', () => {
  const answers: readonly (readonly [
    name: string,
    answer: unknown,
    given: TurnEvent,
    expected: readonly Partial<TurnEvent>[],
  ])[] = [
    ['passes for undefined', undefined, delta('a'), [delta('a')]],
    ['replaces by an event', delta('b'), delta('a'), [delta('b')]],
    ['replaces by an event of another type', ignored('b'), delta('a'), [ignored('b')]],
    [
      'puts several in the place, in order',
      [ignored('1'), delta('b'), ignored('2')],
      delta('a'),
      [ignored('1'), delta('b'), ignored('2')],
    ],
    ['drops for null', null, delta('a'), []],
    ['drops for an empty array', [], delta('a'), []],
    [
      'stops',
      stop('blocked', 'Why.'),
      toolCall(),
      [{ type: 'turn.stop', outcome: 'blocked', reason: 'Why.', turn: 'turn-1', at: 7 }],
    ],
    ['denies', deny(toolCall(), 'No.', 'me'), toolCall(), [{ ...toolCall(), denied: { reason: 'No.', by: 'me' } }]],
  ];
  it.each(answers)('%s', (_, answer, given, expected) => {
    expect(through({ decide: { [given.type]: () => answer } }, given)).toEqual(expected);
  });

  it('adds the turn and the time of the answered event to an event without envelope', () => {
    const given = event(
      'model.delta',
      { step: 1, attempt: 1, delta: { type: 'text', text: 'a' } },
      { turn: 'turn-8', at: 42 },
    );
    const answered = through(
      { decide: { 'model.delta': () => [notice('event.ignored', { event: 'x', reason: 'y' }), stop('error')] } },
      given,
    );
    expect(answered).toMatchObject([
      { turn: 'turn-8', at: 42 },
      { turn: 'turn-8', at: 42 },
    ]);
  });

  it('completes a partial envelope', () => {
    const partial = { ...notice('event.ignored', { event: 'x', reason: 'y' }), turn: 'turn-8' } as NewEvent;
    expect(
      through(
        { decide: { 'event.ignored': () => partial } },
        event('event.ignored', { event: 'a', reason: 'b' }, { at: 42 }),
      ),
    ).toMatchObject([{ event: 'x', turn: 'turn-8', at: 42 }]);
  });

  it('adds events that only the operators behind it decide about', () => {
    const seen: string[] = [];
    const look = (name: string) =>
      intercept(name, () => ({
        decide: {
          'tool.call': () => void seen.push(`${name} tool.call`),
          'turn.stop': () => void seen.push(`${name} turn.stop`),
        },
      }));
    const insert = intercept('insert', () => ({ decide: { 'tool.call': (given) => [given, stop('blocked')] } }));
    of<TurnEvent>(toolCall()).pipe(look('before'), insert, look('after')).subscribe();
    expect(seen).toEqual(['before tool.call', 'after tool.call', 'after turn.stop']);
  });
});

describe('the helpers for decisions', () => {
  it('keep the first reason of a call that is denied twice', () => {
    const denied = deny(toolCall(), 'First.', 'one');
    expect(deny(denied, 'Second.', 'two')).toBe(denied);
    expect(deny(toolCall(), 'No.').denied).toEqual({ reason: 'No.' });
  });

  it('omit absent members', () => {
    expect(stop('blocked')).toEqual({ type: 'turn.stop', outcome: 'blocked' });
    expect(stop('error', 'Why.', { name: 'Error', message: 'x' })).toEqual({
      type: 'turn.stop',
      outcome: 'error',
      reason: 'Why.',
      error: { name: 'Error', message: 'x' },
    });
  });

  it('create notices, continuations, stored values and retries', () => {
    expect(notice('event.ignored', { event: 'a', reason: 'b' })).toEqual({
      type: 'event.ignored',
      event: 'a',
      reason: 'b',
    });
    expect(proceed([user('More.')], 'Unfinished.')).toEqual({
      type: 'turn.continue',
      messages: [user('More.')],
      reason: 'Unfinished.',
    });
    expect(keep('mine', { a: 1 })).toEqual({ type: 'session.state', key: 'mine', value: { a: 1 } });
    const error = event('model.error', { step: 3, attempt: 2, error: { name: 'Error', message: 'Busy.' } });
    expect(retry(error)).toEqual({ ...error, retrying: true });
  });

  it('annotate a copy and keep other annotations', () => {
    const result = event('tool.result', { step: 1, call: { id: '1', name: 'ls', input: {} }, ...ok('a') });
    const once = annotate(result, 'one', 1);
    const twice = annotate(once, 'two', { b: 2 });
    expect(result.annotations).toBeUndefined();
    expect(once.annotations).toEqual({ one: 1 });
    expect(twice).toEqual({ ...result, annotations: { one: 1, two: { b: 2 } } });
    const seen: unknown[] = [];
    const stream$: Observable<TurnEvent> = of<TurnEvent>(result).pipe(
      intercept('write', () => ({ decide: { 'tool.result': (given) => annotate(given, 'hash', 'abc') } })),
      intercept('read', () => ({ observe: { 'tool.result': ({ annotations }) => void seen.push(annotations) } })),
    );
    stream$.subscribe();
    expect(seen).toEqual([{ hash: 'abc' }]);
  });
});
