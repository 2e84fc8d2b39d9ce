import { SessionStuckError, type StoreOperation } from './errors.js';
import type { MaybePromise, OpenSession, SessionStore, UnfinishedTurn } from './session-store.js';

/** A turn that holds a session. */
export interface SessionHolder {
  /** It is about to let the session go, whatever happens. */
  readonly isEnding: boolean;
}

interface Held<Holder> {
  readonly holder: Holder;
  readonly waiting: { readonly goOn: () => void; readonly giveUp: (error: SessionStuckError) => void }[];
  /** The holder has ended, and the store keeps it from letting go. */
  stuck: SessionStuckError | undefined;
}

/**
 * Opens sessions for the turns of one harness.
 *
 * A turn that comes while the one before it is still writing its last records waits for that; one that comes while the
 * other is at work is refused by the store. Where the store takes too long over that, it is refused, too, until the store is done.
 */
export class SessionGate<Holder extends SessionHolder = SessionHolder> {
  readonly #store: SessionStore;
  readonly #held = new Map<string, Held<Holder>>();

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
    if (held?.stuck) throw held.stuck;
    if (held?.holder.isEnding === true) {
      return new Promise<void>((goOn, giveUp) => held.waiting.push({ goOn, giveUp })).then(() =>
        this.open(session, holder),
      );
    }
    const open = this.#store.open(session);
    if (!held) this.#held.set(session, { holder, waiting: [], stuck: undefined });
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
    for (const { goOn } of held.waiting) goOn();
  }

  /** The turn has ended, and the store keeps it from letting the session go: nobody waits for that any longer. */
  refuse(session: string, holder: Holder, operation: StoreOperation): void {
    const held = this.#held.get(session);
    if (held?.holder !== holder) return;
    const stuck = new SessionStuckError(session, operation);
    held.stuck = stuck;
    for (const { giveUp } of held.waiting.splice(0)) giveUp(stuck);
  }
}

/** What a turn has opened of a store. */
export interface HeldSessions extends SessionStore {
  /** Lets everything go that was opened. */
  release(): void;
  /** Has others refused for as long as it is not let go. */
  refuse(operation: StoreOperation): void;
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

  refuse(operation: StoreOperation): void {
    for (const name of this.#names) this.#gate.refuse(name, this.#holder, operation);
  }
}
