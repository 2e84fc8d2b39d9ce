import { harness, intercept, memorySessions, notice, repairHistory } from '@h/turn';
import { call, response, scriptedModel, scriptedTools } from '@h/turn/testing';
import { describeOperator } from '@h/turn/vitest';
import fc from 'fast-check';
import { lastValueFrom, toArray } from 'rxjs';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { runTurn } from '../test/turns.js';
import { hookPoints } from './check-hook.js';
import type { Hook, HookPoint } from './hook.js';
import { hooks } from './hooks.js';

describeOperator(
  () => hooks([{ name: 'gate', beforeTool: () => ({ context: 'Checked.' }), afterTool: () => ({ context: 'Ran.' }) }]),
  { changes: ['tool.call', 'tool.result'] },
);

afterEach(() => {
  vi.useRealTimers();
});

const script = () => [
  response('Let me look.', call('c1', 'bash', { command: 'ls' }), call('c2', 'bash', { command: 'ls -a' })),
  'Draft.',
  'Draft.',
  'Draft.',
  'Draft.',
];

/** Generates the behavior of a handler: valid and invalid answers, errors, rejections, hangs. */
const behaviour = fc.record({
  how: fc.constantFrom('return', 'resolve', 'throw', 'reject', 'hang'),
  what: fc.oneof(
    fc.constantFrom<unknown>(
      undefined,
      null,
      { decision: 'deny', reason: 'No.' },
      { decision: 'allow' },
      { decision: 'ask', reason: 'Sure?' },
      { input: { command: 'pwd' } },
      { context: 'Mind.' },
      { output: 'Other.' },
      { reply: 'Hello.' },
      { proceed: 'More.' },
      { proceed: [{ role: 'user', content: 'More.' }] },
      { proceed: [{}] },
      { output: { type: 'json' } },
      { request: { tail: [{}], tools: 7 } },
      { request: { model: 'm' } },
    ),
    fc.anything(),
  ),
});

const handlerOf =
  ({ how, what }: { how: string; what: unknown }) =>
  (): unknown => {
    if (how === 'throw') throw what;
    // oxlint-disable-next-line typescript/prefer-promise-reject-errors -- user code rejects with any value
    if (how === 'reject') return Promise.reject(what);
    if (how === 'hang') return new Promise(() => {});
    return how === 'resolve' ? Promise.resolve(what) : what;
  };

const hookOf = (name: string, behaviours: readonly (readonly [HookPoint, { how: string; what: unknown }])[]): Hook => ({
  name,
  timeoutMs: 3,
  ...Object.fromEntries(behaviours.map(([point, how]) => [point, handlerOf(how)])),
});

describe('generated hooks', () => {
  it('never prevent a valid transcript with one result per call', async () => {
    const behaviours = fc.array(fc.tuple(fc.constantFrom(...hookPoints), behaviour), { maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(fc.array(behaviours, { minLength: 1, maxLength: 3 }), async (all) => {
        const list = all.map((own, index) => hookOf(`hook-${index}`, own));
        const sessions = memorySessions();
        const agent = harness({ model: scriptedModel(script()), tools: scriptedTools({ bash: 'ran' }), sessions }).pipe(
          hooks(list, { approvalTimeoutMs: 3, maxSendBacks: 2 }),
        );
        const events = await lastValueFrom(agent.turn({ session: 's', input: 'Go' }).pipe(toArray()));
        const end = events.at(-1);
        expect(end).toMatchObject({
          type: 'turn.end',
          outcome: expect.stringMatching(/^(completed|replied|blocked)$/) as string,
        });
        expect(repairHistory(sessions.messages('s')).repairs).toEqual([]);
        const called = events.filter(({ type }) => type === 'tool.call').length;
        expect(events.filter(({ type }) => type === 'tool.result')).toHaveLength(called);
      }),
      { numRuns: 60 },
    );
  });

  it.each(hookPoints)('fail at %s without ending the turn, if their answer cannot be read', async (point) => {
    const unreadable = (): object => {
      const { proxy, revoke } = Proxy.revocable({}, {});
      revoke();
      return proxy;
    };
    const answers = [
      unreadable,
      () => ({
        get decision(): string {
          throw new Error('No decision.');
        },
      }),
      () => ({ output: unreadable() }),
      () => ({ request: { system: [{ content: 'x' }] } }),
      () => ({ request: { tools: [unreadable()] } }),
    ];
    for (const answer of answers) {
      const ran = await runTurn([hooks([{ name: 'odd', [point]: answer }])], { script: script() });
      expect(ran.end.outcome).not.toBe('error');
    }
  });

  it('decide by the first value of an accessor, also of a class', async () => {
    class Verdict {
      #reads = 0;
      readonly reason = 'No.';
      get decision(): 'deny' | 'allow' {
        this.#reads += 1;
        return this.#reads === 1 ? 'deny' : 'allow';
      }
    }
    const ran = await runTurn([hooks([{ name: 'odd', beforeTool: () => new Verdict() }])], {
      script: script(),
    });
    expect(ran.tools.ran).toEqual([]);
  });

  it('abort signals, clear timers and emit nothing after an unsubscription at any time', async () => {
    vi.useFakeTimers();
    const signals: AbortSignal[] = [];
    const slow = ({ signal }: { readonly signal: AbortSignal }): Promise<undefined> => {
      signals.push(signal);
      return new Promise((resolve) => setTimeout(resolve, 5, undefined));
    };
    const hook = {
      name: 'slow',
      ...Object.fromEntries(hookPoints.map((point) => [point, slow])),
      beforeTool: async (context: { readonly signal: AbortSignal }) =>
        (await slow(context)) ?? { decision: 'ask' as const, reason: 'Sure?' },
    };
    let length = Infinity;
    for (let leaveAt = 0; leaveAt <= length; leaveAt += 1) {
      let seen = 0;
      const agent = harness({
        model: scriptedModel(script(), { delayMs: 1 }),
        tools: scriptedTools({ bash: 'ran' }),
      }).pipe(hooks([hook]));
      const turn = agent.turn({ session: 's', input: 'Go' }).subscribe((event) => {
        seen += 1;
        if (event.type === 'approval.request') setTimeout(() => agent.answer(event.id, 'once'), 3);
        if (event.type === 'turn.end') length = Math.min(length, seen);
      });
      await vi.advanceTimersByTimeAsync(leaveAt * 4);
      turn.unsubscribe();
      const after = seen;
      await vi.advanceTimersByTimeAsync(10);
      expect(vi.getTimerCount(), `timers ${leaveAt * 4} ms into the turn`).toBe(0);
      expect(seen).toBe(after);
      if (leaveAt > 200) break;
    }
    expect(length).toBeLessThan(Infinity);
    expect(signals.some(({ aborted }) => aborted)).toBe(true);
  });

  it('come from the list at the start of the turn', async () => {
    const asked: string[] = [];
    const list: Hook[] = [{ name: 'a', beforeTurn: () => void asked.push('a') }];
    const operator = hooks(list);
    list.push({
      name: 'b',
      beforeTurn: () => {
        asked.push('b');
        list.length = 0;
      },
      beforeEnd: () => void asked.push('end'),
    });
    await runTurn([operator]);
    await runTurn([operator]);
    expect(asked).toEqual(['a', 'b', 'end']);
  });
});

describe('onCompaction', () => {
  it('receives notices of later operators, and emits `hook.failed` after its time limit', async () => {
    const seen: unknown[] = [];
    const list: Hook[] = [
      { name: 'slow', onCompaction: () => new Promise(() => {}) },
      { name: 'quick', onCompaction: ({ phase, details, session }) => void seen.push([phase, details, session]) },
    ];
    const compacts = intercept('compaction', () => ({
      decide: {
        'model.request': (event) => [
          notice('compaction.started' as never, { trigger: 'threshold', tokens: 9 } as never),
          event,
        ],
      },
    }));
    const ran = await runTurn([hooks(list, { observerTimeoutMs: 5 }), compacts]);
    expect(seen).toEqual([['started', { trigger: 'threshold', tokens: 9 }, 's']]);
    expect(ran.of('hook.failed')).toMatchObject([{ hook: 'slow', point: 'onCompaction', effect: 'ignored' }]);
  });
});
