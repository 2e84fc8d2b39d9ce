import { Callbacks } from './callbacks.js';
import { Alarm, monotonicScheduler } from './clock.js';
import type { LaneListener, LaneRequest, Lanes, Lease } from './contract.js';
import { LaneError } from './errors.js';
import { Holder } from './holder.js';
import { Keeper, type Closing, type KeeperOptions } from './keeper.js';
import { checkLanesOptions, type LanesOptions } from './lanes-options.js';
import { Notices } from './notices.js';
import { Pauses } from './pauses.js';
import { priorityOf } from './priority.js';
import { checkRequest } from './request-check.js';
import { runIn } from './run.js';
import { snapshotOf, type LanesSnapshot } from './snapshot.js';
import { Waiter, type Limits } from './waiter.js';
import { WaitLimits } from './wait-limits.js';

/** Lanes of one process. */
export interface LocalLanes extends Lanes {
  /** Sends those away who wait in a session (`lane-cleared`), not the one that runs. @returns how many */
  clear(session: string): number;
  /** What runs and waits, as plain data. It takes time in proportion to that. */
  snapshot(): LanesSnapshot;
  /** Resolves when nobody runs or waits. */
  idle(): Promise<void>;
  /**
   * Refuses whoever comes from now on (`lane-closed`), and resolves when those who are there are done. What they start as a
   * part of their work, and wait for, is let in.
   */
  drain(): Promise<void>;
}

/**
 * Makes lanes: in a session one at a time, in the order in which they came, and over all sessions so many at once, the
 * most urgent first. A session takes at most one slot, however much is queued in it.
 *
 * Somebody who makes no progress for too long is told to stop, and its place is given to others after a grace. Nothing
 * else is kept of a session in which nobody runs or waits.
 *
 * @throws InvalidOptionError that names the option, its value and what it takes
 *
 * @example
 * ```ts
 * const lanes = createLanes({ concurrency: 8, reservedForeground: 2 });
 * const text = await lanes.run('alice', async ({ signal }) => (await fetch(url, { signal })).text(), { priority: 'foreground' });
 * ```
 */
export const createLanes = (options: LanesOptions = {}): LocalLanes => {
  checkLanesOptions(options);
  const { concurrency = 4, scheduler = monotonicScheduler } = options;
  const limits: Limits = {
    idleTimeoutMs: options.idleTimeoutMs ?? 600_000,
    deadlineMs: options.deadlineMs ?? 86_400_000,
    graceMs: options.graceMs ?? 10_000,
    maxWaitMs: options.maxWaitMs ?? Infinity,
  };
  const callbacks = new Callbacks(options.onEvent);
  const onIdle: (() => void)[] = [];
  const keeper = new Keeper(keeperOptions(options, concurrency), {
    callbacks,
    now: () => scheduler.now(),
    stoppedWaiting: (waiter) => {
      waitLimits.remove(waiter);
      if (waiter.listener.waiting) notices.remove(waiter);
    },
    watchPauses: (isNeeded) => pauses.watch(isNeeded),
    dueChanged: ({ dueAt }) => alarm.setFor(dueAt),
    idle: () => {
      alarm.clear();
      if (keeper.closing) callbacks.end();
      for (const resolve of onIdle.splice(0)) resolve();
    },
  });
  const alarm = new Alarm(scheduler, () => {
    keeper.expire();
    for (const { dueAt } of keeper.holders) alarm.setFor(dueAt);
  });
  const waitLimits = new WaitLimits(scheduler);
  const pauses = new Pauses(keeper, scheduler, callbacks);
  const notices = new Notices(keeper, scheduler, options.noticeEveryMs ?? 1000, callbacks);
  const enter = (request: LaneRequest, listener: LaneListener): Waiter => {
    if (request.groups) keeper.gate.groups.check(request.groups);
    const priority = request.priority ?? (request.trigger === undefined ? 'normal' : priorityOf(request.trigger));
    const parent = request.within === undefined ? callbacks.current : holderOf(request.within, keeper);
    const waiter = new Waiter(keeper, request, listener, priority, limitsOf(request, limits), parent);
    keeper.enter(waiter);
    if (!waiter.isWaiting) return waiter;
    callbacks.remember(waiter);
    waitLimits.add(waiter);
    if (listener.waiting) notices.add(waiter);
    return waiter;
  };
  const idle = (): Promise<void> =>
    keeper.lanes.size === 0 ? Promise.resolve() : new Promise((resolve) => onIdle.push(resolve));
  const close = (closing: Closing): void => {
    keeper.closing = closing;
    if (keeper.lanes.size === 0) callbacks.end();
  };
  return {
    enter: (request, listener) => {
      checkRequest(request, listener);
      return enter(request, listener);
    },
    run: (session, task, runOptions) => runIn(enter, session, task, runOptions),
    yieldWhile: async (work) => {
      const { current } = callbacks;
      return current ? current.yieldWhile(work) : work();
    },
    detach: (callback) => callbacks.within(undefined, callback),
    clear: (session) => {
      const waiting = [...(keeper.lanes.get(session)?.waiters ?? [])].filter(({ isWaiting }) => isWaiting);
      for (const waiter of waiting) {
        waiter.abort(
          new LaneError(
            'lane-cleared',
            session,
            `Those who wait in session ${JSON.stringify(session)} were sent away.`,
          ),
        );
      }
      return waiting.length;
    },
    raise: (session, priority) => {
      const end = keeper.lanes.announce(session, priority);
      keeper.admitAll();
      return end;
    },
    snapshot: () => snapshotOf(keeper, concurrency),
    idle,
    drain: () => {
      const reason = 'The lanes are draining: who is there may finish, nobody else is let in.';
      if (!keeper.closing) close({ reason, mayFinish: true });
      return idle();
    },
    shutdown: ({ reason = 'The lanes are shut down.' } = {}) => {
      close({ reason, mayFinish: false });
      const all = [...keeper.lanes.values()].flatMap(({ waiters }) => [...waiters]);
      // Those who wait go first, from behind, lest one of them takes a place that is being freed.
      const inOrder = [
        ...all.filter(({ isWaiting }) => isWaiting).toReversed(),
        ...all.filter(({ isWaiting }) => !isWaiting),
      ];
      for (const waiter of inOrder) waiter.abort(new LaneError('lane-closed', waiter.session, reason));
      return idle();
    },
  };
};

const keeperOptions = (options: LanesOptions, concurrency: number): KeeperOptions => ({
  gate: {
    concurrency,
    reservedForeground: options.reservedForeground ?? 0,
    ageAfterMs: options.ageAfterMs ?? Infinity,
    groups: options.groups ?? {},
  },
  bounds: {
    maxWaiting: options.maxWaiting ?? 10_000,
    maxWaitingPerSession: options.maxWaitingPerSession ?? 100,
    whenFull: options.whenFull ?? 'reject',
  },
});

/** Those of the request, else those of the lanes. */
const limitsOf = (request: LaneRequest, limits: Limits): Limits => {
  const { idleTimeoutMs, deadlineMs, graceMs, maxWaitMs } = request;
  if (idleTimeoutMs === undefined && deadlineMs === undefined && graceMs === undefined && maxWaitMs === undefined) {
    return limits;
  }
  return {
    idleTimeoutMs: idleTimeoutMs ?? limits.idleTimeoutMs,
    deadlineMs: deadlineMs ?? limits.deadlineMs,
    graceMs: graceMs ?? limits.graceMs,
    maxWaitMs: maxWaitMs ?? limits.maxWaitMs,
  };
};

/** Leases of other lanes have no part in these. */
const holderOf = (lease: Lease, keeper: Keeper): Holder | undefined =>
  lease instanceof Holder && lease.isOf(keeper) ? lease : undefined;
