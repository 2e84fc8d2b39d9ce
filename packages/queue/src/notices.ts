import type { SchedulerLike } from 'rxjs';
import type { Callbacks } from './callbacks.js';
import { Alarm } from './clock.js';
import type { WaitingNotice } from './contract.js';
import type { Keeper } from './keeper.js';
import type { Ticket } from './ticket.js';

/**
 * Tells those who wait where they stand: at once, and from time to time when they have moved up.
 *
 * All are looked at together, so that it costs the same however fast the lanes move; nothing when nobody wants to know.
 */
export class Notices {
  readonly #keeper: Keeper;
  readonly #everyMs: number;
  readonly #callbacks: Callbacks;
  readonly #alarm: Alarm;
  readonly #listening = new Set<Ticket>();

  constructor(keeper: Keeper, scheduler: SchedulerLike, everyMs: number, callbacks: Callbacks) {
    this.#keeper = keeper;
    this.#everyMs = everyMs;
    this.#callbacks = callbacks;
    this.#alarm = new Alarm(scheduler, () => this.#tellAll());
  }

  add(ticket: Ticket): void {
    this.#listening.add(ticket);
    if (this.#everyMs !== Infinity) this.#alarm.setFor(this.#keeper.now() + this.#everyMs);
    const { lane, pass } = ticket;
    const { gate } = this.#keeper;
    // It has come last, but for those at the gate who are less urgent.
    const position = ticket.state === 'at-gate' && pass ? gate.inFrontOf(pass) + 1 : (lane?.waitingCount ?? 0);
    this.#inform(ticket, position);
  }

  remove(ticket: Ticket): void {
    if (this.#listening.delete(ticket) && this.#listening.size === 0) this.#alarm.clear();
  }

  #tellAll(): void {
    this.#alarm.setFor(this.#keeper.now() + this.#everyMs);
    const atGate = new Map(this.#keeper.gate.inOrder().map((pass, index) => [pass.owner, index + 1]));
    const places = new Map([...this.#listening].map((ticket) => [ticket, atGate.get(ticket) ?? 0]));
    for (const lane of new Set([...this.#listening].map(({ lane }) => lane))) {
      let place = 0;
      for (const ticket of lane?.tickets ?? []) {
        if (!ticket.isWaiting) continue;
        place += 1;
        if (ticket.state === 'behind' && places.has(ticket)) places.set(ticket, place);
      }
    }
    for (const [ticket, position] of places) if (ticket.isWaiting) this.#inform(ticket, position);
  }

  #inform(ticket: Ticket, position: number): void {
    const isBehind = ticket.state === 'behind';
    const told = isBehind ? position : -position;
    if (told === ticket.toldPosition) return;
    ticket.toldPosition = told;
    const group = isBehind || !ticket.pass ? undefined : this.#keeper.gate.heldBackBy(ticket.pass);
    this.#callbacks.call(ticket, tellWaiting, {
      session: ticket.session,
      for: isBehind ? 'session' : 'slot',
      position,
      waitedMs: this.#keeper.now() - ticket.queuedAt,
      ...(group && { group: `${group.kind}:${group.key}` }),
    });
  }
}

const tellWaiting = ({ listener }: Ticket, notice: WaitingNotice): void => listener.waiting?.(notice);
