import type { TurnPriority } from '@h/turn';
import type { Gate } from './gate.js';
import { Lane } from './lane.js';
import { highestOf, noCounts, type PriorityCounts } from '../priority.js';
import type { Waiter } from './waiter.js';

/** The lanes of all sessions. The first request of each lane is at the gate. A lane exists while it has requests. */
export class Sessions {
  readonly #gate: Gate<Waiter>;
  readonly #lanes = new Map<string, Lane>();
  /** Number of messages that wait for a session outside of the lanes, by priority. */
  readonly #announced = new Map<string, PriorityCounts>();

  constructor(gate: Gate<Waiter>) {
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

  /** Adds a request behind the others of its session or, with `ahead`, before all waiting ones. */
  add(waiter: Waiter): Lane {
    const lane = this.#lanes.get(waiter.session) ?? this.#open(waiter.session);
    if (waiter.request.ahead === true) this.#insert(lane, waiter);
    else lane.append(waiter);
    this.#advance(lane);
    return lane;
  }

  /** Removes a request from its lane. */
  remove(waiter: Waiter): void {
    const lane = this.#lanes.get(waiter.session);
    if (!lane) return;
    lane.remove(waiter);
    this.#advance(lane);
  }

  /** Raises a session to this priority until the returned function is called. */
  announce(session: string, priority: TurnPriority): () => void {
    const counts = this.#announced.get(session) ?? noCounts();
    this.#announced.set(session, counts);
    const change = (by: 1 | -1): void => {
      counts[priority] += by;
      if (highestOf(counts) === undefined) this.#announced.delete(session);
      const lane = this.#lanes.get(session);
      if (lane) this.#inherit(lane);
    };
    change(1);
    let isOver = false;
    return () => {
      if (!isOver) change(-1);
      isOver = true;
    };
  }

  #open(session: string): Lane {
    const lane = new Lane(session, () => this.#announced.get(session));
    this.#lanes.set(session, lane);
    return lane;
  }

  #insert(lane: Lane, waiter: Waiter): void {
    const { head } = lane.waiters;
    if (head?.state === 'at-gate') {
      if (head.entry) this.#gate.leave(head.entry);
      head.entry = undefined;
      head.state = 'behind';
    }
    lane.insert(waiter);
  }

  #advance(lane: Lane): void {
    const { head } = lane.waiters;
    if (!head) {
      this.#lanes.delete(lane.session);
    } else if (head.state === 'behind') {
      head.state = 'at-gate';
      head.entry = this.#gate.join(head, head.priority, head.request.groups ?? noGroups, lane.priority);
    } else {
      this.#inherit(lane);
    }
  }

  /** The first request of a lane inherits the priority of the most urgent one behind it. */
  #inherit(lane: Lane): void {
    const entry = lane.waiters.head?.entry;
    if (entry) this.#gate.reprioritize(entry, lane.priority);
  }
}

const noGroups = {};
