import { concat, from, NEVER, Observable, of, Subject, take, throwError, type MonoTypeOperatorFunction } from 'rxjs';
import { describe, expect, it, vi } from 'vitest';
import { deny, proceed, stop } from '../contract/decisions.js';
import { OperatorError } from '../contract/errors.js';
import type { TurnEvent } from '../contract/events.js';
import { harness } from '../harness.js';
import type { Handlers } from './handlers.js';
import { intercept } from './intercept.js';
import { reply } from '../reply.js';
import { call, event, response, scriptedModel, scriptedTools } from '../testing/index.js';

const remark = (reason: string): TurnEvent => event('event.ignored', { event: 'x', reason });
const toolCall = (id: string): TurnEvent =>
  event('tool.call', { step: 1, index: 0, call: { id, name: 'ls', input: {} } });
const boom = (): never => {
  throw new Error('Boom.');
};

describe('the setup of an operator', () => {
  it.each([
    ['nothing', undefined, /it returned undefined\. Put parentheses around/],
    ['a promise', Promise.resolve({}), /setup\(\) returned a promise\. Make it synchronous/],
    [
      'a misspelled handler',
      { observ: {} },
      /unknown handler "observ"\. The handlers are decide, observe, start, finalize\./,
    ],
  ])('fails the turn with the fix if it returns %s', async (_, handlers, message) => {
    const agent = harness({ model: scriptedModel(['Hello.']) }).pipe(intercept('broken', () => handlers as never));
    const { outcome, error } = await reply(agent.turn({ session: 'alice', input: 'Hi' }));
    expect([outcome, error?.message]).toEqual(['error', expect.stringMatching(message)]);
  });
});

describe('finalize is called exactly once', () => {
  const run = (
    source$: Observable<TurnEvent>,
    handlers: Handlers = {},
    ...more: readonly MonoTypeOperatorFunction<TurnEvent>[]
  ): number => {
    const finalize = vi.fn();
    const operator = intercept('test', () => ({ ...handlers, finalize }));
    const stream$ = more.reduce((stream, next) => stream.pipe(next), source$.pipe(operator));
    const subscription = stream$.subscribe({ error: () => undefined });
    subscription.unsubscribe();
    subscription.unsubscribe();
    return finalize.mock.calls.length;
  };

  it.each<[string, () => number]>([
    ['when the source completes', () => run(of(remark('a')))],
    ['when the source is empty', () => run(of())],
    ['when the source fails', () => run(throwError(() => new Error('x')))],
    ['when the subscriber leaves', () => run(concat(of(remark('a')), NEVER))],
    ['when the subscriber leaves inside an event', () => run(of(remark('a'), remark('b')), {}, take(1))],
    ['when a handler throws', () => run(of(remark('a')), { decide: { 'event.ignored': boom } })],
    ['when an observer throws', () => run(of(remark('a')), { observe: { 'event.ignored': boom } })],
    ['when an event is held', () => run(of(toolCall('1')), { decide: { 'tool.call': () => NEVER } })],
    [
      'when the subscriber leaves while an event is held for ever',
      () => run(concat(of(toolCall('1')), NEVER), { decide: { 'tool.call': () => new Promise(() => undefined) } }),
    ],
  ])('%s', (_, calls) => {
    expect(calls()).toBe(1);
  });

  it('for every operator, in order, also when one of them throws', async () => {
    const finalized: string[] = [];
    const operator = (name: string, isBroken = false) =>
      intercept(name, () => ({
        finalize: () => {
          finalized.push(name);
          if (isBroken) boom();
        },
      }));
    const agent = harness({ model: scriptedModel(['Hello.']) }).pipe(operator('a'), operator('b', true), operator('c'));
    expect(await reply(agent.turn({ session: 's', input: 'Hi' }))).toMatchObject({ outcome: 'completed' });
    expect(finalized).toEqual(['a', 'b', 'c']);
  });

  it('for the operators that were set up when another setup failed', async () => {
    const finalize = vi.fn();
    const agent = harness({ model: scriptedModel(['Hello.']) }).pipe(
      intercept('sound', () => ({ finalize })),
      intercept('broken', boom),
    );
    const { outcome, error } = await reply(agent.turn({ session: 's', input: 'Hi' }));
    expect({ outcome, error }).toMatchObject({
      outcome: 'error',
      error: { operator: 'broken', message: expect.stringMatching(/failed to set up: Boom\./) as string },
    });
    expect(finalize).toHaveBeenCalledOnce();
  });

  it('also when unsubscribing from a pending answer throws', () => {
    const finalize = vi.fn();
    const held$ = new Observable<undefined>(() => boom);
    const operator = intercept('test', () => ({ finalize, decide: { 'tool.call': () => held$ } }));
    const subscription = concat(of(toolCall('1')), NEVER)
      .pipe(operator)
      .subscribe({ error: () => undefined });
    expect(() => subscription.unsubscribe()).not.toThrow();
    expect(finalize).toHaveBeenCalledOnce();
  });
});

describe('an operator that fails', () => {
  it.each<[string, Handlers, RegExp]>([
    [
      'in observe',
      { observe: { 'tool.call': boom } },
      /^The operator "test" threw while observing tool\.call: Boom\.$/,
    ],
    [
      "in observe of '*'",
      { observe: { '*': ({ type }) => (type === 'tool.call' ? boom() : undefined) } },
      /threw while observing tool\.call/,
    ],
    [
      'with a decision in observe',
      { observe: { 'tool.call': () => stop('blocked') } },
      /the observe handler returned a turn\.stop, which has no effect\. Return it from a decide handler$/,
    ],
    [
      'with a denial in observe',
      { observe: { 'tool.call': (given) => deny(given, 'No.') } },
      /the observe handler returned a tool\.call, which has no effect\. Return it from a decide handler$/,
    ],
    ['in decide', { decide: { 'tool.call': boom } }, /threw on tool\.call: Boom\./],
    [
      'with an unknown outcome',
      { decide: { 'tool.call': () => stop('stopped' as never) } },
      /an invalid turn\.stop: "outcome" must be "completed" or .* or "error"; received "stopped"$/,
    ],
    [
      'with a message that is invalid',
      { decide: { 'tool.call': (given) => [given, proceed([{ role: 'user', content: 7 as never }], 'Why?')] } },
      /an invalid turn\.continue: "messages\[0\]\.content" must be .*; received 7$/,
    ],
    [
      'with a result that lacks a member of its status',
      {
        decide: {
          'tool.call': ({ step, call: given }) =>
            ({
              type: 'tool.result',
              step,
              call: given,
              status: 'failed',
              output: { type: 'text', value: '' },
            }) as never,
        },
      },
      /an invalid tool\.result: "event\.error" is required; it must be an object/,
    ],
    [
      'with a string',
      { decide: { 'tool.call': () => 'no' as never } },
      /answered tool\.call with "no", which is not an event/,
    ],
    ['with false', { decide: { 'tool.call': () => false as never } }, /with false, which/],
    ['with an object without a type', { decide: { 'tool.call': () => ({}) as never } }, /with \{\}, which/],
    [
      'with a nested list',
      { decide: { 'tool.call': () => [[remark('a')]] as never } },
      /with \[\{.*which is not an event/s,
    ],
    [
      'by dropping a call',
      { decide: { 'tool.call': () => null } },
      /removed tool\.call, which the turn waits for; put one of tool\.call, tool\.result, turn\.stop in its place, for the call 1/,
    ],
    ['by an empty list', { decide: { 'tool.call': () => [] } }, /removed tool\.call/],
    [
      'by another call',
      { decide: { 'tool.call': (given) => ({ ...given, call: { ...given.call, id: '2' } }) } },
      /removed tool\.call.*for the call 1/,
    ],
  ])('%s is named, and the event does not leave', (_, handlers, message) => {
    const emitted: TurnEvent[] = [];
    let failure: unknown;
    from([remark('before'), toolCall('1'), remark('after')])
      .pipe(intercept('test', () => handlers))
      .subscribe({ next: (given) => emitted.push(given), error: (error: unknown) => (failure = error) });
    expect(failure).toBeInstanceOf(OperatorError);
    expect(failure).toMatchObject({
      code: 'operator-failed',
      operator: 'test',
      message: expect.stringMatching(message) as string,
    });
    expect(emitted).toEqual([remark('before')]);
  });

  it('keeps the thrown value as the cause', () => {
    const cause = new TypeError('Boom.');
    let failure: unknown;
    of(toolCall('1'))
      .pipe(intercept('test', () => ({ decide: { 'tool.call': () => Promise.reject(cause) } })))
      .subscribe({ error: (error: unknown) => (failure = error) });
    return vi.waitFor(() => expect(failure).toMatchObject({ cause }));
  });

  it('inside a turn drops the event, and the others see the turn end', async () => {
    const seen: string[] = [];
    const tools = scriptedTools({ ls: 'a' });
    const agent = harness({ model: scriptedModel([response(call('1', 'ls'))]), tools }).pipe(
      intercept('broken', () => ({ decide: { 'tool.call': boom } })),
      intercept('watching', () => ({ observe: { '*': ({ type }) => void seen.push(type) } })),
    );
    const { outcome, error } = await reply(agent.turn({ session: 's', input: 'Hi' }));
    expect({ outcome, error }).toMatchObject({
      outcome: 'error',
      error: { code: 'operator-failed', operator: 'broken' },
    });
    expect(seen).not.toContain('tool.call');
    expect(seen.slice(-4)).toEqual(['turn.stop', 'tool.result', 'history.append', 'turn.end']);
    expect(tools.ran).toEqual([]);
  });
});

describe('what the turn waits for', () => {
  const needed: readonly TurnEvent[] = [
    event('turn.start', { session: 's', input: [], trigger: 'user' }),
    event('turn.continue', { messages: [], reason: 'x' }),
    event('turn.stop', { outcome: 'blocked' }),
    event('approval.answer', { id: '1', decision: 'once' }),
    event('history.append', { origin: 'input', messages: [] }),
    toolCall('1'),
  ];
  it.each(needed.map((given) => [given.type, given] as const))('%s cannot be dropped', (_, given) => {
    let failure: unknown;
    of(given)
      .pipe(intercept('test', () => ({ decide: { [given.type]: () => null } })))
      .subscribe({ error: (error: unknown) => (failure = error) });
    expect(failure).toMatchObject({
      message: expect.stringMatching(new RegExp(`removed ${given.type}, which the turn waits for`)) as string,
    });
  });

  it.each([
    'model.delta',
    'tool.progress',
    'approval.request',
    'session.state',
    'history.replace',
    'event.ignored',
    'weather.changed',
  ])('%s may be dropped', (type) => {
    const emitted: TurnEvent[] = [];
    const source = new Subject<TurnEvent>();
    source
      .pipe(intercept('test', () => ({ decide: { [type]: () => null } })))
      .subscribe((given) => emitted.push(given));
    source.next({ type, turn: 't', at: 0 } as unknown as TurnEvent);
    expect(emitted).toEqual([]);
  });
});

describe('an operator whose handlers differ between turns', () => {
  it('handles the types of each turn, also when another setup fails', async () => {
    const seen: string[] = [];
    const note = (what: string) => (): void => void seen.push(what);
    const handlers: readonly Handlers[] = [
      { observe: { 'turn.start': note('1 starts') } },
      { observe: { 'turn.start': note('2 starts'), 'turn.end': note('2 ends') } },
      { observe: { 'turn.end': note('3 ends') }, decide: { 'model.request': note('3 asks') } },
      { decide: { '*': ({ type }) => (type === 'turn.end' ? note('4 ends')() : undefined) } },
    ];
    let turn = 0;
    const agent = harness({ model: scriptedModel(['One.', 'Three.', 'Four.']) }).pipe(
      intercept('changing', () => handlers[turn] ?? {}),
      intercept('broken', () => (turn === 1 ? boom() : {})),
    );
    for (; turn < handlers.length; turn += 1) await reply(agent.turn({ session: 's', input: 'Hi' }));
    expect(seen).toEqual(['1 starts', '2 ends', '3 asks', '3 ends', '4 ends']);
  });

  it('handles a type of an earlier setup that failed at another type', async () => {
    const asked = vi.fn();
    const request = { 'model.request': asked };
    const handlers: readonly Handlers[] = [
      {},
      { decide: { ...request, 'model.reqest': asked } as never },
      { decide: request },
    ];
    let turn = 0;
    const agent = harness({ model: scriptedModel(['One.', 'Three.']) }).pipe(
      intercept('changing', () => handlers[turn] ?? {}),
    );
    for (; turn < handlers.length; turn += 1) await reply(agent.turn({ session: 's', input: 'Hi' }));
    expect(asked).toHaveBeenCalledOnce();
  });
});
