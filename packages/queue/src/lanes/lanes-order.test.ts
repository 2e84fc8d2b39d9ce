import { AsyncLocalStorage } from 'node:async_hooks';
import type { TurnPriority } from '@h/turn';
import { describe, expect, it } from 'vitest';
import { settled } from '../../test/settled.js';
import { gate, silent, timed } from '../../test/timed-lanes.js';
import { createLanes } from './lanes.js';
import type { LanesOptions } from './lanes-options.js';

describe('the next request', () => {
  it('is a returning one, however often it has returned', async () => {
    const lanes = createLanes({ concurrency: 1 });
    const order: string[] = [];
    const [work, holder] = [gate(), gate()];
    const parent = lanes.run('parent', async (lease) => {
      for (let time = 0; time < 10; time += 1) await lease.yieldWhile(() => undefined);
      await lease.yieldWhile(() => work.passed);
      order.push('parent');
    });
    for (let time = 0; time < 10; time += 1) await settled();
    const all = [parent, lanes.run('holder', () => holder.passed), lanes.run('new', () => order.push('new'))];
    work.open();
    await settled();
    holder.open();
    await Promise.all(all);
    expect(order).toEqual(['parent', 'new']);
  });

  it('is never an aged background request before the foreground, in any groups', async () => {
    const { lanes, time } = timed({ concurrency: 1, ageAfterMs: 100, groups: { tenant: { concurrency: 1 } } });
    const order: string[] = [];
    const holder = gate();
    const all: Promise<unknown>[] = [lanes.run('holder', () => holder.passed)];
    all.push(lanes.run('old', () => order.push('old'), { priority: 'background', groups: { tenant: 'a' } }));
    time.advance(200);
    all.push(lanes.run('normal', () => order.push('normal'), { groups: { tenant: 'b' } }));
    all.push(lanes.run('urgent', () => order.push('urgent'), { priority: 'foreground', groups: { tenant: 'c' } }));
    holder.open();
    await Promise.all(all);
    expect(order).toEqual(['urgent', 'old', 'normal']);
  });

  it('is found behind one whose group has no free slot', async () => {
    const lanes = createLanes({
      concurrency: 10,
      groups: { provider: { concurrency: 1 }, tenant: { concurrency: 1 } },
    });
    const [providerHolder, tenantHolder] = [gate(), gate()];
    const order: string[] = [];
    const all = [
      lanes.run('1', () => providerHolder.passed, { groups: { provider: 'p' } }),
      lanes.run('2', () => tenantHolder.passed, { groups: { tenant: 't' } }),
      lanes.run('3', () => order.push('both'), { groups: { provider: 'p', tenant: 't' } }),
      lanes.run('4', () => order.push('provider'), { groups: { provider: 'p' } }),
    ];
    providerHolder.open();
    await settled();
    expect(order).toEqual(['provider']);
    tenantHolder.open();
    await Promise.all(all);
    expect(order).toEqual(['provider', 'both']);
  });
});

describe('a deadline', () => {
  it('stops work that reports being at work', async () => {
    const { lanes, time } = timed({ idleTimeoutMs: 100, deadlineMs: 350, graceMs: 0 });
    const errors: string[] = [];
    lanes.enter({ session: 'alice' }, { ...silent, isAtWork: () => true, lost: (error) => errors.push(error.message) });
    time.advance(349);
    expect(errors).toEqual([]);
    time.advance(1);
    expect(errors).toEqual([expect.stringContaining('deadlineMs')]);
  });
});

describe('a parent', () => {
  it('is not reported as waiting for children that have begun', async () => {
    const { lanes, time, events } = timed({ concurrency: 2, idleTimeoutMs: 1000, graceMs: 0 });
    const [other, child] = [gate(), gate()];
    const running = lanes.run('other', () => other.passed);
    const messages: string[] = [];
    const parent = lanes
      .run('parent', async () => lanes.run('child', () => child.passed))
      .catch((error: unknown) => messages.push((error as Error).message));
    other.open();
    await running;
    await settled();
    expect(lanes.snapshot().sessions.map(({ session, running: one }) => [session, one?.state])).toEqual([
      ['parent', 'running'],
      ['child', 'running'],
    ]);
    time.advance(1000);
    await parent;
    expect(messages).toEqual([expect.not.stringContaining('yieldWhile')]);
    expect(events.filter(({ type }) => type === 'slots-held-by-parents')).toEqual([]);
  });

  it('is reported as waiting for requests that its child left behind', async () => {
    const { lanes, time, events } = timed({
      concurrency: 2,
      idleTimeoutMs: 1000,
      graceMs: 0,
      groups: { tenant: { concurrency: 1 } },
    });
    const groups = { tenant: 't' };
    const parent = lanes.run(
      'parent',
      () =>
        lanes.run('child', () => void lanes.run('grandchild', () => undefined, { groups })).then(() => gate().passed),
      { groups },
    );
    const ended = parent.catch((error: unknown) => (error as Error).message);
    await settled();
    expect(events).toEqual([{ type: 'slots-held-by-parents', sessions: ['parent'] }]);
    time.advance(1000);
    expect(await ended).toContain('yieldWhile');
    await lanes.idle();
    expect(time.timers).toBe(0);
  });
});

describe('a request that is dropped', () => {
  it('is notified in its own async context', () => {
    const lanes = createLanes({ concurrency: 1 });
    const context = new AsyncLocalStorage<string>();
    const seen: unknown[] = [];
    lanes.enter({ session: 'alice' }, silent);
    context.run('mine', () =>
      lanes.enter({ session: 'alice' }, { ...silent, refused: () => seen.push(context.getStore()) }),
    );
    context.run('of another', () => lanes.clear('alice'));
    expect(seen).toEqual(['mine']);
  });
});

describe('a session in which a more urgent request waits', () => {
  /** Creates lanes with one occupied slot, and sessions that record their admission. */
  const busy = (options: LanesOptions = {}) => {
    const { lanes, time } = timed({ concurrency: 1, ...options });
    const order: string[] = [];
    const current = lanes.enter({ session: 'busy' }, silent);
    const enter = (label: string, session: string, priority: TurnPriority) =>
      lanes.enter(
        { session, priority, label },
        {
          ...silent,
          admitted: (lease) => {
            order.push(label);
            lease.release();
          },
        },
      );
    return { lanes, time, order, enter, current };
  };

  it('waits with the priority of its most urgent request', () => {
    const { enter, order, current } = busy();
    enter('heartbeat', 'alice', 'background');
    for (const name of ['a', 'b', 'c']) enter(name, name, 'normal');
    enter('message', 'alice', 'foreground');
    current.release();
    expect(order).toEqual(['heartbeat', 'message', 'a', 'b', 'c']);
  });

  it('does not overtake an earlier request of the same priority', () => {
    const { enter, order, current } = busy();
    enter('heartbeat', 'alice', 'background');
    enter('bob', 'bob', 'foreground');
    enter('message', 'alice', 'foreground');
    current.release();
    expect(order).toEqual(['bob', 'heartbeat', 'message']);
  });

  it('returns to its own priority and position when the urgent request is withdrawn', () => {
    const { enter, order, current, lanes } = busy();
    enter('heartbeat', 'alice', 'background');
    enter('later', 'later', 'background');
    const message = enter('message', 'alice', 'foreground');
    enter('normal', 'bob', 'normal');
    expect(lanes.snapshot().atGate).toEqual({ foreground: 1, normal: 1, background: 1 });
    message.release();
    expect(lanes.snapshot().atGate).toEqual({ foreground: 0, normal: 1, background: 2 });
    current.release();
    expect(order).toEqual(['normal', 'heartbeat', 'later']);
  });

  it('gets a slot that is reserved for the foreground', () => {
    const { enter, order, lanes } = busy({ concurrency: 2, reservedForeground: 1 });
    enter('heartbeat', 'alice', 'background');
    expect(order).toEqual([]);
    enter('message', 'alice', 'foreground');
    expect(order).toEqual(['heartbeat', 'message']);
    expect(lanes.snapshot().active).toEqual({ foreground: 0, normal: 1, background: 0 });
  });

  it('is raised by raise() until its result is called, even before it has requests', () => {
    const { enter, order, lanes, current } = busy();
    const end = lanes.raise('alice', 'foreground');
    enter('normal', 'bob', 'normal');
    enter('heartbeat', 'alice', 'background');
    enter('other', 'carol', 'background');
    const endOther = lanes.raise('carol', 'foreground');
    endOther();
    endOther();
    current.release();
    expect(order).toEqual(['heartbeat', 'normal', 'other']);
    end();
    expect(lanes.snapshot().sessions).toEqual([]);
  });

  it('reclaims its slot with the priority of the request behind it', async () => {
    const { enter, order, lanes, current, time } = busy();
    current.release();
    const back = gate();
    const parent = lanes.run('alice', (lease) => lease.yieldWhile(() => back.passed), { priority: 'background' });
    await settled();
    const holder = lanes.enter({ session: 'busy' }, silent);
    enter('message', 'alice', 'foreground');
    enter('bob', 'bob', 'normal');
    back.open();
    await settled();
    holder.release();
    await parent;
    await settled();
    expect(order).toEqual(['message', 'bob']);
    expect(time.scheduler.now()).toBe(0);
  });
});
