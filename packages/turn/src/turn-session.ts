import type { TurnEvent } from './events.js';
import type { Opened } from './opening.js';
import type { HeldSessions, SessionGate, SessionHolder } from './session-gate.js';
import type { MaybePromise, SessionStore } from './session-store.js';
import { andThen, isPromise, type SessionWriter } from './session-writer.js';

/** The session of one turn: opened once, written to while the turn runs, let go exactly once. */
export class TurnSession<Holder extends SessionHolder> {
  readonly #store: HeldSessions;
  #opening: Promise<void> | undefined;
  #opened: Opened | undefined;
  /** What was written while the session was being opened, in order. */
  readonly #early: (() => void)[] = [];
  #isLetGo = false;

  constructor(gate: SessionGate<Holder>, holder: Holder) {
    this.#store = gate.for(holder);
  }

  /** What was found when it was opened. */
  get opened(): Opened | undefined {
    return this.#opened;
  }

  get isOpening(): boolean {
    return this.#opening !== undefined;
  }

  get writer(): SessionWriter | undefined {
    return this.#opened?.writer;
  }

  /**
   * Opens the session, now or later, and hands on what was found there; not if it was let go meanwhile.
   *
   * @returns when `then` is done; it never fails
   */
  open<What extends Opened>(
    open: (sessions: SessionStore) => MaybePromise<What>,
    then: (opened: What) => MaybePromise<void>,
    onError: (error: unknown) => void,
  ): MaybePromise<void> {
    const take = (opened: What): MaybePromise<void> => {
      this.#opening = undefined;
      this.#opened = opened;
      if (this.#isLetGo) return this.#close();
      const taken = then(opened);
      for (const write of this.#early.splice(0)) write();
      return taken;
    };
    const fail = (error: unknown): void => {
      this.#opening = undefined;
      if (this.#isLetGo) this.#store.release();
      else onError(error);
    };
    try {
      const taken = andThen(open(this.#store), take);
      if (!isPromise(taken)) return undefined;
      const done = Promise.resolve(taken).then(undefined, fail);
      // A store may open at once and still take its time to write.
      if (this.#opened === undefined) this.#opening = done;
      return done;
    } catch (error) {
      fail(error);
      return undefined;
    }
  }

  /** Writes an event down, as soon as the session is open. Without a session nothing is written. */
  write(event: TurnEvent, derived: boolean): MaybePromise<void> {
    if (!this.#opening) return this.writer?.write(event, derived);
    let written: MaybePromise<void>;
    this.#early.push(() => {
      written = this.writer?.write(event, derived);
    });
    return this.#opening.then(() => written);
  }

  /** Lets the session go once everything that was written is safe; one that is still being opened, as soon as it is. */
  letGo(): MaybePromise<void> {
    if (this.#isLetGo) return undefined;
    this.#isLetGo = true;
    return this.#opening ? undefined : this.#close();
  }

  #close(): MaybePromise<void> {
    let closed: MaybePromise<void>;
    try {
      closed = this.writer?.close();
    } catch {
      closed = undefined;
    }
    const release = (): void => this.#store.release();
    if (isPromise(closed)) return closed.then(release, release);
    release();
    return undefined;
  }
}
