import type { SchedulerLike } from 'rxjs';
import type { StoreOperation } from './errors.js';
import type { TurnEvent, TurnEventOf } from './events.js';
import { openForResume, openForTurn, type Opened, type Reopened } from './opening.js';
import type { HeldSessions, SessionGate, SessionHolder } from './session-gate.js';
import type { MaybePromise, SessionStore } from './session-store.js';
import { andThen, isPromise, type SessionWriter } from './session-writer.js';
import { later } from './timers.js';

/** How long a store may take over what a turn waits for at its end. */
export interface Patience {
  readonly scheduler: SchedulerLike;
  readonly closeGraceMs: number;
}

/** The session of one turn: opened once, written to while the turn runs, let go exactly once. */
export class TurnSession<Holder extends SessionHolder> {
  readonly #store: HeldSessions;
  #opening: Promise<void> | undefined;
  #opened: Opened | undefined;
  /** What was written while the session was being opened, in order. */
  readonly #early: (() => void)[] = [];
  #isLetGo = false;
  #isStuck = false;
  readonly #patience: Patience;
  #stopWatch: (() => void) | undefined;

  constructor(gate: SessionGate<Holder>, holder: Holder, patience: Patience) {
    this.#store = gate.for(holder);
    this.#patience = patience;
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
    onOpened?: () => void,
  ): MaybePromise<void> {
    const take = (opened: What): MaybePromise<void> => {
      this.#opening = undefined;
      this.#opened = opened;
      if (this.#isLetGo) return this.#close();
      const taken = then(opened);
      for (const write of this.#early.splice(0)) write();
      onOpened?.();
      return taken;
    };
    const fail = (error: unknown): void => {
      this.#opening = undefined;
      if (this.#isLetGo) this.#released();
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

  /** Opens the session of a turn that begins, and writes down that it does. */
  begin(
    start: TurnEventOf<'turn.start'>,
    at: number,
    onOpened: () => void,
    onError: (error: unknown) => void,
  ): MaybePromise<void> {
    return this.open(
      (sessions) => openForTurn(sessions, start, at),
      ({ writer }) => writer.write(start),
      onError,
      onOpened,
    );
  }

  /** Opens the session of a turn that goes on. */
  reopen(turn: string, then: (reopened: Reopened) => void, onError: (error: unknown) => void): void {
    void this.open((sessions) => openForResume(sessions, turn), then, onError);
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

  /**
   * Lets the session go once everything that was written is safe; one that is still being opened, as soon as it is.
   *
   * @returns when that is done, or takes too long; then the session stays taken until the store has done it
   */
  letGo(): MaybePromise<void> {
    if (this.#isLetGo) return undefined;
    this.#isLetGo = true;
    this.#stopWatch?.();
    if (this.#opening) {
      this.watch(() => undefined);
      return undefined;
    }
    const closed = this.#close();
    if (!isPromise(closed) || this.#isStuck) return undefined;
    return new Promise((resolve) => {
      this.watch(() => resolve());
      void closed.then(resolve);
    });
  }

  /** The turn is over but for what the store still has to do: from now on that may take so long. */
  watch(onStuck: (operation: StoreOperation) => void): void {
    const { scheduler, closeGraceMs } = this.#patience;
    this.#stopWatch?.();
    this.#stopWatch = later(scheduler, closeGraceMs, () => {
      this.#isStuck = true;
      const operation = this.#awaited();
      this.#store.refuse(operation);
      onStuck(operation);
    });
  }

  /** What the store has not done yet. */
  #awaited(): StoreOperation {
    if (!this.writer) return 'open';
    return this.writer.isWriting ? 'append' : 'close';
  }

  #close(): MaybePromise<void> {
    let closed: MaybePromise<void>;
    try {
      closed = this.writer?.close();
    } catch {
      closed = undefined;
    }
    const release = (): void => this.#released();
    if (isPromise(closed)) return closed.then(release, release);
    release();
    return undefined;
  }

  #released(): void {
    this.#stopWatch?.();
    this.#store.release();
  }
}
