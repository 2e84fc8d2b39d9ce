import { anyBoolean, checkOptions } from '@h/options';
import { Callbacks } from './callbacks.js';
import { Alarm, monotonicScheduler } from './clock.js';
import type { LaneListener, LaneRequest, Lanes, LaneLease } from '../contract.js';
import { LaneError } from '../errors.js';
import { Keeper, type Closing, type KeeperOptions } from './keeper.js';
import { checkLanesOptions, type LanesOptions } from './lanes-options.js';
import { Notices } from './notices.js';
import { parentOf } from './parents.js';
import { priorityOf } from '../priority.js';
import { checkRequest } from './request-check.js';
import { runIn } from './run.js';
import { snapshotOf, type LanesSnapshot } from './snapshot.js';
import { SlotHolder, Waiter, type Limits } from './waiter.js';
import { WaitLimits } from './wait-limits.js';

/** Lanes of one process. */
export interface LocalLanes extends Lanes {
  /**
   * Refuses all waiting requests of a session (`lane-cleared`). The current holder keeps its slot. @returns their
   * number
   */
  clear(session: string): number;
  /** Returns all holders and waiting requests as plain data. */
  snapshot(): LanesSnapshot;
  /** Resolves when no request waits or holds a slot. */
  idle(): Promise<void>;
  /**
   * Refuses new requests (`lane-closed`) and resolves when all earlier ones have ended. Requests that are a part of
   * earlier work are still admitted.
   *
   * @throws InvalidOptionError for an option that does not exist or is not a boolean
   */
  drain(options?: DrainOptions): Promise<void>;
}

/** Options of `drain()`. */
export interface DrainOptions {
  /**
   * Whether waiting requests are refused too (`lane-closed`), so that only work that has begun ends. An inbox with a
   * store keeps their messages for the next process.
   *
   * @defaultValue `false`
   */
  readonly refuseWaiting?: boolean | undefined;
}

/**
 * Creates lanes: one request at a time in a session, `concurrency` over all sessions, the most urgent first.
 *
 * A session uses at most one slot, and waits with the priority of its most urgent request. A holder that makes no
 * progress for too long is asked to stop, and loses its slot after a grace period. An idle session uses no memory.
 *
 * @throws InvalidOptionError names the option, its value and what it accepts
 *
 * @example
 * ```ts
 * const lanes = createLanes({ concurrency: 8, reservedForeground: 2 });
 * const read = async ({ signal }: LaneLease) => (await fetch(url, { signal })).text();
 * const text = await lanes.run('alice', read, { priority: 'foreground' });
 * ```
 */
export const createLanes = (options: LanesOptions = {}): LocalLanes => lanesWith(options);

/** Creates lanes whose gate may be shared with other processes. `onKeeper` receives their state. */
export const lanesWith = (
  options: LanesOptions,
  createGate?: KeeperOptions['createGate'],
  onKeeper?: (keeper: Keeper) => void,
): LocalLanes => {
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
  const keeper = new Keeper(
    { ...keeperOptions(options, concurrency), createGate },
    {
      callbacks,
      now: () => scheduler.now(),
      stoppedWaiting: (waiter) => {
        waitLimits.remove(waiter);
        if (waiter.listener.waiting) notices.remove(waiter);
      },
      dueChanged: ({ dueAt }) => alarm.setFor(dueAt),
      idle: () => {
        alarm.clear();
        if (keeper.closing) callbacks.end();
        for (const resolve of onIdle.splice(0)) resolve();
      },
    },
  );
  onKeeper?.(keeper);
  const alarm = new Alarm(scheduler, () => {
    keeper.expire();
    for (const { dueAt } of keeper.holders) alarm.setFor(dueAt);
  });
  const waitLimits = new WaitLimits(scheduler);
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
  const waiters = (): readonly Waiter[] => [...keeper.lanes.values()].flatMap((lane) => [...lane.waiters]);
  const refuse = (refused: readonly Waiter[], reason: string): void => {
    for (const waiter of refused) waiter.abort(new LaneError('lane-closed', waiter.session, reason));
  };
  /** Waiting requests that are not a part of running work. */
  const strangers = (): readonly Waiter[] => keeper.lastWaiting.filter((waiter) => !parentOf(waiter));
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
            `Waiting requests of session ${JSON.stringify(session)} were cleared.`,
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
    drain: (options = {}) => {
      checkOptions('drain()', options, { refuseWaiting: anyBoolean });
      const { refuseWaiting = false } = options;
      const reason = `The lanes are draining: ${refuseWaiting ? 'running' : 'running and waiting'} work may finish, new requests are refused.`;
      if (!keeper.closing) close({ reason, mayFinish: true });
      if (refuseWaiting) refuse(strangers(), reason);
      return idle();
    },
    shutdown: ({ reason = 'The lanes are shut down.' } = {}) => {
      close({ reason, mayFinish: false });
      const running = waiters().filter(({ isWaiting }) => !isWaiting);
      refuse(keeper.lastWaiting, reason);
      refuse(running, reason);
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

/** The time limits of the request; the lanes' for those that it does not set. */
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

/** The holder behind a lease; `undefined` for a lease of other lanes. */
const holderOf = (lease: LaneLease, keeper: Keeper): SlotHolder | undefined =>
  lease instanceof SlotHolder && lease.isOf(keeper) ? lease : undefined;
