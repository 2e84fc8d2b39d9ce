import { from, Observable, type ObservableInput, type Observer, type Subscription } from 'rxjs';
import { InvalidInputError } from './errors.js';
import { endQuietly } from './end-quietly.js';

/**
 * Work that the runner has started: a model call, a batch of tool calls.
 *
 * It starts on a microtask, so never inside the event that asked for it. It ends exactly once, by itself or because
 * it is stopped; after that it says nothing more.
 */
export abstract class Effect<Output> implements Observer<Output> {
  #controller: AbortController | undefined;
  #subscription: Subscription | undefined;
  #isOver = false;
  #isStopped = false;

  /** Makes what is subscribed to. An error while it is made is the end of the work. */
  protected abstract open(): ObservableInput<Output>;
  /** Takes what the driver says. */
  protected abstract take(output: Output): void;
  /** The driver has ended, by itself or with an error. */
  protected abstract ended(error?: unknown): void;

  /** Aborted when the work is stopped. */
  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.#isStopped) this.#controller.abort();
    return this.#controller.signal;
  }

  start(): this {
    void nextMicrotask.then(() => this.#begin());
    return this;
  }

  /** Ends the work, whatever it is doing. */
  stop(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#isStopped = true;
    this.#controller?.abort();
    endQuietly(this.#subscription);
  }

  next(output: Output): void {
    if (this.#isOver) return;
    try {
      if (typeof output !== 'object' || output === null) {
        throw new InvalidInputError(`The driver said ${String(output)}, which is no output of a driver.`);
      }
      this.take(output);
    } catch (error) {
      this.#end(error);
      endQuietly(this.#subscription);
    }
  }

  error(error: unknown): void {
    this.#end(error ?? new Error('The driver failed without saying why.'));
  }

  complete(): void {
    this.#end();
  }

  #begin(): void {
    if (this.#isOver) return;
    try {
      const source = this.open();
      this.#subscription = (source instanceof Observable ? source : from(source)).subscribe(this);
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

/** A microtask through this costs a third of what `queueMicrotask` costs, which keeps the async context of each. */
const nextMicrotask = Promise.resolve();

/** An `AbortSignal` that is only made when somebody looks at it: making one costs more than a step of the loop. */
export class LazyAbort {
  #controller: AbortController | undefined;
  #isAborted = false;

  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.#isAborted) this.#controller.abort();
    return this.#controller.signal;
  }

  abort(): void {
    this.#isAborted = true;
    this.#controller?.abort();
  }
}
