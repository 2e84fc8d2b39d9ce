import type { Delivered, Sent } from './delivery.js';
import type { KnownDelivery } from './inbox-store.js';

/** How many ids are remembered of messages that were delivered. */
const maxRemembered = 1000;

/** The ids of messages that are on their way or kept, and of the latest that were delivered. What failed may be sent again. */
export class KnownIds {
  readonly #underWay = new Map<string, Sent>();
  readonly #delivered = new Map<string, Sent>();

  find(session: string, id: string | undefined): Sent | undefined {
    if (id === undefined) return undefined;
    const key = keyOf(session, id);
    return this.#underWay.get(key) ?? this.#delivered.get(key);
  }

  add(session: string, id: string | undefined, sent: Sent): void {
    if (id === undefined) return;
    const key = keyOf(session, id);
    this.#underWay.set(key, sent);
    void sent.then(({ status }) => {
      if (status === 'kept') return;
      this.#underWay.delete(key);
      if (status === 'delivered') this.#remember(key, sent);
    });
  }

  /** Remembers what an earlier process has delivered. */
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
