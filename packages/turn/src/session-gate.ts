import type { MaybePromise, OpenSession, SessionStore } from './session-store.js';

/** A turn that holds a session. */
export interface SessionHolder {
  /** It is about to let the session go, whatever happens. */
  readonly isEnding: boolean;
  /** Fulfilled when it has. */
  whenClosed(): Promise<void>;
}

/**
 * Opens sessions for the turns of one harness.
 *
 * A turn that comes while the one before it is still writing its last records waits for that; one that comes while the
 * other is at work is refused by the store.
 */
export class SessionGate<Holder extends SessionHolder> {
  readonly #store: SessionStore;
  readonly #holders = new Map<string, Holder>();

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
    return this.#holders.get(session);
  }

  release(session: string, holder: Holder): void {
    if (this.#holders.get(session) === holder) this.#holders.delete(session);
  }

  #open(session: string, holder: Holder): MaybePromise<OpenSession> {
    const current = this.#holders.get(session);
    if (current?.isEnding) return current.whenClosed().then(() => this.#open(session, holder));
    const open = this.#store.open(session);
    if (current === undefined) this.#holders.set(session, holder);
    return open;
  }
}
