import type { MaybePromise, OpenSession, SessionStore } from './session-store.js';

/** A turn that holds a session. */
export interface SessionHolder {
  /** It is about to let the session go, whatever happens. */
  readonly isEnding: boolean;
}

interface Held {
  readonly holder: SessionHolder;
  readonly waiting: (() => void)[];
}

/**
 * Opens sessions for the turns of one harness.
 *
 * A turn that comes while the one before it is still writing its last records waits for that; one that comes while the
 * other is at work is refused by the store.
 */
export class SessionGate<Holder extends SessionHolder = SessionHolder> {
  readonly #store: SessionStore;
  readonly #held = new Map<string, Held & { readonly holder: Holder }>();

  constructor(store: SessionStore) {
    this.#store = store;
  }

  /** A view of the store for this turn, which holds what it opens until {@link release}. */
  for(holder: Holder): SessionStore {
    return {
      open: (session) => this.#open(session, holder),
      locate: (turn) => this.#store.locate(turn),
      unfinished: () => this.#store.unfinished(),
    };
  }

  /** The turn that holds the session. */
  holderOf(session: string): Holder | undefined {
    return this.#held.get(session)?.holder;
  }

  release(session: string, holder: Holder): void {
    const held = this.#held.get(session);
    if (held?.holder !== holder) return;
    this.#held.delete(session);
    for (const goOn of held.waiting) goOn();
  }

  #open(session: string, holder: Holder): MaybePromise<OpenSession> {
    const held = this.#held.get(session);
    if (held?.holder.isEnding === true) {
      return new Promise<void>((resolve) => held.waiting.push(resolve)).then(() => this.#open(session, holder));
    }
    const open = this.#store.open(session);
    if (!held) this.#held.set(session, { holder, waiting: [] });
    return open;
  }
}
