import { take, takeUntil, Subject, tap, VirtualTimeScheduler } from 'rxjs';
import { describe, expect, it, vi } from 'vitest';
import { connect } from '../bridge.js';
import { deny, notice } from '../contract/decisions.js';
import type { TurnEvent } from '../contract/events.js';
import { intercept } from './intercept.js';
import type { PipelineOperator } from './pipeline.js';
import { call, event, request, response, sampleTurn } from '../testing/index.js';

const open = (...operators: readonly PipelineOperator[]) => {
  const scheduler = new VirtualTimeScheduler(undefined, Infinity);
  const left: TurnEvent[] = [];
  const errors: unknown[] = [];
  const connection = connect(operators, {
    turn: 'turn-7',
    onEvent: (given) => left.push(given),
    onError: (error) => errors.push(error),
    scheduler,
  });
  return { connection, left, errors, scheduler };
};
const delta = event('model.delta', { step: 1, attempt: 1, delta: { type: 'text', text: 'a' } });
const toolCall = event('tool.call', { step: 1, index: 0, call: { id: '1', name: 'rm', input: {} } });

describe('connect', () => {
  it('passes events of the host through the operators, with the turn and the time', () => {
    const guard = intercept('guard', () => ({ decide: { 'tool.call': (given) => deny(given, 'No.') } }));
    const { connection, left, scheduler } = open(guard);
    scheduler.frame = 40;
    connection.feed({ type: 'tool.call', step: 1, index: 0, call: { id: '1', name: 'rm', input: {} } });
    expect(left).toEqual([{ ...toolCall, turn: 'turn-7', at: 40, denied: { reason: 'No.' } }]);
  });

  it('passes on complete events of any type unchanged', () => {
    const { connection, left } = open();
    for (const given of sampleTurn()) connection.feed(given);
    expect(left).toEqual(sampleTurn());
  });

  it('keeps the order of events that are fed while another one is processed', () => {
    const { connection, left } = open(
      tap((given) => {
        if (given.type === 'model.request') {
          connection.feed(notice('event.ignored', { event: 'fed inside', reason: '' }));
        }
      }),
      intercept('add', () => ({
        decide: { 'model.request': (given) => [given, notice('event.ignored', { event: 'with it', reason: '' })] },
      })),
    );
    connection.feed({ type: 'model.request', step: 1, attempt: 1, ...request() });
    expect(left.map((given) => (given.type === 'event.ignored' ? given.event : given.type))).toEqual([
      'model.request',
      'with it',
      'fed inside',
    ]);
  });

  it('runs the timers of operators on the scheduler', () => {
    const slow = intercept('slow', ({ after, emit }) => ({
      observe: {
        'model.delta': () => void after(100, () => emit(notice('event.ignored', { event: 'late', reason: '' }))),
      },
    }));
    const { connection, left, scheduler } = open(slow);
    connection.feed(delta);
    expect(left).toHaveLength(1);
    scheduler.flush();
    expect(left.map(({ type, at }) => [type, at])).toEqual([
      ['model.delta', 0],
      ['event.ignored', 100],
    ]);
  });

  it('reports which operator failed, and continues with the others', () => {
    const broken = intercept('broken', () => ({ decide: { 'tool.call': () => null } }));
    const { connection, left, errors } = open(broken);
    connection.feed(toolCall);
    connection.feed(delta);
    expect(errors).toMatchObject([{ code: 'operator-failed', operator: 'broken' }]);
    expect(left).toEqual([delta]);
  });

  it('reports an operator whose setup failed', () => {
    const { errors } = open(
      intercept('unready', () => {
        throw new Error('No key.');
      }),
    );
    expect(errors).toMatchObject([
      { operator: 'unready', message: expect.stringMatching(/failed to set up: No key\./) as string },
    ]);
  });

  it('reports a native operator that fails or completes, also while an event is held', async () => {
    const failing = open(
      tap(() => {
        throw new Error('Native.');
      }),
    );
    failing.connection.feed(delta);
    expect(failing.errors).toMatchObject([{ message: 'Native.' }]);
    const completing = open(take(1));
    completing.connection.feed(delta);
    expect(completing.left).toEqual([delta]);
    expect(completing.errors).toMatchObject([{ message: 'A native RxJS operator completed the stream.' }]);
    const leave = new Subject<void>();
    const holding = open(
      takeUntil(leave),
      intercept('holding', () => ({ decide: { 'tool.call': () => new Promise(() => undefined) } })),
    );
    holding.connection.feed(toolCall);
    leave.next();
    await vi.waitFor(() => expect(holding.errors).toHaveLength(1));
  });

  it('stops the operators when it is closed, and emits nothing afterwards', async () => {
    const finalize = vi.fn();
    let keep: ((decision: undefined) => void) | undefined;
    for (const native of [[], [tap<TurnEvent>()]]) {
      const operator = intercept('operator', ({ after }) => {
        after(100, () => undefined);
        return { finalize, decide: { 'tool.call': () => new Promise<undefined>((resolve) => (keep = resolve)) } };
      });
      const { connection, left, errors, scheduler } = open(operator, ...native);
      connection.feed(toolCall);
      connection.close();
      connection.close();
      keep?.(undefined);
      connection.feed({ type: 'model.response', step: 1, attempt: 1, ...response(call('1')) });
      await new Promise((resolve) => setTimeout(resolve, 1));
      scheduler.flush();
      expect([left, errors]).toEqual([[], []]);
    }
    expect(finalize).toHaveBeenCalledTimes(2);
  });
});
