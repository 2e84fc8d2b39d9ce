import { SessionStuckError, type StoreOperation } from '../contract/errors.js';
import type { MaybePromise } from '../maybe-promise.js';
import type { Message, UserMessage } from '../contract/messages.js';
import type { OpenOptions, OpenSession, SessionStore } from '../contract/session-store.js';

/** Valid messages, and the members that were checked: the caller may have replaced one since. */
export type ValidMessages = WeakMap<Message, Pick<Message, 'role' | 'content'>>;

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
  /** Messages of loaded sessions that are valid, with their members then, so that a turn checks only others. */
  readonly valid: ValidMessages = new WeakMap();

  constructor(store: SessionStore) {
    this.#store = store;
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

  /** Returns the session that holds the journal of this turn. */
  locate(turn: string): MaybePromise<string | undefined> {
    return this.#store.locate(turn);
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
