import { AsyncLocalStorage } from 'node:async_hooks';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { settled } from '../../test/settled.js';
import { silent, timed } from '../../test/timed-lanes.js';
import type { LaneListener, LaneLease } from '../contract.js';
import { LaneTimeoutError, type LaneError } from '../errors.js';
import { createLanes } from './lanes.js';

/** A task that ends on demand. */
const open = () => {
  let finish: (value: string) => void = () => undefined;
  let fail: (error: Error) => void = () => undefined;
  const result = new Promise<string>((resolve, reject) => {
    finish = resolve;
    fail = reject;
  });
  const state: { lease: LaneLease | undefined } = { lease: undefined };
  return {
    state,
    finish: (value = 'done') => finish(value),
    fail: (error: Error) => fail(error),
    task: (lease: LaneLease) => {
      state.lease = lease;
      return result;
    },
  };
};

const codeOf = async (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => 'resolved',
    (error: unknown) => (error as LaneError).code ?? error,
  );

describe('lanes.run', () => {
  it('runs the tasks of a session one at a time, in order', async () => {
    const lanes = createLanes();
    const seen: string[] = [];
    const task = (name: string) => async () => {
      seen.push(`${name} begins`);
      await Promise.resolve();
      seen.push(`${name} ends`);
      return name;
    };
    expect(await Promise.all(['a', 'b', 'c'].map((name) => lanes.run('alice', task(name))))).toEqual(['a', 'b', 'c']);
    expect(seen).toEqual(['a begins', 'a ends', 'b begins', 'b ends', 'c begins', 'c ends']);
  });

  it('never lets a busy session use the slots of others', async () => {
    const lanes = createLanes({ concurrency: 2 });
    const [first, second, other] = [open(), open(), open()];
    void lanes.run('alice', first.task);
    void lanes.run('alice', second.task);
    void lanes.run('bob', other.task);
    expect([first, second, other].map(({ state }) => state.lease !== undefined)).toEqual([true, false, true]);
    first.finish();
    other.finish();
    await settled();
    second.finish();
    await lanes.idle();
  });

  it('requests a slot for a session only after its previous task, so others may run between', async () => {
    const lanes = createLanes({ concurrency: 1 });
    const order: string[] = [];
    const task = (name: string) => () => void order.push(name);
    const all = [lanes.run('a', async () => settled())];
    for (const name of ['a1', 'a2', 'a3']) all.push(lanes.run('a', task(name)));
    all.push(lanes.run('b', task('b1')));
    await Promise.all(all);
    expect(order).toEqual(['b1', 'a1', 'a2', 'a3']);
  });

  it.each([
    [
      'throws at once',
      () => {
        throw new Error('No.');
      },
    ],
    [
      'rejects',
      async () => {
        await Promise.resolve();
        throw new Error('No.');
      },
    ],
    [
      'returns a thenable that throws',
      () => ({
        // oxlint-disable-next-line unicorn/no-thenable -- this is what is tested
        then: () => {
          throw new Error('No.');
        },
      }),
    ],
  ])('frees the lane when a task %s', async (_, task: () => never | Promise<never> | PromiseLike<never>) => {
    const lanes = createLanes({ concurrency: 1 });
    const failed = lanes.run('alice', task);
    const next = lanes.run('alice', () => 'next');
    await expect(failed).rejects.toThrow('No.');
    expect(await next).toBe('next');
    expect(lanes.snapshot().sessions).toEqual([]);
  });

  it('removes a waiting task when its caller aborts', async () => {
    const lanes = createLanes({ concurrency: 1 });
    const first = open();
    const controller = new AbortController();
    let ran = false;
    void lanes.run('alice', first.task);
    const leaving = lanes.run(
      'alice',
      () => {
        ran = true;
      },
      { signal: controller.signal },
    );
    const after = lanes.run('alice', () => 'after');
    const reason = new Error('Gone.');
    controller.abort(reason);
    await expect(leaving).rejects.toMatchObject({ code: 'lane-aborted', cause: reason, message: 'Gone.' });
    first.finish();
    expect(await after).toBe('after');
    expect(ran).toBe(false);
  });

  it('refuses a caller whose signal is already aborted', async () => {
    const lanes = createLanes();
    let ran = false;
    expect(
      await codeOf(
        lanes.run(
          'alice',
          () => {
            ran = true;
          },
          { signal: AbortSignal.abort() },
        ),
      ),
    ).toBe('lane-aborted');
    expect(ran).toBe(false);
  });

  it('asks a running task to stop when its caller aborts, and holds the lane until it ends', async () => {
    const { lanes, time } = timed({ concurrency: 2, graceMs: 100 });
    const first = open();
    const controller = new AbortController();
    const running = lanes.run('alice', first.task, { signal: controller.signal });
    const next = open();
    void lanes.run('alice', next.task);
    controller.abort('Enough.');
    expect(first.state.lease?.signal.reason).toMatchObject({ code: 'lane-aborted', message: 'Enough.' });
    time.advance(99);
    expect(next.state.lease).toBeUndefined();
    first.fail(new Error('Stopped.'));
    expect(await codeOf(running)).toBe('lane-aborted');
    expect(next.state.lease).toBeDefined();
    next.finish();
    await lanes.idle();
    expect(time.timers).toBe(0);
  });

  it('starts the next task before it notifies the caller of the last one', async () => {
    const lanes = createLanes({ concurrency: 1 });
    const order: string[] = [];
    const first = lanes.run('alice', async () => Promise.resolve()).then(() => order.push('heard'));
    const second = lanes.run('alice', () => void order.push('began'));
    await Promise.all([first, second]);
    expect(order).toEqual(['began', 'heard']);
  });

  it('runs a task in the asynchronous context of its request', async () => {
    const lanes = createLanes({ concurrency: 1 });
    const context = new AsyncLocalStorage<string>();
    const seen: unknown[] = [];
    const queued = ['a', 'b', 'c'].map((name) =>
      context.run(name, () =>
        lanes.run('alice', async () => {
          seen.push(context.getStore());
          await Promise.resolve();
        }),
      ),
    );
    await Promise.all(queued);
    expect(seen).toEqual(['a', 'b', 'c']);
  });

  it('runs 20,000 synchronous tasks of one session without growing the stack', async () => {
    const lanes = createLanes({ maxWaiting: Infinity, maxWaitingPerSession: Infinity });
    const first = open();
    const all = [lanes.run('alice', first.task)];
    let count = 0;
    for (let index = 0; index < 20_000; index += 1) all.push(lanes.run('alice', () => `${(count += 1)}`));
    first.finish();
    await Promise.all(all);
    expect(count).toBe(20_000);
  });

  it('refuses an empty session and a task that is no function', async () => {
    await expect(createLanes().run('', () => 1)).rejects.toThrow('run(): "session" must be a non-empty string');
    await expect(createLanes().run('alice', 1 as never)).rejects.toThrow('run(): "task" must be a function');
  });

  it.each([
    [{ prioriy: 'normal' }, /run\(\): unknown option "prioriy"/],
    [{ priority: 'high' }, /must be "foreground" or "normal" or "background"/],
    [{ groups: { tenant: 'acme' } }, /has no group "tenant"/],
  ])('refuses the options %j', async (options, message) => {
    await expect(createLanes().run('alice', () => 1, options as never)).rejects.toThrow(message);
  });
});

describe('priorities', () => {
  const orderOf = async (
    options: Parameters<typeof createLanes>[0],
    arrivals: readonly (readonly [string, 'foreground' | 'normal' | 'background', number?])[],
  ) => {
    const { lanes, time } = timed({ concurrency: 1, ...options });
    const first = open();
    const order: string[] = [];
    const all: Promise<unknown>[] = [lanes.run('first', first.task)];
    for (const [name, priority, waitMs = 0] of arrivals) {
      all.push(lanes.run(name, () => order.push(name), { priority }));
      time.advance(waitMs);
    }
    first.finish();
    await Promise.all(all);
    return order;
  };

  it('admits the most urgent first, and equals in order of arrival', async () => {
    expect(
      await orderOf({}, [
        ['b1', 'background'],
        ['n1', 'normal'],
        ['f1', 'foreground'],
        ['n2', 'normal'],
        ['f2', 'foreground'],
      ]),
    ).toEqual(['f1', 'f2', 'n1', 'n2', 'b1']);
  });

  it('admits aged background tasks before later normal ones, never before the foreground', async () => {
    const arrivals = [
      ['b1', 'background', 500],
      ['n1', 'normal'],
      ['b2', 'background'],
      ['f1', 'foreground'],
    ] as const;
    expect(await orderOf({ ageAfterMs: 500 }, arrivals)).toEqual(['f1', 'b1', 'n1', 'b2']);
    expect(await orderOf({}, arrivals)).toEqual(['f1', 'n1', 'b1', 'b2']);
  });

  it('reserves slots for the foreground', async () => {
    const lanes = createLanes({ concurrency: 3, reservedForeground: 1 });
    const tasks = ['a', 'b', 'c', 'd'].map((name) => ({ name, ...open() }));
    for (const { name, task } of tasks) void lanes.run(name, task, { priority: 'background' });
    const urgent = open();
    void lanes.run('urgent', urgent.task, { trigger: 'user' });
    expect(tasks.map(({ state }) => state.lease !== undefined)).toEqual([true, true, false, false]);
    expect(urgent.state.lease).toBeDefined();
    for (const { finish } of [...tasks, urgent]) finish();
    await lanes.idle();
  });
});

describe('groups', () => {
  it('limit the tasks of one key without delaying others', async () => {
    const lanes = createLanes({ concurrency: 10, groups: { provider: { concurrency: 2, keys: { local: 1 } } } });
    const tasks = (['big', 'big', 'big', 'local', 'local', undefined] as const).map((provider, index) => ({
      provider,
      index,
      ...open(),
    }));
    for (const { provider, index, task } of tasks) void lanes.run(`s${index}`, task, { groups: { provider } });
    expect(tasks.map(({ state }) => state.lease !== undefined)).toEqual([true, true, false, true, false, true]);
    expect(lanes.snapshot().groups).toEqual([
      { kind: 'provider', key: 'big', active: 2, concurrency: 2 },
      { kind: 'provider', key: 'local', active: 1, concurrency: 1 },
    ]);
    for (const { finish } of tasks) finish();
    await lanes.idle();
    expect(lanes.snapshot().groups).toEqual([]);
  });
});

describe('timeouts', () => {
  it('start with the task, and restart with its progress', async () => {
    const { lanes, time } = timed({ concurrency: 1, idleTimeoutMs: 1000, graceMs: 100 });
    const [first, second] = [open(), open()];
    const done = lanes.run('alice', first.task);
    const waiting = lanes.run('alice', second.task);
    for (let step = 0; step < 5; step += 1) {
      time.advance(900);
      first.state.lease?.progress();
    }
    first.finish();
    expect(await done).toBe('done');
    time.advance(999);
    expect(second.state.lease?.isAborted).toBe(false);
    time.advance(1);
    expect(second.state.lease?.signal.reason).toBeInstanceOf(LaneTimeoutError);
    expect(second.state.lease?.signal.reason).toMatchObject({ kind: 'idle', ranMs: 1000, idleMs: 1000 });
    second.fail(new Error('Aborted.'));
    await expect(waiting).rejects.toMatchObject({ code: 'lane-timed-out' });
    expect(time.timers).toBe(0);
  });

  it('stop a task at its deadline despite progress', async () => {
    const { lanes, time } = timed({ idleTimeoutMs: 1000, graceMs: 0 });
    const task = open();
    const running = codeOf(lanes.run('alice', task.task, { deadlineMs: 2500 }));
    for (let step = 0; step < 4; step += 1) {
      time.advance(800);
      task.state.lease?.progress();
    }
    expect(await running).toBe('lane-timed-out');
    expect(task.state.lease?.signal.reason).toMatchObject({ kind: 'deadline' });
  });

  it('let a task without limits run indefinitely', async () => {
    const { lanes, time } = timed();
    const task = open();
    void lanes.run('alice', task.task, { idleTimeoutMs: Infinity, deadlineMs: Infinity });
    time.advance(49 * 3_600_000);
    expect(task.state.lease?.isAborted).toBe(false);
    task.finish();
    await lanes.idle();
  });

  it('support delays beyond the limit of JavaScript timers', async () => {
    const { lanes, time } = timed();
    const task = open();
    const running = codeOf(lanes.run('alice', task.task, { idleTimeoutMs: Infinity, deadlineMs: 2 ** 32, graceMs: 0 }));
    time.advance(2 ** 32 - 1);
    expect(task.state.lease?.isAborted).toBe(false);
    time.advance(1);
    expect(await running).toBe('lane-timed-out');
  });

  it('release the slot after the grace period, and reject the late result', async () => {
    const { lanes, time, events } = timed({ concurrency: 1, idleTimeoutMs: 1000, graceMs: 100 });
    const [hanging, next] = [open(), open()];
    const lost = codeOf(lanes.run('alice', hanging.task, { label: 'hanging' }));
    const running = lanes.run('alice', next.task);
    time.advance(1099);
    expect(next.state.lease).toBeUndefined();
    time.advance(1);
    expect(await lost).toBe('lane-timed-out');
    const [old, current] = [hanging.state.lease, next.state.lease];
    expect([old?.isCurrent, current?.isCurrent]).toEqual([false, true]);
    expect((current?.fence ?? 0) > (old?.fence ?? 0)).toBe(true);
    expect(() => old?.check()).toThrow(/too late; do not write it/);
    expect(() => current?.check()).not.toThrow();
    time.advance(50);
    hanging.finish('late');
    await settled();
    expect(events.filter(({ type }) => type === 'late')).toEqual([
      { type: 'late', session: 'alice', label: 'hanging', fence: old?.fence, lateMs: 50 },
    ]);
    expect(lanes.snapshot().sessions).toHaveLength(1);
    next.finish();
    expect(await running).toBe('done');
    expect(time.timers).toBe(0);
  });

  it('ignore a late rejection', async () => {
    const { lanes, time, events } = timed({ idleTimeoutMs: 10, graceMs: 0 });
    const task = open();
    const running = codeOf(lanes.run('alice', task.task));
    time.advance(10);
    task.fail(new Error('Too late.'));
    expect(await running).toBe('lane-timed-out');
    await settled();
    expect(events.map(({ type }) => type)).toEqual(['aborted', 'lost', 'late']);
  });

  it('keep the result of a task that ends in its grace period', async () => {
    const { lanes, time } = timed({ idleTimeoutMs: 10, graceMs: 50 });
    const task = open();
    const running = lanes.run('alice', task.task);
    time.advance(20);
    task.finish('after all');
    expect(await running).toBe('after all');
  });

  it('limit the wait for a slot', async () => {
    const { lanes, time } = timed({ maxWaitMs: 300 });
    const first = open();
    void lanes.run('alice', first.task);
    const waiting = codeOf(lanes.run('alice', () => 'never'));
    time.advance(300);
    expect(await waiting).toBe('lane-waited-too-long');
    first.finish();
    await lanes.idle();
  });
});

describe('a child request', () => {
  it('is refused if it would deadlock', async () => {
    const lanes = createLanes();
    const nested = lanes.run('alice', async () => lanes.run('alice', () => 'never'));
    await expect(nested).rejects.toMatchObject({ code: 'lane-reentered', session: 'alice' });
    const deep = lanes.run('alice', async () => lanes.run('bob', async () => lanes.run('alice', () => 'never')));
    await expect(deep).rejects.toMatchObject({ code: 'lane-reentered' });
    expect(
      await lanes.run('alice', async (lease) =>
        codeOf(lanes.detach(() => lanes.run('alice', () => 'never', { within: lease }))),
      ),
    ).toBe('lane-reentered');
  });

  it('waits in line if it is detached', async () => {
    const lanes = createLanes({ concurrency: 1 });
    const order: string[] = [];
    let after: Promise<unknown> = Promise.resolve();
    await lanes.run('alice', async () => {
      after = lanes.detach(() => lanes.run('alice', () => void order.push('after')));
      await settled();
      order.push('first');
    });
    await after;
    expect(order).toEqual(['first', 'after']);
  });

  it('gets the slot that its waiting parent lends', async () => {
    const lanes = createLanes({ concurrency: 2 });
    const active = (): number => lanes.snapshot().active.normal;
    const seen: number[] = [];
    const parent = (name: string) =>
      lanes.run(name, async (lease) => {
        const child = () =>
          lanes.run(`${name}/child`, async () => {
            seen.push(active());
            await settled();
            return name;
          });
        const result = name === 'a' ? await lanes.yieldWhile(child) : await lease.yieldWhile(child);
        seen.push(active());
        return result;
      });
    expect(await Promise.all(['a', 'b', 'c', 'd'].map(parent))).toEqual(['a', 'b', 'c', 'd']);
    expect(Math.max(...seen)).toBeLessThanOrEqual(2);
    expect(seen).toHaveLength(8);
  });

  it('is reported if parents hold all slots, and named in their timeout error', async () => {
    const { lanes, time, events } = timed({ concurrency: 2, idleTimeoutMs: 1000, graceMs: 0 });
    const parents = ['a', 'b'].map((name) =>
      lanes.run(name, async () => {
        await settled();
        return lanes.run(`${name}/child`, () => 'child');
      }),
    );
    const outcomes = Promise.allSettled(parents);
    await settled();
    await settled();
    expect(events).toEqual([{ type: 'slots-held-by-parents', sessions: ['a', 'b'] }]);
    time.advance(1000);
    const [first] = await outcomes;
    expect((first as PromiseRejectedResult).reason).toMatchObject({
      code: 'lane-timed-out',
      message: expect.stringContaining('yieldWhile') as string,
    });
    await lanes.idle();
    expect(time.timers).toBe(0);
  });

  it('keeps the session of its waiting parent, and suspends the idle timeout', async () => {
    const { lanes, time } = timed({ concurrency: 1, idleTimeoutMs: 1000 });
    const [child, next] = [open(), open()];
    const parent = lanes.run('alice', async (lease) => lease.yieldWhile(() => child.task(lease)));
    void lanes.run('alice', next.task);
    time.advance(5000);
    expect(next.state.lease).toBeUndefined();
    child.finish('back');
    expect(await parent).toBe('back');
    next.finish();
    await lanes.idle();
  });

  it('rejects with the error of the work once a slot is free', async () => {
    const lanes = createLanes({ concurrency: 1 });
    const [work, other] = [open(), open()];
    const parent = codeOf(lanes.run('alice', async (lease) => lease.yieldWhile(() => work.task(lease))));
    let isBack = false;
    void parent.then(() => (isBack = true));
    void lanes.run('bob', other.task);
    work.fail(new TypeError('No.'));
    await settled();
    expect(isBack).toBe(false);
    other.finish();
    expect(await parent).toBeInstanceOf(TypeError);
  });

  it('returns before requests of its priority that have not begun', async () => {
    const lanes = createLanes({ concurrency: 1 });
    const [work, other] = [open(), open()];
    const order: string[] = [];
    const parent = lanes.run('alice', async (lease) => {
      await lease.yieldWhile(() => work.task(lease));
      order.push('alice');
    });
    void lanes.run('bob', other.task);
    const late = lanes.run('carol', () => void order.push('carol'));
    work.finish();
    await settled();
    other.finish();
    await Promise.all([parent, late]);
    expect(order).toEqual(['alice', 'carol']);
  });

  it('does not reclaim its slot once it was asked to stop', async () => {
    const { lanes, time } = timed({ deadlineMs: 100, graceMs: 50 });
    const work = open();
    const parent = codeOf(lanes.run('alice', async (lease) => lease.yieldWhile(() => work.task(lease))));
    time.advance(100);
    work.finish();
    expect(await parent).toBe('lane-timed-out');
    expect(time.timers).toBe(0);
  });

  it('only runs the work if the caller has no slot', async () => {
    expect(await createLanes().yieldWhile(() => 'work')).toBe('work');
  });
});

describe('bounds', () => {
  const fill = async (whenFull: 'reject' | 'drop-oldest' | 'drop-newest' | 'summarize') => {
    const lanes = createLanes({ maxWaitingPerSession: 2, whenFull });
    const first = open();
    const running = lanes.run('alice', first.task);
    const all = ['a', 'b', 'c'].map((name) => codeOf(lanes.run('alice', () => name)));
    first.finish();
    await running;
    return Promise.all(all);
  };

  it.each([
    ['reject', ['resolved', 'resolved', 'lane-full']],
    ['drop-oldest', ['lane-dropped', 'resolved', 'resolved']],
    ['drop-newest', ['resolved', 'lane-dropped', 'resolved']],
    ['summarize', ['lane-dropped', 'resolved', 'resolved']],
  ] as const)('of a session apply the policy %s, and never drop the running task', async (policy, outcomes) => {
    expect(await fill(policy)).toEqual(outcomes);
  });

  it('pass the summary of dropped requests to the next lease', () => {
    const lanes = createLanes({ maxWaitingPerSession: 1, whenFull: 'summarize' });
    const leases: LaneLease[] = [];
    const place = lanes.enter({ session: 'alice' }, silent);
    for (const summary of ['one', 'two ', `three ${'x'.repeat(300)}`]) {
      lanes.enter({ session: 'alice', summary }, silent);
    }
    lanes.enter({ session: 'alice', summary: 'four' }, { ...silent, admitted: (lease) => leases.push(lease) });
    place.release();
    expect(leases[0]?.dropped).toMatchObject({ count: 3, summaries: ['one', 'two', `three ${'x'.repeat(194)}…`] });
    leases[0]?.release();
  });

  it('of all sessions refuse the new request', async () => {
    const lanes = createLanes({ concurrency: 1, maxWaiting: 1 });
    const first = open();
    void lanes.run('alice', first.task);
    const second = lanes.run('bob', () => 'bob');
    expect(await codeOf(lanes.run('carol', () => 'carol'))).toBe('lane-full');
    first.finish();
    expect(await second).toBe('bob');
  });
});

describe('drain, shutdown and clear', () => {
  it('drain() waits for earlier requests and refuses new ones', async () => {
    const lanes = createLanes({ concurrency: 1 });
    const first = open();
    const running = lanes.run('alice', first.task);
    const waiting = lanes.run('bob', () => 'bob');
    const drained = lanes.drain();
    expect(await codeOf(lanes.run('carol', () => 'carol'))).toBe('lane-closed');
    first.finish();
    expect(await Promise.all([running, waiting])).toEqual(['done', 'bob']);
    await drained;
    expect(lanes.snapshot().state).toBe('closed');
  });

  it('drain() rejects an unknown option before it refuses anything', async () => {
    const lanes = createLanes();
    expect(() => lanes.drain({ refuseWaitng: true } as object)).toThrow(/"refuseWaitng".*"refuseWaiting"/s);
    expect(await lanes.run('alice', () => 'done')).toBe('done');
  });

  it('drain() refuses waiting requests on demand, and ends exactly what has begun', async () => {
    const request = fc.record({ session: fc.constantFrom('alice', 'bob', 'carol', 'dave'), asksEarly: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 3 }),
        fc.array(request, { maxLength: 10 }),
        async (slots, requests) => {
          const lanes = createLanes({ concurrency: slots });
          const [begun, ended] = [new Set<number>(), new Set<number>()];
          const gate = open();
          const codes = requests.map(({ session, asksEarly }, index) => {
            const child = (lease: LaneLease) => lease.yieldWhile(() => lanes.run(`child-${index}`, () => 'done'));
            return codeOf(
              lanes.run(session, async (lease) => {
                begun.add(index);
                if (asksEarly) await child(lease);
                await gate.task(lease);
                if (!asksEarly) await child(lease);
                ended.add(index);
              }),
            );
          });
          await settled();
          const before = new Set(begun);
          const drained = lanes.drain({ refuseWaiting: true });
          await settled();
          gate.finish();
          await drained;
          expect([begun, ended]).toEqual([before, before]);
          expect(await Promise.all(codes)).toEqual(
            requests.map((_, index) => (before.has(index) ? 'resolved' : 'lane-closed')),
          );
        },
      ),
    );
  });

  it('shutdown() refuses waiting tasks, stops running ones, and resolves if one hangs', async () => {
    const { lanes, time } = timed({ concurrency: 1, graceMs: 100 });
    const hanging = open();
    let ran = false;
    const all = [
      lanes.run('alice', hanging.task),
      lanes.run('alice', () => {
        ran = true;
      }),
      lanes.run('bob', () => {
        ran = true;
      }),
    ].map(codeOf);
    const down = lanes.shutdown({ reason: 'Good night.' });
    expect(hanging.state.lease?.signal.reason).toMatchObject({ code: 'lane-closed', message: 'Good night.' });
    time.advance(100);
    await down;
    expect(await Promise.all(all)).toEqual(['lane-closed', 'lane-closed', 'lane-closed']);
    expect(ran).toBe(false);
    expect(time.timers).toBe(0);
  });

  it('clear() refuses the waiting tasks of a session, not the running one', async () => {
    const lanes = createLanes();
    const first = open();
    const running = lanes.run('alice', first.task);
    const waiting = ['a', 'b'].map((name) => codeOf(lanes.run('alice', () => name)));
    expect([lanes.clear('alice'), lanes.clear('unknown')]).toEqual([2, 0]);
    expect(await Promise.all(waiting)).toEqual(['lane-cleared', 'lane-cleared']);
    first.finish();
    expect(await running).toBe('done');
  });
});

describe('the position of a waiting request', () => {
  it('is reported at once, and again when it changes', () => {
    const { lanes, time } = timed({ concurrency: 1, noticeEveryMs: 1000 });
    const told: string[] = [];
    const leases: LaneLease[] = [];
    const listener = (name: string): LaneListener => ({
      ...silent,
      admitted: (lease) => leases.push(lease),
      waiting: ({ for: what, position, waitedMs }) => told.push(`${name}: ${position} for ${what} after ${waitedMs}`),
    });
    lanes.enter({ session: 'alice' }, listener('a1'));
    lanes.enter({ session: 'alice' }, listener('a2'));
    const third = lanes.enter({ session: 'alice' }, listener('a3'));
    lanes.enter({ session: 'bob' }, listener('b1'));
    lanes.enter({ session: 'carol', priority: 'foreground' }, listener('c1'));
    expect(told.splice(0)).toEqual([
      'a2: 1 for session after 0',
      'a3: 2 for session after 0',
      'b1: 1 for slot after 0',
      'c1: 1 for slot after 0',
    ]);
    time.advance(1000);
    expect(told.splice(0)).toEqual(['b1: 2 for slot after 1000']);
    leases[0]?.release();
    time.advance(1000);
    expect(told.splice(0)).toEqual(['a2: 2 for slot after 2000', 'b1: 1 for slot after 2000']);
    third.release();
    for (let index = 1; index < 4; index += 1) leases[index]?.release();
    expect(lanes.snapshot().sessions).toEqual([]);
    expect(time.timers).toBe(0);
  });

  it('is in the snapshot', () => {
    const { lanes, time } = timed({ concurrency: 1 });
    lanes.enter({ session: 'alice', label: 'one', trigger: 'user' }, silent);
    lanes.enter({ session: 'alice', label: 'two', trigger: 'cron' }, silent);
    lanes.enter({ session: 'bob', label: 'three' }, silent);
    time.advance(10);
    expect(lanes.snapshot()).toEqual({
      state: 'open',
      concurrency: 1,
      active: { foreground: 1, normal: 0, background: 0 },
      atGate: { foreground: 0, normal: 1, background: 0 },
      waiting: 2,
      groups: [],
      sessions: [
        {
          session: 'alice',
          running: { label: 'one', priority: 'foreground', fence: 1, state: 'running', runningMs: 10, idleMs: 10 },
          waiting: [{ label: 'two', priority: 'background', for: 'session', position: 1, waitedMs: 10 }],
        },
        {
          session: 'bob',
          running: undefined,
          waiting: [{ label: 'three', priority: 'normal', for: 'slot', position: 1, waitedMs: 10 }],
        },
      ],
    });
  });
});

describe('callbacks that throw', () => {
  it('do not delay other requests', async () => {
    const { lanes, events } = timed({ concurrency: 1 });
    const boom = (): never => {
      throw new Error('Boom.');
    };
    const first = lanes.enter({ session: 'alice' }, silent);
    lanes.enter({ session: 'alice' }, { admitted: boom, refused: boom, waiting: boom });
    lanes.enter({ session: 'alice' }, { ...silent, refused: boom }).abort('Gone.');
    const last = lanes.run('alice', () => 'last');
    first.release();
    expect(await last).toBe('last');
    expect(events.filter(({ type }) => type === 'callback-failed')).toHaveLength(3);
    expect(lanes.snapshot().sessions).toEqual([]);
  });

  it('include onEvent', async () => {
    const lanes = createLanes({
      onEvent: () => {
        throw new Error('Boom.');
      },
    });
    expect(await codeOf(lanes.run('alice', async () => lanes.run('alice', () => 1)))).toBe('lane-reentered');
    expect(await lanes.run('alice', () => 'goes on')).toBe('goes on');
  });
});

describe('createLanes', () => {
  it.each([
    [{ concurency: 3 }, /createLanes\(\): unknown option "concurency" \(received 3\)\. Did you mean "concurrency"\?/],
    [{ concurrency: 0 }, /"concurrency" must be an integer from 1 or Infinity; received 0/],
    [{ concurrency: 2, reservedForeground: 2 }, /"reservedForeground" must be/],
    [{ whenFull: 'drop' }, /"whenFull" must be .*; received "drop"/],
    [
      { groups: { tenant: { concurrency: 0 } } },
      /"groups.tenant.concurrency" must be an integer from 1 or Infinity; received 0/,
    ],
    [{ groups: { tenant: { limit: 1 } } }, /unknown option "groups.tenant.limit"/],
    [
      { groups: { tenant: { concurrency: 1, keys: { acme: -1 } } } },
      /"groups.tenant.keys.acme" must be .*; received -1/,
    ],
    [{ graceMs: -1 }, /"graceMs" must be .*; received -1/],
    [{ scheduler: {} }, /an object with now\(\) and schedule\(\)/],
  ])('refuses the options %j', (options, message) => {
    expect(() => createLanes(options as never)).toThrow(message);
    expect(() => createLanes(options as never)).toThrow(expect.objectContaining({ code: 'invalid-option' }) as Error);
  });
});
