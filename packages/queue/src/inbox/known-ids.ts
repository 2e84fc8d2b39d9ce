import type { Delivered, Sent } from './delivery.js';
import type { KnownDelivery } from './inbox-store.js';

/** Number of delivered messages whose ids are remembered. */
const maxRemembered = 1000;

/** The ids of pending and stored messages, and of the latest delivered ones. A failed message may be sent again. */
export class KnownIds {
  readonly #pending = new Map<string, Sent>();
  readonly #delivered = new Map<string, Sent>();

  find(session: string, id: string | undefined): Sent | undefined {
    if (id === undefined) return undefined;
    const key = keyOf(session, id);
    return this.#pending.get(key) ?? this.#delivered.get(key);
  }

  add(session: string, id: string | undefined, sent: Sent): void {
    if (id === undefined) return;
    const key = keyOf(session, id);
    this.#pending.set(key, sent);
    void sent.then(({ status }) => {
      if (status === 'kept') return;
      this.#pending.delete(key);
      if (status === 'delivered') this.#remember(key, sent);
    });
  }

  /** Adds the deliveries of earlier processes. */
  restore(known: readonly KnownDelivery[]): void {
    for (const { session, id, delivery } of known) this.#remember(keyOf(session, id), sentBefore(delivery));
  }

  #remember(key: string, sent: Sent): void {
    this.#delivered.set(key, sent);
    const [oldest] = this.#delivered.keys();
    if (this.#delivered.size > maxRemembered && oldest !== undefined) this.#delivered.delete(oldest);
  }
}

const keyOf = (session: string, id: string): string => JSON.stringify([session, id]);

const sentBefore = (delivery: Delivered): Sent =>
  Object.assign(Promise.resolve(delivery), { accepted: Promise.resolve(true) });
