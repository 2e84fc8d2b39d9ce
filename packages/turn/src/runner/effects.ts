import { showValue } from '@h/options';
import { from, Observable, type ObservableInput, type Observer, type Subscription } from 'rxjs';
import type { CallIds } from '../transcript/call-ids.js';
import { InvalidInputError } from '../contract/errors.js';
import type { TurnEvent } from '../contract/events.js';
import { endQuietly } from '../end-quietly.js';
import { LazyAbort } from '../lazy-abort.js';

/** The turn that a driver works for. */
export interface EffectHost {
  readonly turn: string;
  readonly session: string;
  readonly callIds: CallIds;
  /** When the turn must have ended, in milliseconds since 1970. */
  readonly deadlineAt: number | undefined;
  now(): number;
  /** Sends an event into the pipeline. */
  enter(event: TurnEvent): void;
}

/**
 * Work of a driver: a model call or a batch of tool calls.
 *
 * It starts in a microtask, never while the event that requested it is processed. It ends exactly once, on its own or
 * because it is stopped, and emits nothing afterwards.
 */
export abstract class Effect<Output> implements Observer<Output> {
  readonly #abort = new LazyAbort();
  #subscription: Subscription | undefined;
  #isOver = false;

  /** Creates the driver's stream. An error ends the work. */
  protected abstract open(): ObservableInput<Output>;
  /** Handles an output of the driver. */
  protected abstract take(output: Output): void;
  /** The driver completed or failed. */
  protected abstract ended(error?: unknown): void;

  /** Aborted when the work is stopped. */
  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  start(): this {
    void nextMicrotask.then(() => this.#begin());
    return this;
  }

  /** Stops the work at any point. */
  stop(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#abort.abort();
    endQuietly(this.#subscription);
  }

  next(output: Output): void {
    if (this.#isOver) return;
    try {
      if (typeof output !== 'object' || output === null) {
        throw new InvalidInputError(`The driver emitted ${String(output)}; a driver emits objects with a type.`);
      }
      this.take(output);
    } catch (error) {
      this.#end(error);
      endQuietly(this.#subscription);
    }
  }

  error(error: unknown): void {
    this.#end(error ?? new Error('The driver failed without an error value.'));
  }

  complete(): void {
    this.#end();
  }

  #begin(): void {
    if (this.#isOver) return;
    try {
      this.#subscription = streamOf(this.open()).subscribe(this);
    } catch (error) {
      this.#end(error);
    }
    if (this.#isOver) endQuietly(this.#subscription);
  }

  #end(error?: unknown): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.ended(error);
  }
}

/** What a driver learns about its turn. */
export class EffectContext {
  readonly turn: string;
  readonly session: string;
  readonly step: number;
  readonly #host: EffectHost;
  readonly #work: { readonly signal: AbortSignal };

  constructor(host: EffectHost, work: { readonly signal: AbortSignal }, step: number) {
    this.turn = host.turn;
    this.session = host.session;
    this.step = step;
    this.#host = host;
    this.#work = work;
  }

  get deadlineAt(): number | undefined {
    return this.#host.deadlineAt;
  }

  get signal(): AbortSignal {
    return this.#work.signal;
  }
}

/** @throws InvalidInputError for a value that is no stream */
const streamOf = <Output>(source: ObservableInput<Output>): Observable<Output> => {
  if (source instanceof Observable) return source;
  try {
    return from(source);
  } catch (error) {
    throw new InvalidInputError(
      `The driver returned ${showValue(source)}; it must return an observable, a promise, an async iterable or an array of outputs.`,
      { cause: error },
    );
  }
};

/** A microtask through a promise costs a third of `queueMicrotask`, which saves the async context of each call. */
const nextMicrotask = Promise.resolve();
