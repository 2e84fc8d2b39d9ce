import type { Pass } from './bucket.js';
import { withDropped } from './dropped.js';
import { abortError, LaneError, LaneTimeoutError } from './errors.js';
import type { LaneEvent } from './events.js';
import { Gate, type GateOptions } from './gate.js';
import { Lane } from './lane.js';
import { lostError, type Ticket, type TicketKeeper } from './ticket.js';

/** What to do with one too many in a session. */
export type FullPolicy = 'reject' | 'drop-oldest' | 'drop-newest' | 'summarize';

/** What the lanes keep to, besides the gate. */
export interface KeeperOptions {
  readonly gate: GateOptions;
  readonly maxWaiting: number;
  readonly maxWaitingPerSession: number;
  readonly whenFull: FullPolicy;
}

/** What the keeper asks of its surroundings. */
export interface KeeperHost {
  now(): number;
  /** Calls a listener, in the asynchronous context of the ticket. */
  call(ticket: Ticket, callback: () => void): void;
  /** Does something in the asynchronous context of the ticket. */
  within<Result>(ticket: Ticket, callback: () => Result): Result;
  report(event: LaneEvent): void;
  /** Somebody has a place, or will have none. */
  stoppedWaiting(ticket: Ticket): void;
  /** Something has a new time at which it is due. */
  dueChanged(ticket: Ticket): void;
  /** Nobody is left. */
  idle(): void;
}

/**
 * Who holds which session, who waits, and who is next: the state of the lanes.
 *
 * Whatever listeners do while they are called (come, go, throw) finds the state in order, and takes effect after what is
 * under way: it is one loop, {@link #pump}, that lets people in, however deep the call.
 */
export class Keeper implements TicketKeeper {
  readonly #options: KeeperOptions;
  readonly #host: KeeperHost;
  readonly gate: Gate<Ticket>;
  readonly lanes = new Map<string, Lane>();
  /** Those who have a place. */
  readonly admitted = new Set<Ticket>();
  closed: string | undefined;
  #fence = 0;
  #waiting = 0;
  #blockedParents = 0;
  #areParentsReported = false;
  #isPumping = false;

  constructor(options: KeeperOptions, host: KeeperHost) {
    this.#options = options;
    this.#host = host;
    this.gate = new Gate(options.gate);
  }

  get waitingCount(): number {
    return this.#waiting;
  }

  now(): number {
    return this.#host.now();
  }

  within<Result>(ticket: Ticket, callback: () => Result): Result {
    return this.#host.within(ticket, callback);
  }

  /** Takes in a newcomer, or refuses it. */
  enter(ticket: Ticket): void {
    const error = this.#whyNot(ticket);
    if (error) {
      this.#refuse(ticket, error);
      return;
    }
    const lane = this.lanes.get(ticket.session) ?? new Lane(ticket.session);
    if (lane.tickets.size === 0) this.lanes.set(ticket.session, lane);
    const toDrop = this.#toDrop(lane, ticket);
    const { head } = lane.tickets;
    if (ticket.request.ahead === true) {
      if (head?.state === 'at-gate') this.#stepBack(head);
      lane.insert(ticket);
    } else {
      lane.append(ticket);
    }
    this.#countWaiting(ticket, 1);
    this.#advance(lane);
    if (toDrop) this.#drop(lane, toDrop);
    this.#pump();
  }

  release(ticket: Ticket): void {
    if (ticket.state === 'over') {
      this.#reportLate(ticket);
      return;
    }
    this.#takeOut(ticket);
    this.#pump();
  }

  abort(ticket: Ticket, reason: unknown): void {
    if (ticket.state === 'over' || ticket.abortError) return;
    const error = reason instanceof LaneError ? reason : abortError(ticket.session, reason);
    if (ticket.isWaiting) {
      this.dismiss(ticket, error);
      this.#pump();
      return;
    }
    ticket.abortError = error;
    ticket.graceUntil = this.now() + ticket.limits.graceMs;
    this.#report('aborted', ticket, error);
    if (ticket.state === 'returning') this.#giveUpReturn(ticket, error);
    this.#host.call(ticket, () => ticket.signalAbort(error));
    this.#host.call(ticket, () => ticket.listener.aborted?.(error));
    if (!ticket.isCurrent) return;
    if (ticket.limits.graceMs <= 0) this.#force(ticket, error);
    else this.#host.dueChanged(ticket);
  }

  /** Sends somebody away who waits. */
  dismiss(ticket: Ticket, error: LaneError): void {
    this.#takeOut(ticket);
    this.#refuse(ticket, error);
  }

  /** Does what is due for somebody who has a place. */
  expire(ticket: Ticket): void {
    const now = this.now();
    if (!ticket.isCurrent || ticket.dueAt > now) return;
    if (ticket.abortError) {
      this.#force(ticket, ticket.abortError);
      return;
    }
    const { idleTimeoutMs, deadlineMs } = ticket.limits;
    const [ranMs, idleMs] = [now - ticket.startedAt, now - ticket.progressAt];
    const isDeadline = ranMs >= deadlineMs;
    if (!isDeadline && this.#isPaused(ticket)) {
      ticket.progressAt = now;
      return;
    }
    const [kind, limitMs] = isDeadline ? (['deadline', deadlineMs] as const) : (['idle', idleTimeoutMs] as const);
    this.abort(ticket, new LaneTimeoutError(ticket.session, kind, limitMs, ranMs, idleMs, ticket.waitingChildren));
  }

  stepOut(ticket: Ticket): void {
    ticket.aways += 1;
    if (ticket.state !== 'running') return;
    ticket.state = 'away';
    if (ticket.pass) this.gate.free(ticket.pass);
    this.#pump();
  }

  stepIn(ticket: Ticket): Promise<void> {
    ticket.aways -= 1;
    if (ticket.abortError && ticket.isCurrent) return Promise.reject(ticket.abortError);
    if (ticket.state === 'over') return Promise.reject(lostError(ticket.session));
    if (ticket.aways > 0 || ticket.state !== 'away') return Promise.resolve();
    ticket.state = 'returning';
    return new Promise((resolve, reject) => {
      ticket.onReturn = { resolve, reject };
      if (ticket.pass) this.gate.rejoin(ticket.pass);
      this.#pump();
    });
  }

  /** Lets in everybody for whom there is a slot. What they do meanwhile is done before the loop goes on. */
  #pump(): void {
    if (this.#isPumping) return;
    this.#isPumping = true;
    try {
      for (let pass = this.gate.admit(this.now()); pass; pass = this.gate.admit(this.now())) this.#admit(pass);
    } finally {
      this.#isPumping = false;
    }
    this.#watchParents();
    if (this.lanes.size === 0) this.#host.idle();
  }

  #admit(pass: Pass<Ticket>): void {
    const ticket = pass.owner;
    const isBack = ticket.state === 'returning';
    ticket.state = 'running';
    ticket.progressAt = this.now();
    if (isBack) {
      ticket.onReturn?.resolve();
      ticket.onReturn = undefined;
    } else {
      ticket.startedAt = ticket.progressAt;
      this.#fence += 1;
      ticket.fence = this.#fence;
      if (ticket.lane) {
        ticket.dropped = ticket.lane.dropped;
        ticket.lane.dropped = undefined;
      }
      this.admitted.add(ticket);
      this.#countWaiting(ticket, -1);
      this.#admitted(ticket);
    }
    if (ticket.isCurrent) this.#host.dueChanged(ticket);
  }

  /** Who throws instead of taking its place has none. */
  #admitted(ticket: Ticket): void {
    this.#host.call(ticket, () => {
      try {
        ticket.listener.admitted(ticket);
      } catch (error) {
        this.#takeOut(ticket);
        throw error;
      }
    });
  }

  /** Why a newcomer cannot even wait; makes room for it where the policy says so. */
  #whyNot(ticket: Ticket): LaneError | undefined {
    const { session } = ticket;
    const name = JSON.stringify(session);
    if (this.closed !== undefined) return new LaneError('lane-closed', session, this.closed);
    for (let parent = ticket.liveParent(); parent; parent = parent.liveParent()) {
      if (parent.session !== session || parent.isEnding) continue;
      const advice = 'Give it a session of its own, or start it when this one is over; what nobody waits for is started in detach().';
      return new LaneError('lane-reentered', session, `Who asks for a place in session ${name} holds it already, and would wait for itself. ${advice}`);
    }
    if (ticket.request.ahead === true) return undefined;
    if (this.#waiting >= this.#options.maxWaiting) {
      return new LaneError('lane-full', session, `${this.#waiting} wait for a place already; maxWaiting allows no more.`);
    }
    const lane = this.lanes.get(session);
    if (!lane || !this.#isFull(lane) || this.#options.whenFull !== 'reject' && lane.waitingCount > 0) return undefined;
    return new LaneError('lane-full', session, `${lane.waitingCount} wait for session ${name} already; maxWaitingPerSession allows no more.`);
  }

  #isFull(lane: Lane): boolean {
    return lane.waitingCount >= this.#options.maxWaitingPerSession;
  }

  /** Who has to go so that this one can wait; never one that has a place. */
  #toDrop(lane: Lane, { request }: Ticket): Ticket | undefined {
    if (request.ahead === true || lane.tickets.size === 0 || !this.#isFull(lane)) return undefined;
    return this.#options.whenFull === 'drop-newest' ? lane.newestWaiting : lane.oldestWaiting;
  }

  #drop(lane: Lane, ticket: Ticket): void {
    const { whenFull } = this.#options;
    const name = JSON.stringify(ticket.session);
    if (whenFull === 'summarize') Object.assign(lane, { dropped: withDropped(lane.dropped, ticket.request.summary) });
    this.dismiss(ticket, new LaneError('lane-dropped', ticket.session, `Too many wait for session ${name}: one that came later took the place (${whenFull}).`));
  }

  /** The first of a lane goes to the gate. An empty lane is forgotten. */
  #advance(lane: Lane): void {
    const { head } = lane.tickets;
    if (!head) {
      if (this.lanes.get(lane.session) === lane) this.lanes.delete(lane.session);
      return;
    }
    if (head.state !== 'behind') return;
    head.state = 'at-gate';
    head.pass = this.gate.join(head, head.priority, head.request.groups ?? noGroups, this.now());
  }

  /** Somebody came who goes before the first of the lane. */
  #stepBack(ticket: Ticket): void {
    if (ticket.pass) this.gate.leave(ticket.pass);
    ticket.pass = undefined;
    ticket.state = 'behind';
  }

  /** Takes somebody out of wherever it is; its place is free afterwards. */
  #takeOut(ticket: Ticket): void {
    const { state, lane, pass } = ticket;
    if (state === 'over') return;
    if (pass && (state === 'at-gate' || state === 'returning')) this.gate.leave(pass);
    else if (pass && state === 'running') this.gate.free(pass);
    if (ticket.isWaiting) this.#countWaiting(ticket, -1);
    this.#countBlocked(ticket, -ticket.waitingChildren);
    ticket.state = 'over';
    ticket.liveParent();
    this.admitted.delete(ticket);
    lane?.remove(ticket);
    if (lane) this.#advance(lane);
  }

  /** Its grace is over: others get its place, and what it does from now on does not count. */
  #force(ticket: Ticket, error: LaneError): void {
    ticket.isLost = true;
    ticket.lostAt = this.now();
    this.#giveUpReturn(ticket, error);
    this.#takeOut(ticket);
    this.#host.report({ type: 'lost', session: ticket.session, label: ticket.request.label, fence: ticket.fence, error });
    this.#host.call(ticket, () => ticket.listener.lost?.(error));
    this.#pump();
  }

  #giveUpReturn(ticket: Ticket, error: LaneError): void {
    if (ticket.state === 'returning') {
      if (ticket.pass) this.gate.leave(ticket.pass);
      ticket.state = 'away';
    }
    ticket.onReturn?.reject(error);
    ticket.onReturn = undefined;
  }

  #refuse(ticket: Ticket, error: LaneError): void {
    ticket.state = 'over';
    this.#report('refused', ticket, error);
    this.#host.call(ticket, () => ticket.listener.refused(error));
  }

  #report(type: 'refused' | 'aborted', ticket: Ticket, error: LaneError): void {
    this.#host.report({ type, session: ticket.session, label: ticket.request.label, error });
  }

  #reportLate(ticket: Ticket): void {
    if (!ticket.isLost) return;
    ticket.isLost = false;
    const { session, request, fence } = ticket;
    this.#host.report({ type: 'late', session, label: request.label, fence, lateMs: this.now() - ticket.lostAt });
  }

  #isPaused(ticket: Ticket): boolean {
    let isPaused = false;
    this.#host.call(ticket, () => {
      isPaused = ticket.listener.isPaused?.() === true;
    });
    return isPaused;
  }

  #countWaiting(ticket: Ticket, change: 1 | -1): void {
    this.#waiting += change;
    if (change === -1) this.#host.stoppedWaiting(ticket);
    const parent = change === 1 ? ticket.liveParent() : ticket.countedBy;
    if (!parent) return;
    ticket.countedBy = change === 1 ? parent : undefined;
    if (parent.state !== 'over') this.#countBlocked(parent, change);
  }

  #countBlocked(parent: Ticket, change: number): void {
    const before = parent.waitingChildren;
    parent.waitingChildren = before + change;
    if (before === 0 && parent.waitingChildren > 0) this.#blockedParents += 1;
    else if (before > 0 && parent.waitingChildren === 0) this.#blockedParents -= 1;
  }

  /** Says so, once, when everybody who has a slot has started something that waits for one. */
  #watchParents(): void {
    const { activeCount } = this.gate;
    const areAllParents =
      this.#blockedParents >= activeCount && activeCount > 0 && [...this.admitted].every((ticket) => ticket.state !== 'running' || ticket.waitingChildren > 0);
    if (areAllParents && !this.#areParentsReported) {
      this.#host.report({ type: 'slots-held-by-parents', sessions: [...this.admitted].map(({ session }) => session) });
    }
    this.#areParentsReported = areAllParents;
  }
}

const noGroups = {};
