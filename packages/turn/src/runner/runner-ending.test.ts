import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { slowSessions } from '../../test/slow-sessions.js';
import { expectEnded, expectSound, watch, type Watched } from '../../test/turns.js';
import { keep, notice, proceed, stop } from '../contract/decisions.js';
import type { TurnEvent, TurnOperator } from '../contract/events.js';
import { harness } from '../harness.js';
import type { DecisionInput } from '../operators/handlers.js';
import { intercept } from '../operators/intercept.js';
import type { HarnessOptions, TurnInput } from '../options.js';
import { call, failure, response, scriptedModel, scriptedTools, user, type ScriptStep } from '../testing/index.js';

beforeEach(() => {
  vi.useFakeTimers({ now: 0 });
});
afterEach(() => {
  vi.useRealTimers();
});

const many = Array.from({ length: 100 }, (): ScriptStep => 'Hello.');

interface Ended extends Watched {
  readonly model: ReturnType<typeof scriptedModel>;
  readonly sessions: ReturnType<typeof slowSessions>;
}

const run = (
  operators: readonly TurnOperator[],
  options: Partial<HarnessOptions> & {
    readonly script?: readonly ScriptStep[];
    readonly input?: Partial<TurnInput>;
  } = {},
): Ended => {
  const { script = many, input, ...rest } = options;
  const sessions = slowSessions();
  const model = scriptedModel(script);
  const watched = watch(
    harness({ model, sessions, tools: scriptedTools({ ls: 'a' }), ...rest })
      .pipe(...operators)
      .turn({ session: 'alice', input: 'Go.', ...input }),
  );
  return Object.assign(watched, { model, sessions });
};

const expectOver = (label: string, ended: Ended): void => {
  expectEnded(label, ended);
  expectSound(label, ended.sessions.journal('alice'), ended.sessions.messages('alice'));
  expect(vi.getTimerCount(), label).toBe(0);
};

const onStop = (
  decide: (event: TurnEvent & { readonly type: 'turn.stop' }, count: number) => DecisionInput,
): TurnOperator =>
  intercept('on-stop', () => {
    let count = 0;
    return { decide: { 'turn.stop': (event) => decide(event, (count += 1)) } };
  });

const never = (): Promise<undefined> => new Promise(() => undefined);

describe('instead of the end, an operator', () => {
  it('continues with another step, after its messages', async () => {
    const ended = run([
      onStop((_, count) => (count === 1 ? proceed([user('And the tests?')], 'They were not run.') : undefined)),
    ]);
    await vi.advanceTimersByTimeAsync(0);
    expectOver('', ended);
    expect(ended.end).toMatchObject({ outcome: 'completed', steps: 2 });
    expect(ended.sessions.messages('alice').map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'user',
      'assistant',
    ]);
    expect(ended.all('history.append').map(({ origin }) => origin)).toEqual([
      'input',
      'response',
      'continue',
      'response',
    ]);
  });

  it('continues without a message, for one step', async () => {
    const ended = run([onStop((_, count) => (count === 1 ? proceed([], 'Once more.') : undefined))]);
    await vi.advanceTimersByTimeAsync(0);
    expectOver('', ended);
    expect(ended.end).toMatchObject({ outcome: 'completed', steps: 2 });
  });

  it('continues after holding the stop for any time', async () => {
    const slow = onStop((_, count) =>
      count === 1
        ? new Promise((resolve) => setTimeout(() => resolve(proceed([user('More.')], 'x')), 600_000))
        : undefined,
    );
    const ended = run([slow], { closeGraceMs: 5 });
    await vi.advanceTimersByTimeAsync(599_999);
    expect(ended.isComplete).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expectOver('', ended);
    expect(ended.end).toMatchObject({ outcome: 'completed', steps: 2 });
  });

  it('adds to the messages of an operator behind it, also within a step', async () => {
    const adding = (text: string): TurnOperator =>
      intercept(text, () => ({ decide: { 'tool.result': (event) => [event, proceed([user(text)], 'x')] } }));
    const ended = run([adding('one'), adding('two')], { script: [response(call('1', 'ls')), 'Done.'] });
    await vi.advanceTimersByTimeAsync(0);
    expectOver('', ended);
    expect(ended.sessions.messages('alice').map(({ role, content }) => (role === 'user' ? content : role))).toEqual([
      'Go.',
      'assistant',
      'tool',
      'two',
      'one',
      'assistant',
    ]);
  });

  it('loses no message that is added while others are processed', async () => {
    const slow = intercept('slow', ({ emit }) => ({
      decide: {
        'turn.stop': (event) => (event.afterStep === 1 ? proceed([user('one')], 'x') : undefined),
        'history.append': (event) => {
          if (event.origin !== 'continue' || event.messages.length > 1) return undefined;
          if (event.messages[0]?.content === 'one') emit(proceed([user('two')], 'y'));
          return new Promise((resolve) => setTimeout(() => resolve(event), 5));
        },
      },
    }));
    const ended = run([slow]);
    await vi.advanceTimersByTimeAsync(100);
    expectOver('', ended);
    expect(ended.sessions.messages('alice').map(({ role, content }) => (role === 'user' ? content : role))).toEqual([
      'Go.',
      'assistant',
      'one',
      'two',
      'assistant',
    ]);
  });

  it('stores a value for the next turn of the session, and removes it', async () => {
    const counting = (value: (before: unknown) => number | null): TurnOperator =>
      intercept('counting', () => {
        let before: unknown;
        return {
          observe: { 'session.loaded': ({ state }) => void (before = state['counting']) },
          decide: { 'turn.stop': (event) => [keep('counting', value(before)), event] },
        };
      });
    const sessions = slowSessions();
    const states: unknown[] = [];
    for (const value of [
      (): number => 1,
      (before: unknown): number => Number(before) + 1,
      (): null => null,
      (): number => 7,
    ]) {
      const watched = watch(
        harness({ model: scriptedModel(['Hi.']), sessions })
          .pipe(counting(value))
          .turn({ session: 'alice', input: 'Go.' }),
      );
      await vi.advanceTimersByTimeAsync(0);
      states.push(watched.all('session.loaded')[0]?.state);
    }
    expect(states).toEqual([{}, { counting: 1 }, { counting: 2 }, {}]);
  });
});

describe('a stop that replaces an append of the runner', () => {
  it.each(['input', 'response', 'results'])(
    'ends the turn at once, with the transcript complete: %s',
    async (origin) => {
      const no = intercept('no', () => ({
        decide: { 'history.append': (event) => (event.origin === origin ? stop('blocked', 'No.') : undefined) },
      }));
      const ended = run([no], { script: [response('Let me look.', call('1', 'ls')), 'Done.'] });
      await vi.advanceTimersByTimeAsync(20);
      expectOver(origin, ended);
      expect(ended.end).toMatchObject({ outcome: 'blocked', reason: 'No.' });
    },
  );
});

describe('the cap on model calls', () => {
  it('ends a turn that keeps continuing, and no operator can reject it', async () => {
    for (const decide of [() => proceed([user('More.')], 'x'), () => proceed([], 'x')]) {
      const ended = run([onStop(decide)], { maxModelCalls: 4 });
      await vi.advanceTimersByTimeAsync(0);
      expectOver('', ended);
      expect(ended.model.requests).toHaveLength(4);
      expect(ended.end).toMatchObject({
        outcome: 'max-steps',
        reason: expect.stringMatching(/4 model calls.*maxModelCalls/) as string,
      });
    }
  });

  it('ends a turn whose tool calls never stop', async () => {
    const ended = run([], { maxModelCalls: 3, script: Array.from({ length: 9 }, () => response(call('1', 'ls'))) });
    await vi.advanceTimersByTimeAsync(0);
    expectOver('', ended);
    expect(ended.end).toMatchObject({ outcome: 'max-steps', steps: 3 });
  });

  it('keeps the stop of an operator when another one continues', async () => {
    const refuse = intercept('refuse', () => ({ decide: { 'model.request': () => stop('blocked') } }));
    const ended = run([refuse, onStop(() => proceed([user('Go on.')], 'x'))], { maxModelCalls: 10 });
    await vi.advanceTimersByTimeAsync(0);
    expectOver('', ended);
    expect(ended.model.requests).toEqual([]);
    expect(ended.end.outcome).toBe('blocked');
  });

  it('defaults to 1,000 and can be lifted', async () => {
    const endless = (): ScriptStep[] =>
      Array.from({ length: 1_005 }, (_, index) => (index < 1_003 ? response(call('1', 'ls')) : 'Done.'));
    const capped = run([], { script: endless() });
    const free = run([], { script: endless(), maxModelCalls: Infinity });
    await vi.advanceTimersByTimeAsync(0);
    expect(capped.model.requests).toHaveLength(1_000);
    expect(capped.end.outcome).toBe('max-steps');
    expect(free.end).toMatchObject({ outcome: 'completed', steps: 1_004 });
  });
});

describe('an aborted signal', () => {
  it('aborted before the start ends the turn with its operators, and opens no session', async () => {
    const seen: string[] = [];
    const look = intercept('look', () => ({ observe: { '*': ({ type }) => void seen.push(type) } }));
    const ended = run([look], { input: { signal: AbortSignal.abort('Not now.') } });
    await vi.advanceTimersByTimeAsync(0);
    expect(seen).toEqual(['turn.stop', 'turn.end']);
    expect(ended.end).toMatchObject({ outcome: 'cancelled', reason: 'Not now.', undelivered: [user('Go.')] });
    expect(ended.sessions.counts.open).toBe(0);
  });

  it.each<[string, TurnOperator]>([
    ['held', onStop(never)],
    ['turned down', onStop(() => proceed([user('No.')], 'x'))],
    [
      'turned down later',
      onStop(() => new Promise((resolve) => setTimeout(() => resolve(proceed([user('No.')], 'x')), 10))),
    ],
    ['changed into another outcome', onStop((event) => ({ ...event, reason: 'Changed.' }))],
  ])('ends the turn within the grace also when its stop is %s', async (_, operator) => {
    const controller = new AbortController();
    const ended = run([operator], {
      script: [{ never: ['Hm.'] }],
      closeGraceMs: 50,
      input: { signal: controller.signal },
    });
    await vi.advanceTimersByTimeAsync(5);
    controller.abort();
    await vi.advanceTimersByTimeAsync(50);
    expectOver('', ended);
    expect(ended.end.outcome).toBe('cancelled');
    expect(ended.model.active).toBe(0);
  });

  it('passes on its reason: an error, a string, another value, or none', async () => {
    for (const [reason, expected] of [
      [new Error('Escape.'), 'Escape.'],
      ['Bye.', 'Bye.'],
      [undefined, 'This operation was aborted'],
      [7, '7'],
    ] as const) {
      const controller = new AbortController();
      const ended = run([], { script: [{ never: [] }], input: { signal: controller.signal } });
      await vi.advanceTimersByTimeAsync(0);
      controller.abort(reason);
      await vi.advanceTimersByTimeAsync(0);
      expect(ended.end).toMatchObject({ outcome: 'cancelled', reason: expected });
    }
  });

  it('has no listener after the turn has ended', async () => {
    const { signal } = new AbortController();
    const remove = vi.spyOn(signal, 'removeEventListener');
    const ended = run([], { input: { signal } });
    await vi.advanceTimersByTimeAsync(0);
    expect(ended.end.outcome).toBe('completed');
    expect(remove).toHaveBeenCalledOnce();
  });
});

describe('the grace of a turn that is closing', () => {
  const holding = (type: 'tool.result' | 'history.append' | 'turn.end' | 'model.error'): TurnOperator =>
    intercept('holding', () => {
      let isStopping = false;
      return {
        observe: { 'turn.stop': () => void (isStopping = true) },
        decide: { [type]: () => (isStopping ? never() : undefined) },
      };
    });
  const stopping = intercept('stopping', () => ({ decide: { 'tool.call': () => stop('blocked', 'Enough.') } }));

  it.each(['tool.result', 'history.append', 'turn.end'] as const)(
    'ends it without its operators when one holds %s',
    async (type) => {
      const ended = run([stopping, holding(type)], { script: [response(call('1', 'ls'))], closeGraceMs: 300 });
      await vi.advanceTimersByTimeAsync(299);
      expect(ended.isComplete).toBe(false);
      await vi.advanceTimersByTimeAsync(1);
      expectOver(type, ended);
      expect(ended.end).toMatchObject({ outcome: 'blocked', reason: 'Enough.' });
    },
  );

  it('defaults to five seconds', async () => {
    const ended = run([holding('turn.end')], { script: ['Hello.'] });
    await vi.advanceTimersByTimeAsync(4_999);
    expect(ended.isComplete).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect(ended.end.outcome).toBe('completed');
  });

  it('is not used up by an operator that answers every ending event with another stop', async () => {
    const always = intercept('always', () => ({
      decide: {
        'tool.call': () => stop('blocked'),
        'tool.result': () => stop('error'),
        'history.append': (event) => (event.origin === 'results' ? stop('error') : undefined),
        'turn.end': () => stop('error'),
      },
    }));
    const ended = run([always], { script: [response(call('1', 'ls'))] });
    await vi.advanceTimersByTimeAsync(0);
    expectOver('', ended);
    expect(ended.end.outcome).toBe('blocked');
  });
});

describe('an operator that fails while the turn is closing', () => {
  it.each(['tool.result', 'history.append', 'model.error', 'turn.end'] as const)(
    'on %s is named all the same',
    async (type) => {
      const failing = intercept('failing', () => {
        let isStopping = false;
        return {
          observe: {
            'turn.stop': () => void (isStopping = true),
            [type]: () => {
              if (isStopping) throw new Error('Broken.');
            },
          },
        };
      });
      const stopper = intercept('stopper', ({ after, emit }) => ({
        observe: { 'model.request': () => void after(5, () => emit(stop('blocked'))) },
        decide: { 'tool.call': () => (type === 'model.error' ? undefined : stop('blocked')) },
      }));
      const ended = run([stopper, failing], {
        script: type === 'model.error' ? [{ never: [] }] : [response(call('1', 'ls'))],
      });
      await vi.advanceTimersByTimeAsync(10);
      expectOver(type, ended);
      expect(ended.end).toMatchObject({ outcome: 'error', error: { operator: 'failing' } });
    },
  );

  it('keeps the first error when several fail', async () => {
    const broken = (name: string): TurnOperator =>
      intercept(name, () => ({
        observe: {
          'turn.stop': () => {
            throw new Error(`${name} is broken.`);
          },
        },
      }));
    const first = intercept('first', () => ({
      decide: {
        'model.delta': () => {
          throw new Error('first is broken.');
        },
      },
    }));
    const ended = run([first, broken('second')]);
    await vi.advanceTimersByTimeAsync(0);
    expectOver('', ended);
    expect(ended.end.outcome).toBe('error');
    expect(ended.end.error?.message).toMatch(/is broken/);
  });

  it('emits nothing after the end', async () => {
    const late = intercept('late', ({ after, emit }) => ({
      observe: { 'turn.end': () => void after(1, () => emit(notice('event.ignored', { event: 'late', reason: 'x' }))) },
    }));
    const ended = run([late], { script: [{ error: failure('x') }] });
    await vi.advanceTimersByTimeAsync(10);
    expectOver('', ended);
    expect(ended.end.outcome).toBe('error');
  });
});
