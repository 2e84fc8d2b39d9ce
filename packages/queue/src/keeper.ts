import { Absences, type AbsencesKeeper } from './absences.js';
import { noteDropped, whoIsDropped, whyFull, type Bounds } from './bounds.js';
import type { Pass } from './bucket.js';
import type { Callbacks } from './callbacks.js';
import { LaneError } from './errors.js';
import { Gate, type GateOptions } from './gate.js';
import { Holder, type HolderKeeper } from './holder.js';
import { LinkedList } from './linked-list.js';
import { parentOf, Parents, whyReentered } from './parents.js';
import { Sessions } from './sessions.js';
import { Stops, type StopsKeeper } from './stops.js';
import type { Ticket, TicketKeeper } from './ticket.js';

/** What the lanes keep to. */
export interface KeeperOptions {
  readonly gate: Omit<GateOptions, 'now'>;
  readonly bounds: Bounds;
}

/** What the keeper asks of its surroundings. */
export interface KeeperHost {
  readonly callbacks: Callbacks;
  now(): number;
  /** Somebody has a place, or will have none. */
  stoppedWaiting(ticket: Ticket): void;
  /** Something is due for it at another time. */
  dueChanged(holder: Holder): void;
  /** Whether somebody waits for a slot, and somebody who has one may be paused. */
  watchPauses(isNeeded: boolean): void;
  /** Nobody is left. */
  idle(): void;
}

/** Why nobody else is let in, but for those who are a part of work that may finish. */
export interface Closing {
  readonly reason: string;
  readonly mayFinish: boolean;
}

/**
 * Who holds which session, who waits, and who is next: the state of the lanes.
 *
 * Whatever listeners do while they are called (come, go, throw) finds the state in order, and takes effect after what is
 * under way: it is one loop, {@link letIn}, that lets people in, however deep the call.
 */
export class Keeper implements TicketKeeper, HolderKeeper, StopsKeeper, AbsencesKeeper {
  readonly #host: KeeperHost;
  readonly #bounds: Bounds;
  readonly #parents = new Parents();
  readonly #stops: Stops;
  readonly #absences: Absences;
  readonly gate: Gate<Ticket>;
  readonly lanes: Sessions;
  /** Those who have a place. */
  readonly holders = new LinkedList<Holder>();
  closing: Closing | undefined;
  #fence = 0;
  #waiting = 0;
  /** How many of those who have a place may be paused. */
  #pausable = 0;
  #isLettingIn = false;

  constructor({ gate, bounds }: KeeperOptions, host: KeeperHost) {
    this.#host = host;
    this.#bounds = bounds;
    this.gate = new Gate({ ...gate, now: () => host.now() });
    this.lanes = new Sessions(this.gate);
    this.#stops = new Stops(this, host.callbacks);
    this.#absences = new Absences(this.gate, this.#parents, this);
  }

  get waitingCount(): number {
    return this.#waiting;
  }

  now(): number {
    return this.#host.now();
  }

  /** Takes in a newcomer, or refuses it. */
  enter(ticket: Ticket): void {
    const known = this.lanes.get(ticket.session);
    const error =
      this.#whyClosed(ticket) ?? whyReentered(ticket) ?? whyFull(this.#bounds, this.#waiting, ticket, known);
    if (error) {
      this.#refuse(ticket, error);
      return;
    }
    const dropped = known && whoIsDropped(this.#bounds, ticket, known);
    const lane = this.lanes.add(ticket);
    this.#waiting += 1;
    this.#parents.waits(ticket);
    if (dropped) this.#sendAway(dropped, noteDropped(this.#bounds, dropped, lane));
    this.letIn();
  }

  release(ticket: Ticket): void {
    const { holder } = ticket;
    if (ticket.state !== 'over') {
      this.#takeOut(ticket);
      this.letIn();
    } else if (holder) {
      this.#stops.cameLate(holder);
    }
  }

  abort(ticket: Ticket, reason: unknown): void {
    this.#stops.abort(ticket, reason);
  }

  /** Does what is due for those who have a place. */
  expire(): void {
    const now = this.now();
    const due = [...this.holders].filter(({ dueAt }) => dueAt <= now);
    for (const holder of due) this.#stops.expire(holder);
  }

  stepOut(holder: Holder): void {
    this.#absences.stepOut(holder);
  }

  stepIn(holder: Holder): Promise<void> {
    return this.#absences.stepIn(holder);
  }

  pause(holder: Holder): void {
    this.#absences.pause(holder);
  }

  goOn(holder: Holder): boolean {
    return this.#absences.goOn(holder);
  }

  tellReturned({ ticket }: Holder): void {
    this.#host.callbacks.call(ticket, tellReturned, undefined);
  }

  within<Result>(holder: Holder, callback: () => Result): Result {
    return this.#host.callbacks.within(holder, callback);
  }

  dismiss(ticket: Ticket, error: LaneError): void {
    this.#sendAway(ticket, error);
    this.letIn();
  }

  giveUpReturn(holder: Holder, error: LaneError): void {
    this.#absences.giveUp(holder, error);
  }

  takeAway({ ticket }: Holder): void {
    this.#takeOut(ticket);
  }

  /** Lets in everybody for whom there is a slot. What they do meanwhile is done before the loop goes on. */
  letIn(): void {
    if (this.#isLettingIn) return;
    this.#isLettingIn = true;
    try {
      for (let pass = this.gate.admit(); pass; pass = this.gate.admit()) this.#pass(pass);
    } finally {
      this.#isLettingIn = false;
    }
    this.#host.watchPauses(this.#pausable > 0 && this.gate.waitingCount > 0);
    const deadlock = this.#parents.deadlock(this.gate.activeCount, this.holders);
    if (deadlock) this.#host.callbacks.report(deadlock);
    if (this.lanes.size === 0) this.#host.idle();
  }

  dueChanged(holder: Holder): void {
    this.#host.dueChanged(holder);
  }

  #pass({ owner: ticket }: Pass<Ticket>): void {
    const holder = ticket.holder ?? this.#admit(ticket);
    if (holder.slot === 'wanted') {
      holder.progressAt = this.now();
      this.#absences.back(holder);
    }
    if (holder.isCurrent) this.#host.dueChanged(holder);
  }

  #admit(ticket: Ticket): Holder {
    this.#fence += 1;
    const holder = new Holder(this, ticket, this.#fence, ticket.lane?.takeDropped());
    ticket.holder = holder;
    this.#stopWaiting(ticket);
    ticket.state = 'admitted';
    this.holders.append(holder);
    if (ticket.listener.isPaused) this.#pausable += 1;
    this.#host.callbacks.call(ticket, this.#tellAdmitted, holder);
    return holder;
  }

  /** Who throws instead of taking its place has none. */
  readonly #tellAdmitted = (ticket: Ticket, holder: Holder): void => {
    try {
      ticket.listener.admitted(holder);
    } catch (error) {
      this.#takeOut(ticket);
      throw error;
    }
  };

  #whyClosed(ticket: Ticket): LaneError | undefined {
    if (!this.closing || (this.closing.mayFinish && parentOf(ticket))) return undefined;
    return new LaneError('lane-closed', ticket.session, this.closing.reason);
  }

  #stopWaiting(ticket: Ticket): void {
    this.#waiting -= 1;
    this.#host.stoppedWaiting(ticket);
    this.#parents.waitsNoLonger(ticket);
  }

  /** Takes somebody out of wherever it is; its place is free afterwards. */
  #takeOut(ticket: Ticket): void {
    const { holder, pass } = ticket;
    if (ticket.state === 'over') return;
    if (pass && holder?.slot === 'held') this.gate.free(pass);
    else if (pass) this.gate.leave(pass);
    if (!holder) this.#stopWaiting(ticket);
    else if (holder.slot === 'wanted') this.#parents.waitsNoLonger(ticket);
    ticket.state = 'over';
    // What is over may be old, and would keep alive what is young until the whole heap is collected.
    ticket.pass = undefined;
    if (holder) {
      this.holders.remove(holder);
      if (ticket.listener.isPaused) this.#pausable -= 1;
      this.#parents.over(holder);
      if (holder.lostAt === undefined) ticket.holder = undefined;
    }
    this.lanes.remove(ticket);
  }

  #sendAway(ticket: Ticket, error: LaneError): void {
    this.#takeOut(ticket);
    this.#refuse(ticket, error);
  }

  #refuse(ticket: Ticket, error: LaneError): void {
    ticket.state = 'over';
    this.#host.callbacks.report({ type: 'refused', session: ticket.session, label: ticket.request.label, error });
    this.#host.callbacks.call(ticket, tellRefused, error);
  }
}

const tellReturned = ({ listener }: Ticket): void => listener.returned?.();

const tellRefused = ({ listener }: Ticket, error: LaneError): void => listener.refused(error);
