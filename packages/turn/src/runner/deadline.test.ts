import { VirtualTimeScheduler } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { runTurn } from '../../test/turns.js';
import { harness } from '../harness.js';
import { intercept } from '../operators/intercept.js';
import type { ModelDriver } from '../contract/model.js';
import type { TurnOperator } from '../contract/events.js';
import { call, response, scriptedTools } from '../testing/index.js';
import type { ToolDriver } from '../contract/tool.js';

const limit = (ms: number): TurnOperator =>
  intercept('limit', ({ now, setDeadline }) => ({ start: () => setDeadline(now() + ms) }));

/** Runs a turn with one tool call and collects what drivers and an operator read. */
const readings = async (...operators: readonly TurnOperator[]): Promise<readonly (number | undefined)[]> => {
  const scheduler = new VirtualTimeScheduler();
  const seen: (number | undefined)[] = [];
  const model: ModelDriver = (_, { step, deadlineAt }) => {
    seen.push(deadlineAt);
    return [{ type: 'response', response: step === 1 ? response(call('1')) : response('Done.') }];
  };
  const scripted = scriptedTools({ noop: 'ok' });
  const tools: ToolDriver = {
    definitions: () => scripted.definitions(),
    run: (calls, context) => {
      seen.push(context.deadlineAt);
      return scripted.run(calls, context);
    },
  };
  const reader = intercept('reader', ({ timeLeft }) => ({
    decide: { 'tool.result': () => void seen.push(timeLeft()) },
  }));
  await runTurn(harness({ model, tools, scheduler }).pipe(...operators, reader));
  return seen;
};

describe('the deadline of a turn', () => {
  it('is absent without an operator that sets one', async () => {
    expect(await readings()).toEqual([undefined, undefined, Infinity, undefined]);
  });

  it('is the earliest of all operators, for drivers and operators', async () => {
    expect(await readings(limit(5000), limit(1000), limit(3000))).toEqual([1000, 1000, 1000, 1000]);
  });

  it('reaches operators on both sides of a native operator', async () => {
    expect(
      await readings(
        (source) => source,
        limit(1000),
        (source) => source,
      ),
    ).toEqual([1000, 1000, 1000, 1000]);
  });

  it('changes when its operator sets another, and is withdrawn by Infinity', async () => {
    const moving = intercept('moving', ({ setDeadline }) => ({
      start: () => setDeadline(1000),
      decide: {
        'tool.call': () => setDeadline(2000),
        'history.append': (event) => void (event.origin === 'results' && setDeadline(Infinity)),
      },
    }));
    expect(await readings(moving)).toEqual([1000, 2000, 2000, undefined]);
  });

  it('leaves no negative time', async () => {
    expect((await readings(limit(-5)))[2]).toBe(0);
  });

  it('rejects a time that is not a number', async () => {
    const wrong = intercept('wrong', ({ setDeadline }) => ({ start: () => setDeadline(Number.NaN) }));
    const watched = await runTurn(harness({ model: () => [] }).pipe(wrong));
    expect(watched.end).toMatchObject({ outcome: 'error', error: { operator: 'wrong' } });
    expect(watched.end.reason).toContain('setDeadline() expects milliseconds since 1970 or Infinity; received NaN.');
  });
});
