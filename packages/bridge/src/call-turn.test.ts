import { intercept, stop, type Decision, type PipelineOperator, type TurnEvent } from '@h/turn';
import { setImmediate } from 'node:timers/promises';
import fc from 'fast-check';
import { EMPTY, NEVER, tap } from 'rxjs';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { bridge } from './bridge.js';
import type { HostToolCall } from './host.js';

const format = { read: (message: never) => message, write: (message: never) => [message] };

/** Makes a call whose model answer the process has not seen, and records what the operators observe. */
const single = (operators: readonly PipelineOperator[], given: Partial<HostToolCall<string>> = {}) => {
  const seen: TurnEvent[] = [];
  let ends = 0;
  const observer = intercept('observer', () => ({
    observe: { '*': (event) => void seen.push(event) },
    finalize: () => void (ends += 1),
  }));
  const session = bridge([...operators, observer], { host: 'Test', format }).session('alice');
  const run = vi.fn<HostToolCall<string>['run']>(() =>
    Promise.resolve({ outcome: { status: 'ok', output: { type: 'text', value: 'done' } }, value: 'original' }),
  );
  const call = { id: 'call-1', name: 'write', input: { path: 'a' }, run, ...given };
  return { session, call, run, types: () => seen.map(({ type }) => type), seen, ends: () => ends };
};

const onCall = (decision: () => Decision | Promise<Decision>): PipelineOperator =>
  intercept('decider', () => ({ decide: { 'tool.call': () => decision() } }));

afterEach(() => vi.useRealTimers());

describe('a call in a separate turn', () => {
  it('passes the operators as a turn without a model call', async () => {
    const { session, call, types, seen, ends } = single([]);
    const { outcome, returned } = await session.tool(call);
    expect(outcome.output).toEqual({ type: 'text', value: 'done' });
    expect(returned).toEqual({ value: 'original' });
    expect(types()).toEqual(['turn.start', 'session.loaded', 'tool.call', 'tool.result', 'turn.stop', 'turn.end']);
    expect(seen.at(-1)).toMatchObject({ outcome: 'completed' });
    expect(new Set(seen.map(({ turn }) => turn)).size).toBe(1);
    expect(ends()).toBe(1);
  });

  it('answers a call before the tool runs if an operator stops the turn, fails, or the input is too deep', async () => {
    let deep: unknown = 1;
    for (let level = 0; level < 100_000; level += 1) deep = [deep];
    const cases: readonly (readonly [PipelineOperator, Partial<HostToolCall<string>>, string, RegExp])[] = [
      [onCall(() => stop('budget-exceeded', 'Too many.')), {}, 'cancelled', /before it ran: Too many\./],
      [
        onCall(() => {
          throw new Error('Broken.');
        }),
        {},
        'cancelled',
        /decider.* threw on tool\.call: Broken\./,
      ],
      [onCall(() => Promise.reject(new Error('Late.'))), {}, 'cancelled', /failed on tool\.call: Late\./],
      [onCall(() => undefined), { input: deep }, 'invalid-input', /more than 500 levels/],
    ];
    for (const [operator, given, status, text] of cases) {
      const { session, call, run, types, ends } = single([operator], given);
      const { outcome } = await session.tool(call);
      expect(outcome.status).toBe(status);
      expect(JSON.stringify(outcome.output)).toMatch(text);
      expect(run).not.toHaveBeenCalled();
      expect(types().at(-1)).toBe('turn.end');
      expect(ends()).toBe(1);
    }
  });

  it('rejects with TurnStoppedError if an operator ends the turn before the call', async () => {
    const blocked = intercept('lock', () => ({ decide: { 'turn.start': () => stop('blocked', 'Closed.') } }));
    const { session, call, run, ends } = single([blocked]);
    await expect(session.tool(call)).rejects.toMatchObject({ code: 'turn-stopped', outcome: 'blocked' });
    const broken = single([
      intercept('setup', () => {
        throw new Error('No setup.');
      }),
    ]);
    await expect(broken.session.tool(broken.call)).rejects.toThrow(/No setup\./);
    expect(run).not.toHaveBeenCalled();
    expect(ends()).toBe(1);
  });

  it('aborts the tool when the host cancels its call, and reports that it may have taken effect', async () => {
    const abort = new AbortController();
    let signal: AbortSignal | undefined;
    const { session, call } = single([], {
      signal: abort.signal,
      run: (_call, own) => {
        signal = own;
        abort.abort();
        return new Promise(() => undefined);
      },
    });
    const { outcome } = await session.tool(call);
    expect(signal?.aborted).toBe(true);
    expect(outcome).toMatchObject({ status: 'cancelled' });
    expect(JSON.stringify(outcome.output)).toContain('may have been running');
  });

  it('ends without operators that fail twice, complete the stream, or hold its last events', async () => {
    vi.useFakeTimers();
    const failing = intercept('failing', () => ({
      decide: {
        'tool.call': () => {
          throw new Error('First.');
        },
        'turn.stop': () => {
          throw new Error('Second.');
        },
      },
    }));
    const completing: PipelineOperator = () => EMPTY;
    const silent: PipelineOperator = () => NEVER;
    const holding = intercept('holding', () => ({
      decide: {
        'tool.call': () => stop('blocked', 'No.'),
        'tool.result': () => new Promise<undefined>(() => undefined),
      },
    }));
    for (const operator of [failing, completing, silent, holding]) {
      const abort = new AbortController();
      const { session, call, run, ends } = single([operator], { signal: abort.signal });
      const settled = session.tool(call).then(
        ({ outcome }) => outcome.status,
        (error: Error) => error.name,
      );
      if (operator === silent) abort.abort();
      await vi.advanceTimersByTimeAsync(5_000);
      expect(['cancelled', 'OperatorError', 'TurnError', 'TurnStoppedError']).toContain(await settled);
      expect(run).not.toHaveBeenCalled();
      expect(vi.getTimerCount()).toBe(0);
      expect(ends()).toBeLessThanOrEqual(1);
    }
  });

  it('has exactly one result, and ends once, whatever the operators do', () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.record({
            type: fc.constantFrom('turn.start', 'session.loaded', 'tool.call', 'tool.result', 'turn.stop', 'turn.end'),
            act: fc.constantFrom('throw', 'reject', 'stop', 'wait', 'duplicate', 'pass'),
          }),
          { maxLength: 5 },
        ),
        async (faults) => {
          const operators = faults.map(({ type, act }, index) =>
            intercept(`fault-${index}`, () => ({ decide: { [type]: (event: TurnEvent) => perform(act, event) } })),
          );
          let closes = 0;
          const counting = tap<TurnEvent>({ unsubscribe: () => (closes += 1) });
          const { session, call, run, types } = single([...operators, counting]);
          const answers = await Promise.allSettled([session.tool(call)]);
          // Operators that wait hold the last events of the turn for a few microtasks.
          await setImmediate();
          expect(answers).toHaveLength(1);
          expect(run.mock.calls.length).toBeLessThanOrEqual(1);
          expect(types().filter((type) => type === 'tool.result').length).toBeLessThanOrEqual(1);
          expect(types().filter((type) => type === 'turn.end').length).toBeLessThanOrEqual(1);
          expect(closes).toBe(1);
        },
      ),
      { numRuns: 150 },
    ));
});

const perform = (act: string, event: TurnEvent): Decision | Promise<Decision> => {
  switch (act) {
    case 'throw':
      throw new Error('Fault.');
    case 'reject':
      return Promise.reject(new Error('Fault.'));
    case 'stop':
      return event.type === 'turn.end' ? undefined : stop('error', 'Fault.');
    case 'wait':
      return Promise.resolve(undefined);
    case 'duplicate':
      return [event, event];
    default:
      return undefined;
  }
};
