import { from, type Observable, type ObservableInput, type Subscription } from 'rxjs';

/** What the runner started and has not heard the end of. */
export interface Effect {
  stop(): void;
}

/** Who hears from an effect. Nothing is said after `done`, nor once it was stopped. */
export interface EffectObserver<Output> {
  next(output: Output): void;
  /** It ended: by itself, or with an error. */
  done(error?: unknown): void;
}

/**
 * Starts work on a microtask, so never inside the event that asked for it.
 *
 * The input is made when the work starts; an error while it is made is the end of the work.
 */
export const startEffect = <Output>(
  start: () => ObservableInput<Output>,
  observer: EffectObserver<Output>,
  onStop?: () => void,
): Effect => {
  let stopped = false;
  let subscription: Subscription | undefined;
  const done = (error?: unknown): void => {
    if (stopped) return;
    stopped = true;
    observer.done(error);
  };
  queueMicrotask(() => {
    if (stopped) return;
    try {
      subscription = toObservable(start()).subscribe({
        next: (output) => {
          if (!stopped) observer.next(output);
        },
        error: (error: unknown) => done(error ?? new Error('The driver failed without saying why.')),
        complete: () => done(),
      });
    } catch (error) {
      done(error);
    }
    if (stopped) subscription?.unsubscribe();
  });
  return {
    stop: () => {
      if (stopped) return;
      stopped = true;
      onStop?.();
      subscription?.unsubscribe();
    },
  };
};

const toObservable = <Output>(input: ObservableInput<Output>): Observable<Output> => from(input);

/** An `AbortSignal` that is only made when somebody looks at it. */
export class LazyAbort {
  #controller: AbortController | undefined;
  #reason: unknown;
  #aborted = false;

  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.#aborted) this.#controller.abort(this.#reason);
    return this.#controller.signal;
  }

  abort(reason?: unknown): void {
    if (this.#aborted) return;
    this.#aborted = true;
    this.#reason = reason;
    this.#controller?.abort(reason);
  }
}
