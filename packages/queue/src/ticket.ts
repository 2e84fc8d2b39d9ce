import type { AsyncResource } from 'node:async_hooks';
import type { TurnPriority } from '@h/turn';
import type { Pass } from './bucket.js';
import type { Dropped, LaneListener, LaneRequest, Lease } from './contract.js';
import { LaneError } from './errors.js';
import type { Lane } from './lane.js';
import type { Linked } from './linked-list.js';

/** How far somebody has come. */
export type TicketState =
  /** Behind others of its session. */
  | 'behind'
  /** The first of its session, waiting for a slot. */
  | 'at-gate'
  | 'running'
  /** Has given up its slot for a while, not its session. */
  | 'away'
  /** Waits for a slot again. */
  | 'returning'
  | 'over';

/** Its clocks, in milliseconds. */
export interface Limits {
  readonly idleTimeoutMs: number;
  readonly deadlineMs: number;
  readonly graceMs: number;
  readonly maxWaitMs: number;
}

/** What a ticket asks of those who keep it. */
export interface TicketKeeper {
  now(): number;
  release(ticket: Ticket): void;
  abort(ticket: Ticket, reason: unknown): void;
  stepOut(ticket: Ticket): void;
  stepIn(ticket: Ticket): Promise<void>;
  within<Result>(ticket: Ticket, callback: () => Result): Result;
}

/** A class, because the lanes make one for everybody who comes. */
export class Ticket implements Lease, Linked<Ticket> {
  readonly request: LaneRequest;
  readonly listener: LaneListener;
  readonly priority: TurnPriority;
  readonly limits: Limits;
  readonly queuedAt: number;
  state: TicketState = 'behind';
  lane: Lane | undefined;
  previous: Ticket | undefined;
  next: Ticket | undefined;
  pass: Pass<Ticket> | undefined;
  /** The asynchronous context of who waits, to be let in there. */
  scope: AsyncResource | undefined;
  parent: Ticket | undefined;
  /** How many that it has started itself wait for a place. */
  waitingChildren = 0;
  countedBy: Ticket | undefined;
  fence = 0;
  dropped: Dropped | undefined;
  startedAt = 0;
  progressAt = 0;
  graceUntil = Infinity;
  abortError: LaneError | undefined;
  isEnding = false;
  isLost = false;
  lostAt = 0;
  /** How many of its parts wait for something in {@link yieldWhile}. */
  aways = 0;
  onReturn: { readonly resolve: () => void; readonly reject: (error: LaneError) => void } | undefined;
  toldPosition = 0;
  cancelWait: (() => void) | undefined;
  readonly #keeper: TicketKeeper;
  #controller: AbortController | undefined;

  constructor(keeper: TicketKeeper, request: LaneRequest, listener: LaneListener, priority: TurnPriority, limits: Limits) {
    this.#keeper = keeper;
    this.request = request;
    this.listener = listener;
    this.priority = priority;
    this.limits = limits;
    this.queuedAt = keeper.now();
  }

  get session(): string {
    return this.request.session;
  }

  get isWaiting(): boolean {
    return this.state === 'behind' || this.state === 'at-gate';
  }

  get isCurrent(): boolean {
    return this.state === 'running' || this.state === 'away' || this.state === 'returning';
  }

  get isAborted(): boolean {
    return this.abortError !== undefined;
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.abortError) this.#controller.abort(this.abortError);
    return this.#controller.signal;
  }

  /** When something is due, in milliseconds. */
  get dueAt(): number {
    if (this.abortError) return this.graceUntil;
    const idle = this.state === 'running' ? this.progressAt + this.limits.idleTimeoutMs : Infinity;
    return Math.min(idle, this.startedAt + this.limits.deadlineMs);
  }

  /** Whether it is one of this keeper's. */
  isOf(keeper: TicketKeeper): boolean {
    return this.#keeper === keeper;
  }

  progress(): void {
    this.progressAt = this.#keeper.now();
  }

  check(): void {
    if (!this.isCurrent) throw lostError(this.session);
  }

  release(): void {
    this.#keeper.release(this);
  }

  abort(reason: unknown): void {
    this.#keeper.abort(this, reason);
  }

  ending(): void {
    this.isEnding = true;
  }

  within<Result>(callback: () => Result): Result {
    return this.#keeper.within(this, callback);
  }

  async yieldWhile<Result>(work: () => Result | PromiseLike<Result>): Promise<Result> {
    if (!this.isCurrent) return work();
    this.#keeper.stepOut(this);
    let result: Result;
    try {
      result = await work();
    } catch (error) {
      await this.#keeper.stepIn(this).catch(() => undefined);
      throw error;
    }
    await this.#keeper.stepIn(this);
    return result;
  }

  /** Lets those know who have asked for the signal. */
  signalAbort(error: LaneError): void {
    this.#controller?.abort(error);
  }

  /** The nearest of those whose part it is that still has a place; those before it are forgotten. */
  liveParent(): Ticket | undefined {
    while (this.parent?.state === 'over') this.parent = this.parent.parent;
    return this.parent;
  }
}

export const lostError = (session: string): LaneError =>
  new LaneError('lane-lost', session, `The place in session ${JSON.stringify(session)} was given to somebody else: what comes now is too late, and must not be written.`);
