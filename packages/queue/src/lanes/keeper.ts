import type { TurnPriority } from '@h/turn';
import { SlotLending, type SlotLendingHost } from './slot-lending.js';
import { noteDropped, waiterToDrop, fullError, type Bounds } from './bounds.js';
import type { GateEntry } from './bucket.js';
import type { Callbacks } from './callbacks.js';
import { LaneError } from '../errors.js';
import { Gate, type GateOptions } from './gate.js';
import { LinkedList } from './linked-list.js';
import { parentOf, Parents, reentryError } from './parents.js';
import { Sessions } from './sessions.js';
import { Stops, type StopsKeeper } from './stops.js';
import { SlotHolder, type HolderKeeper, type Waiter, type WaiterKeeper } from './waiter.js';

/** Settings of a {@link Keeper}. */
export interface KeeperOptions {
  readonly gate: Omit<GateOptions, 'now'>;
  /** @defaultValue a gate for the requests of this process */
  readonly createGate?: ((options: GateOptions) => Gate<Waiter>) | undefined;
  readonly bounds: Bounds;
}

/** The environment of a {@link Keeper}. */
export interface KeeperHost {
  readonly callbacks: Callbacks;
  now(): number;
  /** A request was admitted or refused. */
  stoppedWaiting(waiter: Waiter): void;
  /** The time limit that ends next has changed. */
  dueChanged(holder: SlotHolder): void;
  /** No request is left. */
  idle(): void;
}

/** Why new requests are refused, except those that are a part of work that may finish. */
export interface Closing {
  readonly reason: string;
  readonly mayFinish: boolean;
}

/**
 * The state of the lanes: the holder and the waiting requests of each session.
 *
 * Listeners may enter, release and throw during a call. The state is consistent then, and their changes take effect
 * after the current operation. Only the loop in {@link admitAll} admits requests, however deep the call.
 */
export class Keeper implements WaiterKeeper, HolderKeeper, StopsKeeper, SlotLendingHost {
  readonly #host: KeeperHost;
  readonly #bounds: Bounds;
  readonly #parents = new Parents();
  readonly #stops: Stops;
  readonly #lentParts: SlotLending;
  readonly gate: Gate<Waiter>;
  readonly lanes: Sessions;
  /** The holders of slots, lent ones included. */
  readonly holders = new LinkedList<SlotHolder>();
  closing: Closing | undefined;
  #fence = 0;
  #waiting = 0;
  #isAdmitting = false;

  constructor({ gate, bounds, createGate = (options) => new Gate(options) }: KeeperOptions, host: KeeperHost) {
    this.#host = host;
    this.#bounds = bounds;
    this.gate = createGate({ ...gate, now: () => host.now() });
    this.lanes = new Sessions(this.gate);
    this.#stops = new Stops(this, host.callbacks);
    this.#lentParts = new SlotLending(this.gate, this.#parents, this);
  }

  get waitingCount(): number {
    return this.#waiting;
  }

  /** Waiting requests, the last one first, so that none of them gets a slot that is being released. */
  get lastWaiting(): readonly Waiter[] {
    const waiters = [...this.lanes.values()].flatMap((lane) => [...lane.waiters]);
    return waiters.filter(({ isWaiting }) => isWaiting).toReversed();
  }

  now(): number {
    return this.#host.now();
  }

  get current(): SlotHolder | undefined {
    return this.#host.callbacks.current;
  }

  /** Adds a request, or refuses it. */
  enter(waiter: Waiter): void {
    const known = this.lanes.get(waiter.session);
    const error =
      this.#closedError(waiter) ?? reentryError(waiter) ?? fullError(this.#bounds, this.#waiting, waiter, known);
    if (error) {
      this.#refuse(waiter, error);
      return;
    }
    const dropped = known && waiterToDrop(this.#bounds, waiter, known);
    this.gate.entered(waiter);
    const lane = this.lanes.add(waiter);
    this.#waiting += 1;
    this.#parents.waits(waiter);
    if (dropped) this.#dismissWaiter(dropped, noteDropped(this.#bounds, dropped, lane));
    this.admitAll();
  }

  release(waiter: Waiter): void {
    const { holder } = waiter;
    if (waiter.state !== 'over') {
      this.#removeWaiter(waiter);
      this.admitAll();
    } else if (holder) {
      this.#stops.endedLate(holder);
    }
  }

  abort(waiter: Waiter, reason: unknown): void {
    this.#stops.abort(waiter, reason);
  }

  /** Applies the time limits of all holders. */
  expire(): void {
    const now = this.now();
    const due = [...this.holders].filter(({ dueAt }) => dueAt <= now);
    for (const holder of due) this.#stops.expire(holder);
  }

  lendSlot(holder: SlotHolder): void {
    this.#lentParts.lendSlot(holder);
  }

  reclaimSlot(holder: SlotHolder): Promise<void> {
    return this.#lentParts.reclaimSlot(holder);
  }

  pause(holder: SlotHolder): void {
    this.#lentParts.pause(holder);
  }

  resume(holder: SlotHolder): boolean {
    return this.#lentParts.resume(holder);
  }

  priorityOf(waiter: Waiter): TurnPriority {
    return this.lanes.get(waiter.session)?.priority ?? waiter.priority;
  }

  notifyReturned({ waiter }: SlotHolder): void {
    this.#host.callbacks.call(waiter, notifyReturned, undefined);
  }

  within<Result>(holder: SlotHolder, callback: () => Result): Result {
    return this.#host.callbacks.within(holder, callback);
  }

  dismiss(waiter: Waiter, error: LaneError): void {
    this.#dismissWaiter(waiter, error);
    this.admitAll();
  }

  cancelReturn(holder: SlotHolder, error: LaneError): void {
    this.#lentParts.giveUp(holder, error);
  }

  /** Revokes the slots of all holders at once. */
  loseAll(errorFor: (session: string) => LaneError): void {
    for (const holder of Array.from(this.holders)) this.#stops.lose(holder, errorFor(holder.session));
  }

  /** Whether the slots of holders are still held. */
  get isHeld(): boolean {
    return this.gate.isHeld;
  }

  revoke({ waiter }: SlotHolder): void {
    this.#removeWaiter(waiter);
  }

  /** Admits all requests that have a free slot. Changes that listeners make are applied before the loop continues. */
  admitAll(): void {
    if (this.#isAdmitting) return;
    this.#isAdmitting = true;
    try {
      for (let entry = this.gate.admit(); entry; entry = this.gate.admit()) this.#settleAdmitted(entry);
    } finally {
      this.#isAdmitting = false;
    }
    const deadlock = this.#parents.deadlock(this.gate.activeCount, this.holders);
    if (deadlock) this.#host.callbacks.report(deadlock);
    if (this.lanes.size === 0) this.#host.idle();
  }

  dueChanged(holder: SlotHolder): void {
    this.#host.dueChanged(holder);
  }

  #settleAdmitted({ owner: waiter }: GateEntry<Waiter>): void {
    const holder = waiter.holder ?? this.#admit(waiter);
    if (holder.slot === 'wanted') {
      holder.progressAt = this.now();
      this.#lentParts.back(holder);
    }
    if (holder.isCurrent) this.#host.dueChanged(holder);
  }

  #admit(waiter: Waiter): SlotHolder {
    this.#fence = this.gate.fenceOf(waiter) ?? this.#fence + 1;
    const holder = new SlotHolder(this, waiter, this.#fence, this.lanes.get(waiter.session)?.takeDropped());
    waiter.holder = holder;
    this.#stopWaiting(waiter);
    waiter.state = 'admitted';
    this.holders.append(holder);
    this.#host.callbacks.call(waiter, this.#notifyAdmitted, holder);
    return holder;
  }

  /** A listener that throws loses its slot. */
  readonly #notifyAdmitted = (waiter: Waiter, holder: SlotHolder): void => {
    try {
      waiter.listener.admitted(holder);
    } catch (error) {
      this.#removeWaiter(waiter);
      throw error;
    }
  };

  #closedError(waiter: Waiter): LaneError | undefined {
    if (!this.closing || (this.closing.mayFinish && parentOf(waiter))) return undefined;
    return new LaneError('lane-closed', waiter.session, this.closing.reason);
  }

  #stopWaiting(waiter: Waiter): void {
    this.#waiting -= 1;
    this.#host.stoppedWaiting(waiter);
    this.#parents.waitsNoLonger(waiter);
  }

  /** Removes a request from the lane and the gate, and frees its slot. */
  #removeWaiter(waiter: Waiter): void {
    const { holder, entry } = waiter;
    if (waiter.state === 'over') return;
    if (entry && holder?.slot === 'held') this.gate.free(entry);
    else if (entry) this.gate.leave(entry);
    this.gate.ended(waiter);
    if (!holder) this.#stopWaiting(waiter);
    else if (holder.slot === 'wanted') this.#parents.waitsNoLonger(waiter);
    waiter.state = 'over';
    // A finished request in the old generation would keep young objects alive until a full garbage collection.
    waiter.entry = undefined;
    if (holder) {
      this.holders.remove(holder);
      this.#parents.over(holder);
      if (holder.lostAt === undefined) waiter.holder = undefined;
    }
    this.lanes.remove(waiter);
  }

  #dismissWaiter(waiter: Waiter, error: LaneError): void {
    this.#removeWaiter(waiter);
    this.#refuse(waiter, error);
  }

  #refuse(waiter: Waiter, error: LaneError): void {
    waiter.state = 'over';
    this.#host.callbacks.report({ type: 'refused', session: waiter.session, label: waiter.request.label, error });
    this.#host.callbacks.call(waiter, notifyRefused, error);
  }
}

const notifyReturned = ({ listener }: Waiter): void => listener.returned?.();

const notifyRefused = ({ listener }: Waiter, error: LaneError): void => listener.refused(error);
