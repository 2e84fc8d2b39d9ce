import { SessionStuckError, type StoreOperation } from '../contract/errors.js';
import type { MaybePromise } from '../maybe-promise.js';
import type { UserMessage } from '../contract/messages.js';
import type { OpenOptions, OpenSession, SessionStore, UnfinishedTurn } from '../contract/session-store.js';

/** A turn that holds a session. */
export interface SessionHolder {
  /** The turn is ending and will release the session. */
  readonly isEnding: boolean;
  /** Accepts a message for the next step; returns `false` if the turn is ending. */
  steer(id: string, message: UserMessage): boolean;
}

interface Held {
  readonly holder: SessionHolder;
  readonly waiting: { readonly resolve: () => void; readonly reject: (error: SessionStuckError) => void }[];
  /** Set when the holder has ended and the store did not release the session in time. */
  stuck: SessionStuckError | undefined;
}

/**
 * Opens sessions for the turns of one harness.
 *
 * If the turn that holds the session is ending, `open` waits until it has released the session. If it is still
 * running, the store rejects `open`. If the store does not release the session in time, `open` fails until it does.
 */
export class SessionGate {
  readonly #store: SessionStore;
  readonly #held = new Map<string, Held>();

  constructor(store: SessionStore) {
    this.#store = store;
  }

  /** Returns a view of the store that tracks the sessions this turn opens. */
  for(holder: SessionHolder): TurnStore {
    return new TurnSessions(this.#store, this, holder);
  }

  /** Opens a session for this turn, which holds it until {@link release}. */
  open(session: string, holder: SessionHolder, options: OpenOptions | undefined): MaybePromise<OpenSession> {
    const held = this.#held.get(session);
    if (held?.stuck) throw held.stuck;
    if (held?.holder.isEnding === true) {
      return new Promise<void>((resolve, reject) => held.waiting.push({ resolve, reject })).then(() =>
        this.open(session, holder, options),
      );
    }
    const open = this.#store.open(session, options);
    if (!held) this.#held.set(session, { holder, waiting: [], stuck: undefined });
    return open;
  }

  /** Returns the turn that holds the session. */
  holderOf(session: string): SessionHolder | undefined {
    return this.#held.get(session)?.holder;
  }

  release(session: string, holder: SessionHolder): void {
    const held = this.#held.get(session);
    if (held?.holder !== holder) return;
    this.#held.delete(session);
    for (const { resolve } of held.waiting) resolve();
  }

  /** Rejects all waiters: the turn has ended, and the store did not release its session in time. */
  refuse(session: string, holder: SessionHolder, operation: StoreOperation): void {
    const held = this.#held.get(session);
    if (held?.holder !== holder) return;
    const stuck = new SessionStuckError(session, operation);
    held.stuck = stuck;
    for (const { reject } of held.waiting.splice(0)) reject(stuck);
  }
}

/** The session store as one turn sees it. */
export interface TurnStore extends SessionStore {
  /** Releases every session that the turn opened. */
  release(): void;
  /** Rejects other turns until the sessions are released. */
  refuse(operation: StoreOperation): void;
}

/** A class, because object literals with methods, made for every turn, survive until a full garbage collection. */
class TurnSessions implements TurnStore {
  readonly #store: SessionStore;
  readonly #gate: SessionGate;
  readonly #holder: SessionHolder;
  readonly #names: string[] = [];

  constructor(store: SessionStore, gate: SessionGate, holder: SessionHolder) {
    this.#store = store;
    this.#gate = gate;
    this.#holder = holder;
  }

  open(session: string, options?: OpenOptions): MaybePromise<OpenSession> {
    this.#names.push(session);
    return this.#gate.open(session, this.#holder, options);
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
