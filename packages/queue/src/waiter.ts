import type { AsyncResource } from 'node:async_hooks';
import type { TurnPriority } from '@h/turn';
import type { GateEntry } from './bucket.js';
import type { LaneListener, LaneHandle, LaneRequest } from './contract.js';
import type { HeapItem } from './heap.js';
import type { SlotHolder } from './holder.js';
import type { Lane } from './lane.js';
import type { Linked } from './linked-list.js';

/** The state of a request. */
export type WaiterState =
  /** Behind others of its session. */
  | 'behind'
  /** The first of its session, waiting for a slot. */
  | 'at-gate'
  | 'admitted'
  | 'over';

/** Its clocks, in milliseconds. */
export interface Limits {
  readonly idleTimeoutMs: number;
  readonly deadlineMs: number;
  readonly graceMs: number;
  readonly maxWaitMs: number;
}

/** What a waiter asks of those who keep it. */
export interface WaiterKeeper {
  now(): number;
  release(waiter: Waiter): void;
  abort(waiter: Waiter, reason: unknown): void;
}

/**
 * A request for a slot. A small class, because very many may wait at once: what matters only
 * to those who have a place is in their {@link SlotHolder}.
 */
export class Waiter implements LaneHandle, Linked<Waiter>, HeapItem {
  readonly request: LaneRequest;
  readonly listener: LaneListener;
  readonly priority: TurnPriority;
  readonly limits: Limits;
  /** As part of whose work it was asked for. */
  parent: SlotHolder | undefined;
  readonly queuedAt: number;
  state: WaiterState = 'behind';
  lane: Lane | undefined;
  previous: Waiter | undefined;
  next: Waiter | undefined;
  pass: GateEntry<Waiter> | undefined;
  holder: SlotHolder | undefined;
  /** The asynchronous context of who waits, to be called in there. */
  scope: AsyncResource | undefined;
  notifiedPosition = 0;
  /** Its place among those who may not wait for ever; -1 outside. */
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
