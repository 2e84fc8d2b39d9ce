import type { MaybePromise, OpenSession, SessionStore, UnfinishedTurn } from './session-store.js';

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

  /** A view of the store for this turn, which holds what it opens until it lets it go. */
  for(holder: Holder): HeldSessions {
    return new TurnSessions(this.#store, this, holder);
  }

  /** Opens a session for this turn, which holds it until {@link release}. */
  open(session: string, holder: Holder): MaybePromise<OpenSession> {
    const held = this.#held.get(session);
    if (held?.holder.isEnding === true) {
      return new Promise<void>((resolve) => held.waiting.push(resolve)).then(() => this.open(session, holder));
    }
    const open = this.#store.open(session);
    if (!held) this.#held.set(session, { holder, waiting: [] });
    return open;
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
}

/** What a turn has opened of a store. */
export interface HeldSessions extends SessionStore {
  /** Lets everything go that was opened. */
  release(): void;
}

/** A class, because an object that is put together anew for every turn outlives it until the whole heap is collected. */
class TurnSessions<Holder extends SessionHolder> implements HeldSessions {
  readonly #store: SessionStore;
  readonly #gate: SessionGate<Holder>;
  readonly #holder: Holder;
  readonly #names: string[] = [];

  constructor(store: SessionStore, gate: SessionGate<Holder>, holder: Holder) {
    this.#store = store;
    this.#gate = gate;
    this.#holder = holder;
  }

  open(session: string): MaybePromise<OpenSession> {
    this.#names.push(session);
    return this.#gate.open(session, this.#holder);
  }

  locate(turn: string): MaybePromise<string | undefined> {
    return this.#store.locate(turn);
  }

  unfinished(): MaybePromise<readonly UnfinishedTurn[]> {
    return this.#store.unfinished();
  }

  release(): void {
    for (const name of this.#names) this.#gate.release(name, this.#holder);
  }
}
