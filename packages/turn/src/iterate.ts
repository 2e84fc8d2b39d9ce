import { Subscription, type Observable } from 'rxjs';
import type { TurnEvent } from './contract/events.js';
import { DeltaJoin } from './join-deltas.js';

/** When this many events are waiting, adjacent text deltas are joined. */
const manyWaiting = 1024;

/**
 * Converts a turn to an async iterable. Leaving the loop ends the turn.
 *
 * A slow reader loses no text: once 1,024 events are waiting, adjacent deltas of one kind are joined.
 *
 * @example
 * ```ts
 * for await (const event of iterate(agent.turn({ session: 'alice', input: 'Hello' }))) {
 *   if (event.type === 'model.delta' && event.delta.type === 'text') process.stdout.write(event.delta.text);
 * }
 * ```
 */
export const iterate = (turn$: Observable<TurnEvent>): AsyncIterable<TurnEvent> => ({
  [Symbol.asyncIterator]: () => new Reading(turn$),
});

type Result = IteratorResult<TurnEvent, undefined>;

interface Reader {
  resolve(result: Result): void;
  reject(error: unknown): void;
}

/** One iteration of a turn. The first `next()` starts the turn. */
class Reading implements AsyncIterator<TurnEvent, undefined> {
  readonly #turn$: Observable<TurnEvent>;
  readonly #waiting: TurnEvent[] = [];
  readonly #deltas = new DeltaJoin();
  readonly #readers: Reader[] = [];
  #subscription: Subscription | undefined;
  #failure: { readonly error: unknown } | undefined;
  #isDone = false;

  constructor(turn$: Observable<TurnEvent>) {
    this.#turn$ = turn$;
  }

  next(): Promise<Result> {
    if (!this.#subscription && !this.#isDone) this.#begin();
    const event = this.#waiting.shift();
    if (event) return Promise.resolve({ done: false, value: event });
    const failure = this.#failure;
    this.#failure = undefined;
    // oxlint-disable-next-line typescript/prefer-promise-reject-errors -- the original value is passed on
    if (failure) return Promise.reject(failure.error);
    if (this.#isDone) return Promise.resolve(over);
    return new Promise((resolve, reject) => {
      this.#readers.push({ resolve, reject });
    });
  }

  /** Ends the turn, even while `next()` is pending. */
  return(): Promise<Result> {
    this.#waiting.length = 0;
    this.#subscription?.unsubscribe();
    this.#end();
    return Promise.resolve(over);
  }

  #begin(): void {
    this.#subscription = new Subscription();
    this.#subscription.add(
      this.#turn$.subscribe({
        next: (event) => this.#take(event),
        error: (error: unknown) => {
          const reader = this.#readers.shift();
          if (reader) reader.reject(error);
          else this.#failure = { error };
          this.#end();
        },
        complete: () => this.#end(),
      }),
    );
  }

  #take(event: TurnEvent): void {
    const reader = this.#readers.shift();
    if (reader) reader.resolve({ done: false, value: event });
    else this.#add(event);
  }

  #add(event: TurnEvent): void {
    const last = this.#waiting.at(-1);
    const joined = last && this.#waiting.length >= manyWaiting ? this.#deltas.join(last, event) : undefined;
    if (joined) this.#waiting[this.#waiting.length - 1] = joined;
    else this.#waiting.push(event);
  }

  #end(): void {
    this.#isDone = true;
    for (const reader of this.#readers.splice(0)) reader.resolve(over);
  }
}

const over: Result = { done: true, value: undefined };
