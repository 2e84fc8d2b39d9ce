import type { TurnPriority } from '@h/turn';
import { afterEach, describe, expect, it } from 'vitest';
import type { LaneHandle, LaneRequest, Lanes, LaneLease } from '../contract.js';
import type { LaneError } from '../errors.js';

/** Creates lanes with these limits. Each test creates its own. */
export type LanesFactory = (limits: {
  readonly concurrency: number;
  readonly reservedForeground?: number;
}) => Lanes | Promise<Lanes>;

/**
 * Tests an implementation of `Lanes` against the contract. Every implementation calls it in its tests.
 *
 * No test depends on the speed of the implementation.
 *
 * @example
 * ```ts
 * describeLanes(({ concurrency, reservedForeground = 0 }) => createLanes({ concurrency, reservedForeground }));
 * ```
 */
export const describeLanes = (create: LanesFactory): void => {
  describe('keeps the contract of lanes', () => {
    const opened: Lanes[] = [];
    afterEach(async () => {
      await Promise.all(opened.splice(0).map((lanes) => lanes.shutdown()));
    });
    const open = async (concurrency: number, reservedForeground = 0): Promise<Visitors> => {
      const lanes = await create({ concurrency, reservedForeground });
      opened.push(lanes);
      return new Visitors(lanes);
    };

    it('admits one request at a time in a session, in order of arrival', async () => {
      const visitors = await open(4);
      for (const name of ['a', 'b', 'c']) visitors.enter(name, { session: 'alice' });
      for (const name of ['a', 'b', 'c']) {
        const lease = await visitors.admitted(name);
        expect(visitors.current()).toEqual([name]);
        lease.release();
      }
      expect(visitors.order).toEqual(['a', 'b', 'c']);
    });

    it('admits no more than the limit over all sessions', async () => {
      const visitors = await open(2);
      const names = Array.from({ length: 8 }, (_, index) => `${index}`);
      for (const name of names) visitors.enter(name, { session: name });
      let most = 0;
      for (const name of names) {
        const lease = await visitors.admitted(name);
        most = Math.max(most, visitors.current().length);
        lease.release();
      }
      expect(most).toBeLessThanOrEqual(2);
      expect(visitors.order).toEqual(names);
    });

    it('admits the most urgent first, and the earliest among equals', async () => {
      const visitors = await open(1);
      visitors.enter('current', { session: 'current' });
      const current = await visitors.admitted('current');
      const priorities: readonly TurnPriority[] = ['background', 'normal', 'foreground', 'background', 'foreground'];
      for (const [index, priority] of priorities.entries()) {
        visitors.enter(`${index}`, { session: `s${index}`, priority });
      }
      current.release();
      for (const name of ['2', '4', '1', '0', '3']) (await visitors.admitted(name)).release();
      expect(visitors.order).toEqual(['current', '2', '4', '1', '0', '3']);
    });

    it('gives a session the priority of its most urgent request', async () => {
      const visitors = await open(1);
      visitors.enter('current', { session: 'current' });
      const current = await visitors.admitted('current');
      visitors.enter('heartbeat', { session: 'alice', priority: 'background' });
      visitors.enter('bob', { session: 'bob', priority: 'normal' });
      visitors.enter('message', { session: 'alice', priority: 'foreground' });
      current.release();
      for (const name of ['heartbeat', 'message', 'bob']) (await visitors.admitted(name)).release();
      expect(visitors.order).toEqual(['current', 'heartbeat', 'message', 'bob']);
    });

    it('raises a session until the raise has ended', async () => {
      const visitors = await open(1);
      visitors.enter('current', { session: 'current' });
      const current = await visitors.admitted('current');
      visitors.enter('bob', { session: 'bob', priority: 'normal' });
      for (const name of ['alice', 'carol']) visitors.enter(name, { session: name, priority: 'background' });
      const ends = ['alice', 'carol'].map((session) => visitors.lanes.raise(session, 'foreground'));
      ends[1]?.();
      current.release();
      for (const name of ['alice', 'bob', 'carol']) (await visitors.admitted(name)).release();
      expect(visitors.order).toEqual(['current', 'alice', 'bob', 'carol']);
      ends[0]?.();
    });

    it('reserves slots for the foreground', async () => {
      const visitors = await open(2, 1);
      visitors.enter('normal', { session: 'a', priority: 'normal' });
      visitors.enter('waits', { session: 'b', priority: 'normal' });
      visitors.enter('urgent', { session: 'c', priority: 'foreground' });
      const [normal, urgent] = [await visitors.admitted('normal'), await visitors.admitted('urgent')];
      expect(visitors.current().toSorted()).toEqual(['normal', 'urgent']);
      normal.release();
      (await visitors.admitted('waits')).release();
      urgent.release();
    });

    it('admits a request that is ahead before those that wait in its session', async () => {
      const visitors = await open(1);
      visitors.enter('current', { session: 'alice' });
      const current = await visitors.admitted('current');
      visitors.enter('later', { session: 'alice' });
      visitors.enter('resumed', { session: 'alice', ahead: true });
      current.release();
      for (const name of ['resumed', 'later']) (await visitors.admitted(name)).release();
      expect(visitors.order).toEqual(['current', 'resumed', 'later']);
    });

    it('gives each lease of a session a larger fence', async () => {
      const visitors = await open(1);
      const fences: number[] = [];
      for (const name of ['a', 'b', 'c']) {
        visitors.enter(name, { session: 'alice' });
        const lease = await visitors.admitted(name);
        fences.push(lease.fence);
        lease.release();
      }
      expect(fences).toEqual([...new Set(fences)].toSorted((left, right) => left - right));
    });

    it('never notifies the listener of a request that was released while it waited', async () => {
      const visitors = await open(1);
      visitors.enter('current', { session: 'alice' });
      const current = await visitors.admitted('current');
      const released = visitors.enter('released', { session: 'alice' });
      visitors.enter('next', { session: 'alice' });
      released.release();
      released.release();
      current.release();
      (await visitors.admitted('next')).release();
      expect([visitors.order, visitors.refusals]).toEqual([['current', 'next'], []]);
    });

    it('refuses a waiting request that is aborted', async () => {
      const visitors = await open(1);
      visitors.enter('current', { session: 'alice' });
      const current = await visitors.admitted('current');
      const aborted = visitors.enter('aborted', { session: 'alice' });
      aborted.abort('Not needed.');
      await visitors.refused('aborted');
      current.release();
      expect(visitors.refusals).toEqual([['aborted', 'lane-aborted']]);
    });

    it('asks aborted work to stop, and marks its lease as lost after its release', async () => {
      const visitors = await open(1);
      const place = visitors.enter('current', { session: 'alice' });
      const lease = await visitors.admitted('current');
      const { signal } = lease;
      const stopped = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
      place.abort('Enough.');
      await stopped;
      expect([lease.isAborted, lease.isCurrent]).toEqual([true, true]);
      lease.release();
      expect(lease.isCurrent).toBe(false);
      expect(() => lease.check()).toThrow();
    });

    it('runs a task and resolves to its result, or rejects with its error', async () => {
      const { lanes } = await open(1);
      expect(await lanes.run('alice', () => 'done')).toBe('done');
      await expect(lanes.run('alice', () => Promise.reject(new Error('Broken.')))).rejects.toThrow('Broken.');
      expect(await lanes.run('alice', async ({ session }) => session)).toBe('alice');
    });

    it('lends the slot of work that waits for other work, and keeps its session', async () => {
      const visitors = await open(1);
      const { lanes } = visitors;
      const order: string[] = [];
      const parent = lanes.run('parent', async (lease) => {
        const second = lanes.detach(() => lanes.run('parent', () => order.push('second')));
        await lease.yieldWhile(() => lanes.run('child', () => order.push('child')));
        order.push('parent');
        return { second };
      });
      await (
        await parent
      ).second;
      expect(order).toEqual(['child', 'parent', 'second']);
    });

    it('refuses new and waiting requests after shutdown', async () => {
      const visitors = await open(1);
      visitors.enter('current', { session: 'alice' });
      const current = await visitors.admitted('current');
      visitors.enter('waiting', { session: 'alice' });
      const down = visitors.lanes.shutdown();
      await visitors.refused('waiting');
      visitors.enter('late', { session: 'bob' });
      await visitors.refused('late');
      current.release();
      await down;
      expect(visitors.refusals).toEqual([
        ['waiting', 'lane-closed'],
        ['late', 'lane-closed'],
      ]);
    });
  });
};

/** Enters requests by name and records their notifications. */
class Visitors {
  readonly lanes: Lanes;
  readonly order: string[] = [];
  readonly refusals: (readonly [name: string, code: string])[] = [];
  readonly #leases = new Map<string, LaneLease>();
  readonly #onChange = new Set<() => void>();

  constructor(lanes: Lanes) {
    this.lanes = lanes;
  }

  enter(name: string, request: LaneRequest): LaneHandle {
    return this.lanes.enter(request, {
      admitted: (lease) => {
        this.order.push(name);
        this.#leases.set(name, lease);
        this.#changed();
      },
      refused: ({ code }: LaneError) => {
        this.refusals.push([name, code]);
        this.#changed();
      },
    });
  }

  /** The names of the requests that hold a slot. */
  current(): readonly string[] {
    return [...this.#leases].filter(([, { isCurrent }]) => isCurrent).map(([name]) => name);
  }

  admitted(name: string): Promise<LaneLease> {
    return this.#until(() => this.#leases.get(name));
  }

  async refused(name: string): Promise<void> {
    await this.#until(() => this.refusals.find(([refused]) => refused === name));
  }

  #changed(): void {
    for (const look of this.#onChange) look();
  }

  #until<Result>(look: () => Result | undefined): Promise<Result> {
    return new Promise((resolve) => {
      const settle = (): void => {
        const found = look();
        if (found === undefined) return;
        this.#onChange.delete(settle);
        resolve(found);
      };
      this.#onChange.add(settle);
      settle();
    });
  }
}
