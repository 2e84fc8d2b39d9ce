import { describe, expect, it } from 'vitest';
import { virtualTime } from '../../test/virtual-time.js';
import type { LaneHandle, LaneRequest, LaneLease } from '../contract.js';
import { createLanes } from './lanes.js';
import type { LanesOptions } from './lanes-options.js';

interface Person {
  readonly place: LaneHandle;
  readonly lease: LaneLease | undefined;
  readonly heard: string[];
}

const stage = (options: LanesOptions) => {
  const time = virtualTime();
  const events: string[] = [];
  const lanes = createLanes({
    scheduler: time.scheduler,
    noticeEveryMs: Infinity,
    ...options,
    onEvent: ({ type }) => void events.push(type),
  });
  /** Work that is paused from the start, or at work without progress. */
  const enter = (
    session: string,
    state: 'active' | 'paused' | 'at-work' = 'active',
    more: Partial<LaneRequest> = {},
  ): Person => {
    const heard: string[] = [];
    const got: { lease?: LaneLease } = {};
    const person = { heard };
    const place = lanes.enter(
      { session, ...more },
      {
        admitted: (lease) => {
          got.lease = lease;
          if (state === 'paused') lease.pause?.();
        },
        refused: () => void heard.push('refused'),
        aborted: () => void heard.push('aborted'),
        returned: () => void heard.push('returned'),
        isAtWork: () => state === 'at-work',
      },
    );
    return Object.defineProperty(Object.assign(person, { place }), 'lease', {
      get: () => got.lease,
    }) as unknown as Person;
  };
  const states = (): readonly string[] =>
    lanes.snapshot().sessions.map(({ session, running }) => `${session} ${running?.state ?? 'waits'}`);
  return { time, lanes, events, enter, states };
};

const never = (): Promise<never> => new Promise(() => undefined);

describe('paused work', () => {
  it('lends its slot at once, and only once if it is paused again', () => {
    const { enter, states, lanes } = stage({ concurrency: 1 });
    const alice = enter('alice', 'paused');
    alice.lease?.pause?.();
    expect([states(), lanes.snapshot().active.normal]).toEqual([['alice away'], 0]);
    expect([alice.lease?.resume?.(), states()]).toEqual([true, ['alice running']]);
  });

  it('is notified when it has a slot again', () => {
    const { enter, states } = stage({ concurrency: 1 });
    const [alice, bob] = [enter('alice', 'paused'), enter('bob')];
    expect(states()).toEqual(['alice away', 'bob running']);
    expect(alice.lease?.resume?.()).toBe(false);
    expect(alice.lease?.resume?.()).toBe(false);
    bob.place.release();
    expect([alice.heard, states(), alice.lease?.resume?.()]).toEqual([['returned'], ['alice running'], true]);
  });

  it('starts its idle timeout again when it resumes', () => {
    const { enter, time } = stage({ concurrency: 1, idleTimeoutMs: 500 });
    const alice = enter('alice', 'paused');
    const bob = enter('bob', 'at-work');
    alice.lease?.resume?.();
    time.advance(1200);
    bob.place.release();
    time.advance(499);
    expect(alice.heard).toEqual(['returned']);
    time.advance(1);
    expect(alice.heard).toEqual(['returned', 'aborted']);
  });

  it('resumes without a slot while another part is away, and reclaims one afterwards', async () => {
    const { enter, states } = stage({ concurrency: 1 });
    const alice = enter('alice', 'paused');
    const bob = enter('bob');
    let back: (() => void) | undefined;
    const away = alice.lease?.yieldWhile(() => new Promise<void>((resolve) => (back = resolve)));
    expect([alice.lease?.resume?.(), states()]).toEqual([true, ['alice away', 'bob running']]);
    back?.();
    await new Promise(setImmediate);
    expect(states()).toEqual(['alice returning', 'bob running']);
    bob.place.release();
    await away;
    expect(states()).toEqual(['alice running']);
  });

  it('is not idle while it also waits for other work', () => {
    const { enter, time } = stage({ concurrency: 1, idleTimeoutMs: 500 });
    const alice = enter('alice', 'paused');
    enter('bob', 'at-work');
    void alice.lease?.yieldWhile(never);
    time.advance(2000);
    expect(alice.heard).toEqual([]);
  });

  it('does not wait for a slot after a request to stop or a release', () => {
    const { enter, states } = stage({ concurrency: 1 });
    const people = [enter('alice', 'paused'), enter('bob', 'paused'), enter('carol', 'paused')];
    enter('dave');
    const [alice, bob, carol] = people;
    alice?.place.abort('Enough.');
    expect([alice?.lease?.resume?.(), states()[0]]).toEqual([true, 'alice stopping']);
    bob?.lease?.resume?.();
    bob?.place.release();
    expect(bob?.lease?.resume?.()).toBe(true);
    carol?.lease?.resume?.();
    carol?.place.abort('Enough.');
    expect(carol?.lease?.resume?.()).toBe(true);
    expect(people.map((one) => one?.heard)).toEqual([['aborted'], [], ['aborted']]);
  });
});

describe('work that was asked to stop', () => {
  it('keeps its slot in its grace period, even if it pauses', () => {
    const { enter, states, time } = stage({ concurrency: 1, graceMs: 1000 });
    const alice = enter('alice');
    alice.place.abort('Enough.');
    alice.lease?.pause?.();
    const bob = enter('bob');
    time.advance(999);
    expect([states(), bob.lease]).toEqual([['alice stopping', 'bob waits'], undefined]);
    time.advance(1);
    expect(states()).toEqual(['bob running']);
  });
});

describe('parents that hold all slots', () => {
  /** Each parent has a child. The first child has been answered after a question; the second one has not begun. */
  const deadlocked = () => {
    const all = stage({ concurrency: 2 });
    const first = all.enter('parent-1');
    const child = all.enter('child-1', 'paused', { within: first.lease });
    const second = all.enter('parent-2');
    return { ...all, first, child, second };
  };

  it('are reported while a child waits to resume, and again after it was aborted', () => {
    const { enter, first, child, second, events, states } = deadlocked();
    enter('child-2', 'active', { within: second.lease });
    expect([events, states()]).toEqual([[], ['parent-1 running', 'child-1 away', 'parent-2 running', 'child-2 waits']]);
    expect(child.lease?.resume?.()).toBe(false);
    expect(events).toEqual(['slots-held-by-parents']);
    child.place.abort('Enough.');
    enter('child-3', 'active', { within: first.lease });
    expect(events).toEqual(['slots-held-by-parents', 'aborted', 'slots-held-by-parents']);
  });

  it('are not reported once that child has released its slot', () => {
    const { enter, child, second, events } = deadlocked();
    child.lease?.resume?.();
    child.place.release();
    enter('child-2', 'active', { within: second.lease });
    expect(events).toEqual([]);
  });
});
