import type { AsyncResource } from 'node:async_hooks';
import type { TurnPriority } from '@h/turn';
import type { GateEntry } from './bucket.js';
import type { Dropped, LaneHandle, LaneLease, LaneListener, LaneRequest } from '../contract.js';
import { LaneError } from '../errors.js';
import type { HeapItem } from './heap.js';
import type { Linked } from './linked-list.js';

/** The state of a request. */
export type WaiterState =
  /** Behind others of its session. */
  | 'behind'
  /** The first of its session, waiting for a slot. */
  | 'at-gate'
  | 'admitted'
  | 'over';

/** The time limits of a request, in milliseconds. */
export interface Limits {
  readonly idleTimeoutMs: number;
  readonly deadlineMs: number;
  readonly graceMs: number;
  readonly maxWaitMs: number;
}

/** The operations of the keeper that a waiter calls. */
export interface WaiterKeeper {
  now(): number;
  release(waiter: Waiter): void;
  abort(waiter: Waiter, reason: unknown): void;
}

/**
 * A request for a slot. A small class, because many may wait at once: the state of admitted requests is in their
 * {@link SlotHolder}.
 */
export class Waiter implements LaneHandle, Linked<Waiter>, HeapItem {
  readonly request: LaneRequest;
  readonly listener: LaneListener;
  readonly priority: TurnPriority;
  readonly limits: Limits;
  /** The holder whose work made the request. */
  parent: SlotHolder | undefined;
  readonly queuedAt: number;
  state: WaiterState = 'behind';
  previous: Waiter | undefined;
  next: Waiter | undefined;
  entry: GateEntry<Waiter> | undefined;
  holder: SlotHolder | undefined;
  /** The asynchronous context of the request, in which its listener is called. */
  scope: AsyncResource | undefined;
  notifiedPosition = 0;
  /** Its index in the heap of requests with a time limit; -1 outside. */
  heapIndex = -1;
  readonly #keeper: WaiterKeeper;

  constructor(
    keeper: WaiterKeeper,
    request: LaneRequest,
    listener: LaneListener,
    priority: TurnPriority,
    limits: Limits,
    parent: SlotHolder | undefined,
  ) {
    this.#keeper = keeper;
    this.request = request;
    this.listener = listener;
    this.priority = priority;
    this.limits = limits;
    this.parent = parent;
    this.queuedAt = keeper.now();
  }

  get session(): string {
    return this.request.session;
  }

  get isWaiting(): boolean {
    return this.state === 'behind' || this.state === 'at-gate';
  }

  release(): void {
    this.#keeper.release(this);
  }

  abort(reason: unknown): void {
    this.#keeper.abort(this, reason);
  }
}

/** The operations of the keeper that a holder calls. */
export interface HolderKeeper {
  now(): number;
  lendSlot(holder: SlotHolder): void;
  reclaimSlot(holder: SlotHolder): Promise<void>;
  pause(holder: SlotHolder): void;
  resume(holder: SlotHolder): boolean;
  within<Result>(holder: SlotHolder, callback: () => Result): Result;
  /** The holder in whose asynchronous context this is called. */
  readonly current: SlotHolder | undefined;
  /** Whether the slots of holders are still held. */
  readonly isHeld: boolean;
}

/** A holder that waits to reclaim its slot. */
export interface Return {
  resolve(): void;
  reject(error: LaneError): void;
}

/** Holds a session, and a slot that it can lend. A class, because each task creates one. */
export class SlotHolder implements LaneLease, Linked<SlotHolder> {
  readonly waiter: Waiter;
  readonly fence: number;
  readonly dropped: Dropped | undefined;
  readonly startedAt: number;
  progressAt: number;
  /**
   * `lent` while it waits in {@link yieldWhile} or for a person; `wanted` when it has returned and waits for a slot.
   */
  slot: 'held' | 'lent' | 'wanted' = 'held';
  /** The reason of the request to stop. */
  stopError: LaneError | undefined;
  graceUntil = Infinity;
  isEnding = false;
  /** When its slot was lost; reset when the work ends. */
  lostAt: number | undefined;
  /** Number of its child requests that wait for a slot. */
  waitingChildren = 0;
  /** Number of its parts that wait in {@link yieldWhile}, plus one if it is paused. */
  lentParts = 0;
  /** Whether its slot was lent because it waits for a person. */
  isPaused = false;
  onReturn: Return | undefined;
  previous: SlotHolder | undefined;
  next: SlotHolder | undefined;
  readonly #keeper: HolderKeeper;
  #controller: AbortController | undefined;

  constructor(keeper: HolderKeeper, waiter: Waiter, fence: number, dropped: Dropped | undefined) {
    this.#keeper = keeper;
    this.waiter = waiter;
    this.fence = fence;
    this.dropped = dropped;
    this.startedAt = keeper.now();
    this.progressAt = this.startedAt;
  }

  get session(): string {
    return this.waiter.request.session;
  }

  get isCurrent(): boolean {
    return this.waiter.state === 'admitted' && this.#keeper.isHeld;
  }

  get isInContext(): boolean {
    return this.#keeper.current === this;
  }

  get isAborted(): boolean {
    return this.stopError !== undefined;
  }

  /** Created on first use. */
  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.stopError) this.#controller.abort(this.stopError);
    return this.#controller.signal;
  }

  /** The time of its next limit, in milliseconds. */
  get dueAt(): number {
    if (this.stopError) return this.graceUntil;
    const { idleTimeoutMs, deadlineMs } = this.waiter.limits;
    const idle = this.slot === 'held' ? this.progressAt + idleTimeoutMs : Infinity;
    return Math.min(idle, this.startedAt + deadlineMs);
  }

  /** Returns whether it belongs to this keeper. */
  isOf(keeper: HolderKeeper): boolean {
    return this.#keeper === keeper;
  }

  progress(): void {
    this.progressAt = this.#keeper.now();
  }

  check(): void {
    if (!this.isCurrent) throw lostError(this.session);
  }

  release(): void {
    this.waiter.release();
  }

  abort(reason: unknown): void {
    this.waiter.abort(reason);
  }

  ending(): void {
    this.isEnding = true;
  }

  within<Result>(callback: () => Result): Result {
    return this.#keeper.within(this, callback);
  }

  pause(): void {
    this.#keeper.pause(this);
  }

  resume(): boolean {
    return this.#keeper.resume(this);
  }

  async yieldWhile<Result>(work: () => Result | PromiseLike<Result>): Promise<Result> {
    if (!this.isCurrent) return work();
    this.#keeper.lendSlot(this);
    let result: Result;
    try {
      result = await work();
    } catch (error) {
      await this.#keeper.reclaimSlot(this).catch(() => undefined);
      throw error;
    }
    await this.#keeper.reclaimSlot(this);
    return result;
  }

  /** Aborts the signal, if it was created. */
  signalStop(error: LaneError): void {
    this.#controller?.abort(error);
  }
}

/** Creates the error of work that continues after its slot was lost. */
export const lostError = (session: string): LaneError =>
  new LaneError(
    'lane-lost',
    session,
    `The slot of session ${JSON.stringify(session)} was given to another request. This result is too late; do not write it.`,
  );
