import type { Gate } from './gate.js';
import { Lane } from './lane.js';
import type { Ticket } from './ticket.js';

/** The lanes of all sessions, of which only the first one goes to the gate. A lane is there as long as somebody is in it. */
export class Sessions {
  readonly #gate: Gate<Ticket>;
  readonly #lanes = new Map<string, Lane>();

  constructor(gate: Gate<Ticket>) {
    this.#gate = gate;
  }

  get size(): number {
    return this.#lanes.size;
  }

  get(session: string): Lane | undefined {
    return this.#lanes.get(session);
  }

  values(): Iterable<Lane> {
    return this.#lanes.values();
  }

  /** Takes in a newcomer: behind the others of its session, or before all who wait there. */
  add(ticket: Ticket): Lane {
    const lane = this.#lanes.get(ticket.session) ?? this.#open(ticket.session);
    if (ticket.request.ahead === true) this.#insert(lane, ticket);
    else lane.append(ticket);
    this.#advance(lane);
    return lane;
  }

  /** Takes somebody out of its lane. */
  remove(ticket: Ticket): void {
    const { lane } = ticket;
    if (!lane) return;
    lane.remove(ticket);
    this.#advance(lane);
  }

  #open(session: string): Lane {
    const lane = new Lane(session);
    this.#lanes.set(session, lane);
    return lane;
  }

  #insert(lane: Lane, ticket: Ticket): void {
    const { head } = lane.tickets;
    if (head?.state === 'at-gate') {
      if (head.pass) this.#gate.leave(head.pass);
      head.pass = undefined;
      head.state = 'behind';
    }
    lane.insert(ticket);
  }

  #advance(lane: Lane): void {
    const { head } = lane.tickets;
    if (!head) {
      if (this.#lanes.get(lane.session) === lane) this.#lanes.delete(lane.session);
    } else if (head.state === 'behind') {
      head.state = 'at-gate';
      head.pass = this.#gate.join(head, head.priority, head.request.groups ?? noGroups);
    }
  }
}

const noGroups = {};
