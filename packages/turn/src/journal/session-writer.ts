import { toErrorInfo } from '../contract/errors.js';
import type { TurnEvent } from '../contract/events.js';
import { isPromise, type MaybePromise } from '../maybe-promise.js';
import type { JournalRecord, OpenSession } from '../contract/session-store.js';

/** Writes the journal of one turn, record after record, and closes the session at the end. */
export class SessionWriter {
  readonly #session: OpenSession;
  #seq: number;
  /** The number of records that are not stored yet. */
  #pending = 0;
  #onIdle: (() => void) | undefined;
  /** The first error. No later record is written, because a journal has no gaps. */
  #failure: Error | undefined;

  constructor(session: OpenSession, seq: number) {
    this.#session = session;
    this.#seq = seq;
  }

  /** Whether a record is not stored yet. */
  get isWriting(): boolean {
    return this.#pending > 0 && this.#failure === undefined;
  }

  /** Adds an event to the journal. Returns nothing if it is stored synchronously; rejects if the store throws. */
  write(event: TurnEvent, derived = false): MaybePromise<void> {
    const written = this.#append({ v: 1, seq: this.#seq, event, derived });
    this.#seq += 1;
    if (!isPromise(written)) return undefined;
    this.#pending += 1;
    return written.then(
      () => this.#settled(),
      (error: unknown) => {
        this.#settled();
        throw this.#fail(error);
      },
    );
  }

  #settled(): void {
    this.#pending -= 1;
    if (this.#pending === 0) this.#onIdle?.();
  }

  #append(record: JournalRecord): MaybePromise<void> {
    if (this.#failure) return Promise.reject(this.#failure);
    try {
      return this.#session.append(record);
    } catch (error) {
      return Promise.reject(this.#fail(error));
    }
  }

  #fail(error: unknown): Error {
    this.#failure ??= asError(error);
    return this.#failure;
  }

  /** Closes the session once every record is stored. */
  close(): MaybePromise<void> {
    if (this.#pending === 0) return this.#session.close();
    return new Promise<void>((resolve) => {
      this.#onIdle = resolve;
    }).then(() => this.#session.close());
  }
}

/** A store may throw anything, even a value that throws when it is read. */
const asError = (thrown: unknown): Error => {
  try {
    if (thrown instanceof Error) return thrown;
  } catch {
    // Described below.
  }
  return new Error(toErrorInfo(thrown).message, { cause: thrown });
};
