import { AsyncResource, executionAsyncResource } from 'node:async_hooks';
import { asyncScheduler } from 'rxjs';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { settled } from '../../test/settled.js';
import { gate, silent, timed } from '../../test/timed-lanes.js';
import type { LaneLease, WaitingNotice } from '../contract.js';
import type { LaneError } from '../errors.js';
import { createLanes } from './lanes.js';

const codeOf = async (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    (value) => value,
    (error: unknown) => (error as LaneError).code ?? error,
  );

describe('returning requests', () => {
  it('are admitted in the order of their return', async () => {
    const lanes = createLanes({ concurrency: 1 });
    const order: string[] = [];
    const holder = gate();
    const works = ['a', 'b', 'c'].map((name) => ({ name, ...gate() }));
    const parents = works.map(({ name, passed }) =>
      lanes.run(name, async (lease) => {
        await lease.yieldWhile(() => passed);
        order.push(name);
      }),
    );
    await settled();
    const other = lanes.run('other', () => holder.passed);
    for (const { open } of works) {
      open();
      await settled();
    }
    const newcomer = lanes.run('new', () => order.push('new'));
    holder.open();
    await Promise.all([...parents, other, newcomer]);
    expect(order).toEqual(['a', 'b', 'c', 'new']);
  });

  it('age like requests that have not begun', async () => {
    const { lanes, time } = timed({ concurrency: 1, ageAfterMs: 500 });
    const order: string[] = [];
    const [work, holder] = [gate(), gate()];
    const parent = lanes.run(
      'parent',
      async (lease) => {
        await lease.yieldWhile(() => work.passed);
        order.push('parent');
      },
      { priority: 'background' },
    );
    await settled();
    const running = lanes.run('holder', () => holder.passed);
    work.open();
    await settled();
    time.advance(500);
    const normal = ['n1', 'n2'].map((name) => lanes.run(name, () => order.push(name)));
    holder.open();
    await Promise.all([parent, running, ...normal]);
    expect(order).toEqual(['parent', 'n1', 'n2']);
  });

  it('precede waiting background requests, but not more urgent ones', async () => {
    const lanes = createLanes({ concurrency: 1 });
    const order: string[] = [];
    const [work, holder] = [gate(), gate()];
    const parent = lanes.run(
      'parent',
      async (lease) => {
        await lease.yieldWhile(() => work.passed);
        order.push('parent');
      },
      { priority: 'background' },
    );
    await settled();
    const running = lanes.run('holder', () => holder.passed);
    const others = (['background', 'normal', 'foreground'] as const).map((priority) =>
      lanes.run(priority, () => order.push(priority), { priority }),
    );
    work.open();
    await settled();
    holder.open();
    await Promise.all([parent, running, ...others]);
    expect(order).toEqual(['foreground', 'normal', 'parent', 'background']);
  });
});

describe('work with several waiting parts', () => {
  it('lends its slot until the last part returns, even if parts are nested', async () => {
    const lanes = createLanes({ concurrency: 1 });
    const [first, second, other] = [gate(), gate(), gate()];
    const seen: string[] = [];
    const stateOf = (): string | undefined =>
      lanes.snapshot().sessions.find(({ session }) => session === 'parent')?.running?.state;
    const parent = lanes.run('parent', async (lease) => {
      await Promise.all([
        lease.yieldWhile(() => lease.yieldWhile(() => first.passed)),
        lease.yieldWhile(() => second.passed),
      ]);
      seen.push(`back ${stateOf()}`);
    });
    await settled();
    const running = lanes.run('other', async () => {
      await other.passed;
    });
    first.open();
    await settled();
    seen.push(`${stateOf()}`);
    second.open();
    await settled();
    seen.push(`${stateOf()}`);
    other.open();
    await Promise.all([parent, running]);
    expect(seen).toEqual(['away', 'returning', 'back running']);
  });

  it('cancels its return when another part waits, and leaves the slot to others', async () => {
    const lanes = createLanes({ concurrency: 1 });
    const [first, second, other] = [gate(), gate(), gate()];
    const leases: LaneLease[] = [];
    let firstIsBack = false;
    const parent = lanes.run('parent', async (lease) => {
      leases.push(lease);
      await lease.yieldWhile(() => first.passed);
      firstIsBack = true;
      await second.passed;
    });
    await settled();
    const running = lanes.run('other', () => other.passed);
    first.open();
    await settled();
    expect(firstIsBack).toBe(false);
    const again = leases[0]?.yieldWhile(() => second.passed);
    await settled();
    expect(firstIsBack).toBe(true);
    other.open();
    await running;
    expect(await lanes.run('third', () => 'has the slot')).toBe('has the slot');
    second.open();
    await Promise.all([parent, again]);
  });

  it('releases its group slots', async () => {
    const lanes = createLanes({ concurrency: 5, groups: { tenant: { concurrency: 1 } } });
    const groups = { tenant: 'acme' };
    expect(
      await lanes.run('parent', () => lanes.yieldWhile(() => lanes.run('child', () => 'child', { groups })), {
        groups,
      }),
    ).toBe('child');
  });
});

describe('a group', () => {
  it('does not limit requests without a key of its kind', async () => {
    const lanes = createLanes({ concurrency: 5, groups: { tenant: { concurrency: 1 }, provider: { concurrency: 1 } } });
    const hold = gate();
    const tasks = [
      { tenant: 'a', provider: 'p' },
      { tenant: undefined, provider: undefined },
      {},
      undefined,
      { tenant: 'a', provider: undefined },
      { provider: 'p' },
      { tenant: 'b' },
    ];
    let running = 0;
    const all = tasks.map((groups, index) =>
      lanes.run(
        `s${index}`,
        async () => {
          running += 1;
          await hold.passed;
        },
        { groups },
      ),
    );
    expect(running).toBe(5);
    expect(lanes.snapshot().groups.map(({ kind, key, active }) => [kind, key, active])).toEqual([
      ['tenant', 'a', 1],
      ['provider', 'p', 1],
      ['tenant', 'b', 1],
    ]);
    hold.open();
    await Promise.all(all);
    expect(lanes.snapshot().groups).toEqual([]);
  });
});

describe('draining', () => {
  it('admits requests made within running work, and refuses all others', async () => {
    const lanes = createLanes({ concurrency: 1 });
    const go = gate();
    const parent = lanes.run('parent', async () => {
      await go.passed;
      const detached = codeOf(lanes.detach(() => lanes.run('detached', () => 'never')));
      return [await lanes.yieldWhile(() => lanes.run('child', () => 'child')), await detached];
    });
    const drained = lanes.drain();
    expect(await codeOf(lanes.run('stranger', () => 'never'))).toBe('lane-closed');
    go.open();
    expect(await parent).toEqual(['child', 'lane-closed']);
    await drained;
  });

  it('may be followed by a shutdown, which admits no request', async () => {
    const { lanes, time } = timed({ concurrency: 2, graceMs: 100 });
    const [hang, away, back] = [gate(), gate(), gate()];
    const children: unknown[] = [];
    const all = [
      lanes.run('hangs', () => hang.passed),
      lanes.run('away', (lease) => lease.yieldWhile(() => away.passed)),
      lanes.run('returns', (lease) => lease.yieldWhile(() => back.passed)),
      lanes.run('starts', async (lease) => {
        await new Promise((resolve) => lease.signal.addEventListener('abort', resolve));
        children.push(await codeOf(lanes.run('child', () => 'never')));
        lease.check();
        throw new Error('Stopped.');
      }),
      lanes.run('hangs', () => 'never'),
      lanes.run('waits', () => 'never', { trigger: 'cron', maxWaitMs: 50 }),
    ].map(codeOf);
    await settled();
    back.open();
    await settled();
    void lanes.drain();
    const down = lanes.shutdown({ reason: 'Good night.' });
    await settled();
    time.advance(100);
    await down;
    expect(await Promise.all(all)).toEqual(Array.from({ length: 6 }, () => 'lane-closed'));
    expect(children).toEqual(['lane-closed']);
    expect(lanes.snapshot()).toMatchObject({
      state: 'closed',
      sessions: [],
      waiting: 0,
      active: { foreground: 0, normal: 0, background: 0 },
    });
    expect(time.timers).toBe(0);
    away.open();
    hang.open();
    await settled();
  });

  it('leaves no async hook on the promises of the process', async () => {
    const marks = (): number =>
      Object.getOwnPropertySymbols(executionAsyncResource()).filter(
        ({ description }) => description === 'kResourceStore',
      ).length;
    const measure = async (): Promise<number> =>
      Promise.resolve().then(() => new AsyncResource('Test').runInAsyncScope(marks));
    const before = await measure();
    for (let index = 0; index < 10; index += 1) {
      const lanes = createLanes();
      await lanes.run('alice', async () => Promise.resolve());
      await lanes.shutdown();
      await lanes.detach(async () => Promise.resolve());
    }
    expect(await measure()).toBe(before);
    for (let index = 0; index < 10; index += 1) await createLanes().run('alice', async () => Promise.resolve());
    expect(await measure()).toBeLessThanOrEqual(before + 1);
  });
});

describe('a request', () => {
  it.each([
    [{}, /"session" is required/],
    [{ session: '' }, /"session" must be .*; received ""/],
    [{ session: 'alice', priority: 'urgent' }, /"priority" must be .*; received "urgent"/],
    [{ session: 'alice', maxWaitMs: Number.NaN }, /"maxWaitMs" must be .*; received NaN/],
    [{ session: 'alice', groups: { tenant: 7 } }, /"groups.tenant" must be .*; received 7/],
    [{ session: 'alice', prioriti: 'normal' }, /Did you mean "priority"/],
  ])('is rejected without side effects if it is invalid: %j', async (request, message) => {
    const lanes = createLanes({ groups: { tenant: { concurrency: 1 } } });
    expect(() => lanes.enter(request as never, silent)).toThrow(message);
    expect(() => lanes.enter({ session: 'alice' }, {} as never)).toThrow(/"listener" must be an object with/);
    expect(lanes.snapshot().sessions).toEqual([]);
    expect(await lanes.run('alice', () => 'free')).toBe('free');
  });
});

describe('callbacks that throw', () => {
  const boom = (): never => {
    throw new Error('Boom.');
  };

  it('do not delay the next request', async () => {
    const { lanes, events, time } = timed({ concurrency: 1, idleTimeoutMs: 100, graceMs: 50 });
    lanes.enter({ session: 'alice' }, { ...silent, aborted: boom, lost: boom, isAtWork: boom });
    const next = lanes.run('alice', () => 'next', { onWaiting: boom });
    time.advance(150);
    expect(await next).toBe('next');
    expect(events.map(({ type }) => type)).toEqual([
      'callback-failed',
      'callback-failed',
      'aborted',
      'callback-failed',
      'lost',
      'callback-failed',
    ]);
    expect(time.timers).toBe(0);
  });
});

describe('work during which the process was suspended', () => {
  afterEach(() => {
    vi.useRealTimers();
  });

  it('is not stopped as idle if its progress arrives when the process continues', async () => {
    vi.useFakeTimers({ now: 0 });
    const lanes = createLanes({ idleTimeoutMs: 100, scheduler: asyncScheduler });
    const work = gate();
    let lease: LaneLease | undefined;
    const result = lanes.run('alice', (own) => ((lease = own), work.passed));
    // Timers run before sockets are read.
    vi.setSystemTime(60_000);
    vi.advanceTimersByTime(100);
    lease?.progress();
    vi.advanceTimersByTime(99);
    expect(lease?.isAborted).toBe(false);
    work.open('done');
    expect(await result).toBe('done');
    await lanes.shutdown();
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe('a request that is aborted in its onWaiting callback', () => {
  it('is removed from its session', async () => {
    const lanes = createLanes({ concurrency: 1 });
    const first = lanes.enter({ session: 'alice' }, silent);
    const controller = new AbortController();
    const notices: WaitingNotice[] = [];
    const leaving = codeOf(
      lanes.run('alice', () => 'never', {
        signal: controller.signal,
        onWaiting: (notice) => {
          notices.push(notice);
          controller.abort();
        },
      }),
    );
    first.release();
    expect(await leaving).toBe('lane-aborted');
    expect(notices).toHaveLength(1);
    expect(lanes.snapshot().sessions).toEqual([]);
  });
});

describe('maxWaitMs', () => {
  it('uses one timer for all requests, and applies the limit of each', async () => {
    const { lanes, time } = timed({ concurrency: 1, maxWaitMs: 300 });
    const first = lanes.enter({ session: 'first' }, silent);
    const idleTimers = time.timers;
    const all = [
      lanes.run('a', () => 'never'),
      lanes.run('b', () => 'b', { maxWaitMs: 1000 }),
      lanes.run('c', () => 'never', { maxWaitMs: 100 }),
    ].map(codeOf);
    expect(time.timers).toBe(idleTimers + 1);
    time.advance(99);
    expect(lanes.snapshot().waiting).toBe(3);
    time.advance(1);
    expect(lanes.snapshot().waiting).toBe(2);
    time.advance(200);
    expect(lanes.snapshot().waiting).toBe(1);
    first.release();
    expect(await Promise.all(all)).toEqual(['lane-waited-too-long', 'b', 'lane-waited-too-long']);
    expect(time.timers).toBe(0);
  });
});

describe('fences', () => {
  it('grow with each lease, over all sessions', async () => {
    const lanes = createLanes();
    expect([await lanes.run('a', ({ fence }) => fence), await lanes.run('b', ({ fence }) => fence)]).toEqual([1, 2]);
  });
});

describe('sessions', () => {
  it('leave no state behind after 20,000 requests', () => {
    const { lanes, time } = timed({ maxWaiting: Infinity });
    const places = Array.from({ length: 20_000 }, (_, index) => lanes.enter({ session: `s${index}` }, silent));
    expect(lanes.snapshot().waiting).toBe(19_996);
    for (const place of places.toReversed()) place.release();
    expect(lanes.snapshot()).toMatchObject({ sessions: [], waiting: 0 });
    expect(time.timers).toBe(0);
  });
});
