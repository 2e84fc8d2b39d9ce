import { concat, NEVER, of, Subject, VirtualTimeScheduler } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { stop } from '../contract/decisions.js';
import type { TurnEvent, TurnOperator } from '../contract/events.js';
import { harness } from '../harness.js';
import { intercept } from './intercept.js';
import { reply } from '../reply.js';
import { call, event, response, scriptedModel, scriptedTools } from '../testing/index.js';
import { marbles } from '../testing/vitest.js';

const remark = (reason: string, at = 0): TurnEvent => event('event.ignored', { event: 'x', reason }, { at });

/** Says something this long after every tool call. */
const late = (delayMs: number): TurnOperator =>
  intercept('late', ({ after, emit, now }) => ({
    observe: {
      'tool.call': ({ call: { id } }) =>
        void after(delayMs, () => emit({ type: 'event.ignored', event: id, reason: `at ${now()}` })),
    },
  }));

const toolCall = (id: string, at = 0): TurnEvent =>
  event('tool.call', { step: 1, index: 0, call: { id, name: 'ls', input: {} } }, { at });

describe('after() and emit() of an operator', () => {
  beforeEach(() => vi.useFakeTimers({ now: 1_000 }));
  afterEach(() => vi.useRealTimers());

  it('insert an event at the place of the operator, with the time of the scheduler', () => {
    const seen: string[] = [];
    const look = (name: string) =>
      intercept(name, () => ({ observe: { 'event.ignored': ({ reason }) => void seen.push(`${name}: ${reason}`) } }));
    const emitted: TurnEvent[] = [];
    concat(of(toolCall('1', 7)), NEVER)
      .pipe(look('above'), late(500), look('below'))
      .subscribe((given) => emitted.push(given));
    vi.advanceTimersByTime(499);
    expect(emitted).toHaveLength(1);
    vi.advanceTimersByTime(1);
    expect(emitted[1]).toEqual({ type: 'event.ignored', event: '1', reason: 'at 1500', turn: 'turn-1', at: 1_500 });
    expect(seen).toEqual(['below: at 1500']);
  });

  it('call back once, unless cancelled', () => {
    const calls: string[] = [];
    const operator = intercept('timers', ({ after }) => {
      after(10, () => calls.push('kept'));
      const cancel = after(10, () => calls.push('cancelled'));
      cancel();
      cancel();
      return {};
    });
    NEVER.pipe(operator).subscribe();
    vi.advanceTimersByTime(100);
    expect(calls).toEqual(['kept']);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('leave no timer when the subscriber leaves, the source ends or the operator throws', () => {
    const source = new Subject<TurnEvent>();
    for (const end of [(left: () => void) => left(), () => source.complete(), () => source.error(new Error('x'))]) {
      const subscription = source.pipe(late(500)).subscribe({ error: () => undefined });
      source.next(toolCall('1'));
      end(() => subscription.unsubscribe());
      expect(vi.getTimerCount()).toBe(0);
    }
    const broken = new Subject<TurnEvent>();
    const failing = intercept('failing', ({ after }) => ({
      observe: {
        'tool.call': () => {
          after(500, () => undefined);
          throw new Error('x');
        },
      },
    }));
    broken.pipe(failing).subscribe({ error: () => undefined });
    broken.next(toolCall('1'));
    expect(vi.getTimerCount()).toBe(0);
  });

  it('do nothing after the turn has ended', () => {
    let context:
      | {
          readonly after: (delayMs: number, callback: () => void) => () => void;
          readonly emit: (given: TurnEvent) => void;
        }
      | undefined;
    const emitted: TurnEvent[] = [];
    const subscription = NEVER.pipe(
      intercept('leak', (given) => {
        context = given;
        return {};
      }),
    ).subscribe((given) => emitted.push(given));
    subscription.unsubscribe();
    const called = vi.fn();
    context?.after(0, called)();
    context?.emit(remark('late'));
    vi.advanceTimersByTime(100);
    expect(vi.getTimerCount()).toBe(0);
    expect(called).not.toHaveBeenCalled();
    expect(emitted).toEqual([]);
  });

  it('name the operator whose timer throws', () => {
    const errors: unknown[] = [];
    const operator = intercept('timer', ({ after }) => {
      after(1, () => {
        throw new Error('Too late.');
      });
      return {};
    });
    NEVER.pipe(operator).subscribe({ error: (error: unknown) => errors.push(error) });
    vi.advanceTimersByTime(1);
    expect(errors).toEqual([
      expect.objectContaining({ operator: 'timer', message: 'The operator "timer" threw in a timer: Too late.' }),
    ]);
  });

  it('reject emit() during setup', () => {
    const errors: unknown[] = [];
    const operator = intercept('eager', ({ emit }) => {
      emit(remark('too early'));
      return {};
    });
    of(toolCall('1'))
      .pipe(operator)
      .subscribe({ error: (error: unknown) => errors.push(error) });
    expect(errors).toEqual([
      expect.objectContaining({
        message: expect.stringMatching(/"eager" failed to set up: emit\(\) was called in the setup function/) as string,
      }),
    ]);
  });

  it('keep the order of two events of a timer, whatever the first one causes', () => {
    const emitted: string[] = [];
    const echo = intercept('echo', ({ emit }) => ({
      observe: { 'event.ignored': ({ reason }) => (reason === 'first' ? emit(remark('echo of first')) : undefined) },
    }));
    const timer = intercept('timer', ({ after, emit }) => {
      after(1, () => {
        emit(remark('first'));
        emit(remark('second'));
      });
      return {};
    });
    const agent = harness({ model: scriptedModel([{ never: [] }]) }).pipe(timer, echo);
    const subscription = agent.turn({ session: 's', input: 'Hi' }).subscribe((given) => {
      if (given.type === 'event.ignored') emitted.push(given.reason);
    });
    vi.advanceTimersByTime(1);
    expect(emitted).toEqual(['first', 'second', 'echo of first']);
    subscription.unsubscribe();
  });
});

describe('an event that is inserted while another one is processed', () => {
  it('leaves after it', () => {
    const emitted: string[] = [];
    const operator = intercept('eager', ({ emit }) => ({
      observe: { 'tool.call': ({ call: { id } }) => emit(remark(`about ${id}`)) },
      decide: { 'tool.call': (given) => [given, remark('with it')] },
    }));
    of<TurnEvent>(toolCall('1'))
      .pipe(operator)
      .subscribe((given) => emitted.push(given.type === 'event.ignored' ? given.reason : given.type));
    expect(emitted).toEqual(['tool.call', 'with it', 'about 1']);
  });
});

describe('virtual time', () => {
  it('drives the timers of operators in marbles', () => {
    marbles(({ turn, expectObservable, expectSubscriptions }) => {
      const events = { a: toolCall('1'), b: toolCall('2'), x: { ...remark('at 0'), event: '1' } as TurnEvent };
      const hold = intercept('hold', ({ after }) => ({
        decide: {
          'tool.call': ({ call: { id } }) => (id === '1' ? new Promise(() => after(5, () => undefined)) : undefined),
        },
      }));
      const source = turn('a-b-|', events);
      expectObservable(source.pipe(hold), '------!').toBe('--b---', events);
      expectSubscriptions(source.subscriptions).toBe('^---!');
    });
  });

  it('drives a whole turn', async () => {
    const scheduler = new VirtualTimeScheduler(undefined, 0);
    const model = scriptedModel([response(call('1', 'ls')), 'Done.'], { delayMs: 60_000, scheduler });
    const limit = intercept('limit', ({ after, emit }) => {
      after(300_000, () => emit(stop('timed-out')));
      return {};
    });
    const agent = harness({ model, tools: scriptedTools({ ls: 'a.txt' }), scheduler }).pipe(limit);
    const seen: (readonly [type: string, at: number])[] = [];
    agent.turn({ session: 's', input: 'Hi' }).subscribe(({ type, at }) => seen.push([type, at]));
    for (let minute = 0; minute <= 4; minute += 1) {
      scheduler.maxFrames = minute * 60_000;
      scheduler.flush();
      await new Promise(setImmediate);
    }
    expect(seen.at(-1)).toEqual(['turn.end', 240_000]);
    expect(seen.filter(([type]) => type === 'model.response').map(([, at]) => at)).toEqual([120_000, 240_000]);
    expect(seen.map(([, at]) => at)).toEqual(seen.map(([, at]) => at).toSorted((left, right) => left - right));
  });

  it('ends a slow turn by the timer of an operator', async () => {
    vi.useFakeTimers();
    try {
      const limit = intercept('limit', ({ after, emit }) => ({
        observe: { 'session.loaded': () => void after(1_000, () => emit(stop('timed-out', 'A second is enough.'))) },
      }));
      const model = scriptedModel([{ never: ['Well, '] }]);
      const ended = reply(harness({ model }).pipe(limit).turn({ session: 's', input: 'Hi' }));
      await vi.advanceTimersByTimeAsync(1_000);
      expect(await ended).toMatchObject({ outcome: 'timed-out', reason: 'A second is enough.' });
      expect(model.active).toBe(0);
      expect(vi.getTimerCount()).toBe(0);
    } finally {
      vi.useRealTimers();
    }
  });
});
