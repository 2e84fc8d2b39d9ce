import type { Dropped, LaneLease } from './contract.js';
import { LaneError } from './errors.js';
import type { Linked } from './linked-list.js';
import type { Waiter } from './waiter.js';

/** What a holder asks of those who keep it. */
export interface HolderKeeper {
  now(): number;
  lendSlot(holder: SlotHolder): void;
  reclaimSlot(holder: SlotHolder): Promise<void>;
  pause(holder: SlotHolder): void;
  goOn(holder: SlotHolder): boolean;
  within<Result>(holder: SlotHolder, callback: () => Result): Result;
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
  /** `lent` while it waits in {@link yieldWhile} or for a person, `wanted` when it is back and waits for one. */
  slot: 'held' | 'lent' | 'wanted' = 'held';
  /** Why it was asked to stop. */
  stopError: LaneError | undefined;
  graceUntil = Infinity;
  isEnding = false;
  /** When its slot was lost; reset when the work ends. */
  lostAt: number | undefined;
  /** How many that it has started itself wait for a place. */
  waitingChildren = 0;
  /** How many of its parts wait for something in {@link yieldWhile}, and one more where it is paused. */
  lentParts = 0;
  /** Its slot was lent because it waits for a person. */
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
    return this.waiter.state === 'admitted';
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

  /** When something is due, in milliseconds. */
  get dueAt(): number {
    if (this.stopError) return this.graceUntil;
    const { idleTimeoutMs, deadlineMs } = this.waiter.limits;
    const idle = this.slot === 'held' ? this.progressAt + idleTimeoutMs : Infinity;
    return Math.min(idle, this.startedAt + deadlineMs);
  }

  /** Whether it is one of this keeper's. */
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

  goOn(): boolean {
    return this.#keeper.goOn(this);
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

  /** Lets those know who have asked for the signal. */
  signalStop(error: LaneError): void {
    this.#controller?.abort(error);
  }
}

/** The error of work that continues after its slot was lost. */
export const lostError = (session: string): LaneError =>
  new LaneError(
    'lane-lost',
    session,
    `The slot of session ${JSON.stringify(session)} was given to another request: this result is too late, and must not be written.`,
  );
