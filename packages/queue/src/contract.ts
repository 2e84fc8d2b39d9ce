import type { TurnPriority, TurnTrigger } from '@h/turn';
import type { LaneError } from './errors.js';
import type { RunOptions, Task } from './run.js';

/** What somebody who wants a place says about itself. */
export interface LaneRequest {
  /** The lane: one at a time is let in, in the order in which they came. */
  readonly session: string;
  /** @defaultValue by `trigger`, else `'normal'` */
  readonly priority?: TurnPriority | undefined;
  readonly trigger?: TurnTrigger | undefined;
  /** Keys by kind, for the groups of the lanes: `{ provider: 'anthropic', tenant: 'acme' }`. */
  readonly groups?: Readonly<Record<string, string | undefined>> | undefined;
  /** What it is called in snapshots and events; the id of the turn. */
  readonly label?: string | undefined;
  /** A few words that are kept of it when it is dropped. */
  readonly summary?: string | undefined;
  /** @defaultValue that of the lanes */
  readonly idleTimeoutMs?: number | undefined;
  /** @defaultValue that of the lanes */
  readonly deadlineMs?: number | undefined;
  /** @defaultValue that of the lanes */
  readonly graceMs?: number | undefined;
  /** @defaultValue that of the lanes */
  readonly maxWaitMs?: number | undefined;
  /** Goes before all of its session who have not been let in: it holds the session's store already, as a resumed turn does. */
  readonly ahead?: boolean | undefined;
  /**
   * Whose work this is a part of.
   *
   * @defaultValue the lease in whose asynchronous context the request is made
   */
  readonly within?: Lease | undefined;
}

/** Where somebody stands who waits. */
export interface WaitingNotice {
  readonly session: string;
  /** `session`: for those before it in its session; `slot`: for one of the places of all. */
  readonly for: 'session' | 'slot';
  /** Its place among those who wait for the same, from 1. */
  readonly position: number;
  /** How long it has waited, in milliseconds. */
  readonly waitedMs: number;
  /** The group that has no slot for it, as `kind:key`. */
  readonly group?: string | undefined;
}

/** What was dropped in a session since somebody was let in last, where the policy is `summarize`. */
export interface Dropped {
  readonly count: number;
  /** The summaries of the latest of them. */
  readonly summaries: readonly string[];
}

/** A place that somebody waits for, or has. */
export interface LanePlace {
  /** Waits no longer, or gives the place back. The second time it does nothing. */
  release(): void;
  /** Waits no longer, and is refused; or is asked to stop, and has `graceMs` to give the place back. */
  abort(reason: unknown): void;
}

/** A place that somebody has. */
export interface Lease extends LanePlace {
  readonly session: string;
  /** A number that is larger for everyone who is let in later. A store that remembers the largest can refuse those before. */
  readonly fence: number;
  /** Whether the place is still its own. */
  readonly isCurrent: boolean;
  /** Whether it was told to stop. */
  readonly isAborted: boolean;
  /** Aborted when it shall stop; `reason` is a {@link LaneError}. */
  readonly signal: AbortSignal;
  readonly dropped: Dropped | undefined;
  /** Something has moved: the idle timeout begins again. The deadline does not. */
  progress(): void;
  /**
   * To be called before anything is written.
   *
   * @throws LaneError `lane-lost` when the place has been given to somebody else
   */
  check(): void;
  /** It is about to give the place back: what is queued from now on waits its turn, and is no part of it. */
  ending(): void;
  /** Does something as a part of this work, so that what is queued there is known to be one. */
  within<Result>(callback: () => Result): Result;
  /**
   * What was paused is about to go on. Lanes that lend the slots of those who are paused have it.
   *
   * @returns `false` where it has to wait for a slot first: its listener hears `returned` once it has one. Who shall stop, or
   * has lost its place, waits for none.
   */
  goOn?(): boolean;
  /**
   * Gives the slot to others while it waits for something that needs one itself, and waits for a slot again before it
   * goes on. The session stays its own, and the idle timeout stands still. Where several parts of the work wait, the slot is
   * lent from the first that leaves to the last that comes back.
   *
   * @throws LaneError the reason for which it shall stop, or `lane-lost`; whatever the work throws
   *
   * @example
   * ```ts
   * await lanes.run('parent', async (lease) => {
   *   const found = await lease.yieldWhile(() => lanes.run('child', () => look()));
   *   lease.check();
   *   await write(found);
   * });
   * ```
   */
  yieldWhile<Result>(work: () => Result | PromiseLike<Result>): Promise<Result>;
}

/** Whether somebody is paused, and may lend its slot (`true`), or is `'at-work'` without a word for a while. */
export type Pause = boolean | 'at-work';

/** Who wants a place. What these throw is reported to `onEvent`, and holds nobody up. */
export interface LaneListener {
  /** The place is free: now, or later. */
  admitted(lease: Lease): void;
  /** There will be no place. */
  refused(error: LaneError): void;
  /** It has to wait; again whenever it has moved up. */
  readonly waiting?: ((notice: WaitingNotice) => void) | undefined;
  /** It shall stop, and has `graceMs` to give the place back. */
  aborted?(error: LaneError): void;
  /** The place was taken away: what it does from now on does not count. */
  lost?(error: LaneError): void;
  /**
   * Whether it rightly makes no progress. `true`, as while a person is asked: its slot may be lent to others until it calls
   * `goOn()` of its lease, and the idle timeout begins again. `'at-work'`: only that begins again.
   */
  readonly isPaused?: (() => Pause) | undefined;
  /** It has a slot again. */
  returned?(): void;
}

/**
 * Lanes: one request at a time in a session, a limited number over all sessions, the most urgent first.
 *
 * `createLanes()` implements them for one process; lanes that are stored in a database implement the same interface. Every
 * implementation passes `describeLanes()` of `@h/queue/testing`. Any answer may come later.
 *
 * Contract:
 * - A listener is notified by `admitted` or by `refused`, once, and by neither after its request was released.
 * - A session has one current lease at a time, and a later lease has a larger `fence`.
 * - A slot is released by `release()`, or taken away (`lost`) some time after `aborted`.
 * - A session waits with the priority of its most urgent request.
 */
export interface Lanes {
  /**
   * Requests a slot. The listener may be called before this returns.
   *
   * @example
   * ```ts
   * const place = lanes.enter(
   *   { session: 'alice', trigger: 'user' },
   *   { admitted: (lease) => work(lease), refused: (error) => console.warn(error.code) },
   * );
   * place.release();
   * ```
   */
  enter(request: LaneRequest, listener: LaneListener): LanePlace;
  /**
   * Runs a task as soon as its session and a slot are free, and resolves to its result.
   *
   * A task that is told to stop and throws rejects with the reason for which it was stopped. What a task returns after its slot was
   * taken away is dropped, and reported as `late`.
   *
   * @throws LaneError if there is no slot for it, or its slot was taken away; `code` is the reason
   */
  run<Result>(session: string, task: Task<Result>, options?: RunOptions): Promise<Result>;
  /**
   * Lends the caller's slot while it waits for work that needs a slot itself, and acquires one again before it resolves. The session
   * stays held. The slot is found by the asynchronous context of the caller; without one, only the work is done.
   *
   * @example
   * ```ts
   * const answer = await lanes.yieldWhile(() => reply(child.turn({ session: 'child', input: 'Look' })));
   * ```
   */
  yieldWhile<Result>(work: () => Result | PromiseLike<Result>): Promise<Result>;
  /**
   * Calls back outside of the asynchronous context of the work that holds the slot: what is requested there for the same session
   * waits its turn.
   *
   * @example
   * ```ts
   * lanes.detach(() => void lanes.run('alice', () => remember(), { trigger: 'memory' }));
   * ```
   */
  detach<Result>(callback: () => Result): Result;
  /**
   * Raises a session to a priority until the returned function is called, as if a request of that priority waited in it. For
   * messages that wait outside of the lanes: `createInbox()` calls it while a message waits behind a turn that was not admitted.
   */
  raise(session: string, priority: TurnPriority): () => void;
  /**
   * Refuses new and waiting requests (`lane-closed`), tells those who run to stop, and resolves when all slots are released or their
   * grace period has ended.
   */
  shutdown(options?: ShutdownOptions): Promise<void>;
}

/** Options of `shutdown()`. */
export interface ShutdownOptions {
  /** The reason that running work is given. */
  readonly reason?: string | undefined;
}
