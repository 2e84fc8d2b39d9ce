import { later } from '@h/options';
import type { SchedulerLike } from 'rxjs';
import type { StoreOperation } from '../contract/errors.js';
import type { TurnEvent, TurnEventOf } from '../contract/events.js';
import { andThen, isPromise, type MaybePromise } from '../maybe-promise.js';
import { openForResume, openForTurn, type Opened, type Reopened, type SessionOpener } from './opening.js';
import type { SessionGate, SessionHolder, ValidMessages } from '../journal/session-gate.js';
import type { OpenOptions, OpenSession } from '../contract/session-store.js';
import type { SessionWriter } from '../journal/session-writer.js';

/** How long a store may take to finish after the turn has ended. */
export interface CloseTimeout {
  readonly scheduler: SchedulerLike;
  readonly closeGraceMs: number;
}

/** The session of one turn: opened once, written to while the turn runs, released exactly once. */
export class TurnSession implements SessionOpener {
  readonly #gate: SessionGate;
  readonly #holder: SessionHolder;
  #name = '';
  #opening: Promise<void> | undefined;
  #opened: Opened | undefined;
  /** Writes that were requested while the session was being opened, in order. */
  readonly #pendingWrites: (() => void)[] = [];
  #isReleased = false;
  #isStuck = false;
  readonly #timeout: CloseTimeout;
  #stopWatch: (() => void) | undefined;

  constructor(gate: SessionGate, holder: SessionHolder, timeout: CloseTimeout) {
    this.#gate = gate;
    this.#holder = holder;
    this.#timeout = timeout;
  }

  get opened(): Opened | undefined {
    return this.#opened;
  }

  get isOpening(): boolean {
    return this.#opening !== undefined;
  }

  get writer(): SessionWriter | undefined {
    return this.#opened?.writer;
  }

  get valid(): ValidMessages {
    return this.#gate.valid;
  }

  locate(turn: string): MaybePromise<string | undefined> {
    return this.#gate.locate(turn);
  }

  hold(session: string, options?: OpenOptions): MaybePromise<OpenSession> {
    this.#name = session;
    return this.#gate.open(session, this.#holder, options);
  }

  /**
   * Opens the session, now or later, and passes it to `then`, unless it was released meanwhile.
   *
   * @returns when `then` is done; never rejects
   */
  #open<What extends Opened>(
    open: () => MaybePromise<What>,
    then: (opened: What) => MaybePromise<void>,
    onError: (error: unknown) => void,
    onOpened?: () => void,
  ): MaybePromise<void> {
    const onOpen = (opened: What): MaybePromise<void> => {
      this.#opening = undefined;
      this.#opened = opened;
      if (this.#isReleased) return this.#close();
      const done = then(opened);
      for (const write of this.#pendingWrites.splice(0)) write();
      onOpened?.();
      return done;
    };
    const fail = (error: unknown): void => {
      this.#opening = undefined;
      if (this.#isReleased) this.#onReleased();
      else onError(error);
    };
    try {
      const opening = andThen(open(), onOpen);
      if (!isPromise(opening)) return undefined;
      const done = Promise.resolve(opening).then(undefined, fail);
      // A store may open synchronously and still write asynchronously.
      if (this.#opened === undefined) this.#opening = done;
      return done;
    } catch (error) {
      fail(error);
      return undefined;
    }
  }

  /** Opens the session of a new turn and records its start. */
  begin(
    start: TurnEventOf<'turn.start'>,
    at: number,
    onOpened: () => void,
    onError: (error: unknown) => void,
  ): MaybePromise<void> {
    return this.#open(
      () => openForTurn(this, start, at),
      ({ writer }) => writer.write(start),
      onError,
      onOpened,
    );
  }

  /** Opens the session of an earlier turn. */
  reopen(turn: string, then: (reopened: Reopened) => void, onError: (error: unknown) => void): void {
    void this.#open(() => openForResume(this, turn), then, onError);
  }

  /** Records an event as soon as the session is open. Without a session it does nothing. */
  write(event: TurnEvent, derived: boolean): MaybePromise<void> {
    if (!this.#opening) return this.writer?.write(event, derived);
    let written: MaybePromise<void>;
    this.#pendingWrites.push(() => {
      written = this.writer?.write(event, derived);
      // It may reject before the caller observes it, which would end the process.
      if (isPromise(written)) void Promise.allSettled([written]);
    });
    return this.#opening.then(() => written);
  }

  /**
   * Releases the session once every write is stored. A session that is still being opened is released afterwards.
   *
   * @returns when the session is released or `closeGraceMs` has passed; in the latter case it stays locked until the
   * store is done
   */
  release(): MaybePromise<void> {
    if (this.#isReleased) return undefined;
    this.#isReleased = true;
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

  /** Starts the timeout for the pending operations of the store. */
  watch(onStuck: (operation: StoreOperation) => void): void {
    const { scheduler, closeGraceMs } = this.#timeout;
    this.#stopWatch?.();
    this.#stopWatch = later(scheduler, closeGraceMs, () => {
      this.#isStuck = true;
      const operation = this.#awaited();
      this.#gate.refuse(this.#name, this.#holder, operation);
      onStuck(operation);
    });
  }

  /** The operation that the store has not finished. */
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
    const release = (): void => this.#onReleased();
    if (isPromise(closed)) return closed.then(release, release);
    release();
    return undefined;
  }

  #onReleased(): void {
    this.#stopWatch?.();
    this.#gate.release(this.#name, this.#holder);
  }
}
