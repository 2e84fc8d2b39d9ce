import type { TurnPriority, TurnTrigger } from '@h/turn';
import type { LaneError } from './errors.js';

/** A request for a slot. */
export interface LaneRequest {
  /** The lane. One request of a session is admitted at a time, in the order of arrival. */
  readonly session: string;
  /** @defaultValue by `trigger`; `'normal'` without one */
  readonly priority?: TurnPriority | undefined;
  readonly trigger?: TurnTrigger | undefined;
  /** Keys by kind, for the groups of the lanes: `{ provider: 'anthropic', tenant: 'acme' }`. */
  readonly groups?: Readonly<Record<string, string | undefined>> | undefined;
  /** Its name in snapshots and events, such as the id of the turn. */
  readonly label?: string | undefined;
  /** A summary that is kept if the request is dropped. */
  readonly summary?: string | undefined;
  /** @defaultValue the limit of the lanes */
  readonly idleTimeoutMs?: number | undefined;
  /** @defaultValue the limit of the lanes */
  readonly deadlineMs?: number | undefined;
  /** @defaultValue the limit of the lanes */
  readonly graceMs?: number | undefined;
  /** @defaultValue the limit of the lanes */
  readonly maxWaitMs?: number | undefined;
  /**
   * Puts it before all waiting requests of its session. For work that holds the session's store already, such as a
   * resumed turn.
   */
  readonly ahead?: boolean | undefined;
  /**
   * The lease of the work that this request is a part of.
   *
   * @defaultValue the lease in whose asynchronous context the request is made
   */
  readonly within?: LaneLease | undefined;
}

/** The position of a waiting request. */
export interface WaitingNotice {
  readonly session: string;
  /** `session`: waits for earlier requests of its session; `slot`: waits for a free slot. */
  readonly for: 'session' | 'slot';
  /** Position among the requests that wait for the same, from 1. */
  readonly position: number;
  /** Time since the request, in milliseconds. */
  readonly waitedMs: number;
  /** The group that has no free slot for it, as `kind:key`. */
  readonly group?: string | undefined;
}

/** Requests of a session that were dropped since its last admission, with the policy `summarize`. */
export interface Dropped {
  readonly count: number;
  /** The summaries of the latest dropped requests. */
  readonly summaries: readonly string[];
}

/** A request that waits for a slot or holds one. */
export interface LaneHandle {
  /** Withdraws the request, or releases the slot. Has no effect the second time. */
  release(): void;
  /** Refuses the request; or asks its holder to stop and to release the slot within `graceMs`. */
  abort(reason: unknown): void;
}

/** A slot that is held. */
export interface LaneLease extends LaneHandle {
  readonly session: string;
  /**
   * A number that is larger for each later lease. A store that remembers the largest can refuse writes of earlier ones.
   */
  readonly fence: number;
  /** Whether the slot is still held. */
  readonly isCurrent: boolean;
  /** Whether the holder was asked to stop. */
  readonly isAborted: boolean;
  /** Aborted when the holder is asked to stop; `reason` is a {@link LaneError}. */
  readonly signal: AbortSignal;
  readonly dropped: Dropped | undefined;
  /** Reports progress, which restarts the idle timeout but not the deadline. */
  progress(): void;
  /**
   * Throws if the slot was lost. Call it before anything is written.
   *
   * @throws LaneError `lane-lost` if the slot was given to another request
   */
  check(): void;
  /** Announces the release: later requests from this context are not a part of this work and wait in line. */
  ending(): void;
  /** Whether the caller runs in the asynchronous context of this lease, as callbacks of {@link LaneLease.within} do. */
  readonly isInContext?: boolean | undefined;
  /** Calls back as a part of this work, so that requests made there are known to belong to it. */
  within<Result>(callback: () => Result): Result;
  /**
   * Announces that the work waits for a person: the slot is lent, and the idle timeout is suspended, until
   * {@link LaneLease.resume} is called. Has no effect on work that waits for its slot or was asked to stop. Present on
   * lanes that lend slots.
   */
  pause?(): void;
  /**
   * Announces that paused work resumes. Present on lanes that lend slots.
   *
   * @returns `false` if it must wait for a slot first; then its listener's `returned` is called once it has one. Work
   * that was asked to stop, or has lost its slot, does not wait.
   */
  resume?(): boolean;
  /**
   * Lends the slot while the work waits for other work that needs one, and acquires a slot again before it resolves.
   * The session stays held, and the idle timeout is suspended. If several parts of the work wait, the slot is lent from
   * the first that waits to the last that returns.
   *
   * @throws LaneError the reason of the request to stop, or `lane-lost`; any error of the work
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

/** Callbacks of a request. Errors that they throw are reported to `onEvent`. */
export interface LaneListener {
  /** The request has a slot. Called synchronously or later. */
  admitted(lease: LaneLease): void;
  /** The request gets no slot. */
  refused(error: LaneError): void;
  /** The request must wait. Called again whenever its position changes. */
  readonly waiting?: ((notice: WaitingNotice) => void) | undefined;
  /** The holder must stop, and release the slot within `graceMs`. */
  aborted?(error: LaneError): void;
  /** The slot was lost: later results of this work are ignored. */
  lost?(error: LaneError): void;
  /** Returns whether work that has reached its idle timeout is still at work. With `true` the timeout starts again. */
  readonly isAtWork?: (() => boolean) | undefined;
  /** Paused work has a slot again. */
  returned?(): void;
}

/** Work that runs while it holds its session and a slot. */
export type LaneTask<Result> = (lease: LaneLease) => Result | PromiseLike<Result>;

/** Options of {@link Lanes.run}. */
export interface RunOptions extends Omit<LaneRequest, 'session' | 'summary' | 'ahead'> {
  /** Withdraws the request while it waits; asks the task to stop once it runs. */
  readonly signal?: AbortSignal | undefined;
  /** Receives the position while the task waits. */
  readonly onWaiting?: ((notice: WaitingNotice) => void) | undefined;
}

/**
 * Lanes: one request at a time in a session, a limited number over all sessions, the most urgent first.
 *
 * `createLanes()` implements them for one process; lanes that are stored in a database implement the same interface.
 * Every implementation passes `describeLanes()` of `@h/queue/testing`. All answers may be asynchronous.
 *
 * Contract:
 * - A listener is notified by `admitted` or by `refused`, once, and by neither after its request was released.
 * - A session has one current lease at a time, and a later lease has a larger `fence`.
 * - A slot is released by `release()`, or revoked (`lost`) some time after `aborted`.
 * - A session waits with the priority of its most urgent request.
 */
export interface Lanes {
  /**
   * Requests a slot. The listener may be called before this returns.
   *
   * @example
   * ```ts
   * const handle = lanes.enter(
   *   { session: 'alice', trigger: 'user' },
   *   { admitted: (lease) => work(lease), refused: (error) => console.warn(error.code) },
   * );
   * handle.release();
   * ```
   */
  enter(request: LaneRequest, listener: LaneListener): LaneHandle;
  /**
   * Runs a task as soon as its session and a slot are free, and resolves to its result.
   *
   * If a task was asked to stop and throws, the promise rejects with the reason of the request to stop. A result that
   * arrives after the slot was revoked is dropped and reported as `late`.
   *
   * @throws LaneError if the task gets no slot, or its slot was revoked; `code` is the reason
   */
  run<Result>(session: string, task: LaneTask<Result>, options?: RunOptions): Promise<Result>;
  /**
   * Lends the caller's slot while it waits for work that needs a slot itself, and acquires one again before it
   * resolves. The session stays held. The slot is found by the async context of the caller; without a slot, only the
   * work is run.
   *
   * @example
   * ```ts
   * const answer = await lanes.yieldWhile(() => reply(child.turn({ session: 'child', input: 'Look' })));
   * ```
   */
  yieldWhile<Result>(work: () => Result | PromiseLike<Result>): Promise<Result>;
  /**
   * Runs a callback outside of the async context of the work that holds the slot: its requests for the same session
   * wait in line.
   *
   * @example
   * ```ts
   * lanes.detach(() => void lanes.run('alice', () => remember(), { trigger: 'memory' }));
   * ```
   */
  detach<Result>(callback: () => Result): Result;
  /**
   * Raises a session to a priority until the returned function is called, as if a request of that priority waited in
   * it. For messages that wait outside of the lanes: `createInbox()` calls it while a message waits behind a turn that
   * was not admitted.
   */
  raise(session: string, priority: TurnPriority): () => void;
  /**
   * Refuses new and waiting requests (`lane-closed`), asks running work to stop, and resolves when all slots are
   * released or their grace period has ended.
   */
  shutdown(options?: ShutdownOptions): Promise<void>;
}

/** Options of `shutdown()`. */
export interface ShutdownOptions {
  /** The reason that running work receives. */
  readonly reason?: string | undefined;
}
