import { AsyncLocalStorage, AsyncResource } from 'node:async_hooks';
import type { LaneEvent } from './events.js';
import type { SlotHolder, Waiter } from './waiter.js';

/**
 * Calls listeners, each in the asynchronous context of its request. An error that a listener throws is reported, not
 * propagated.
 */
export class Callbacks {
  readonly #context = new AsyncLocalStorage<SlotHolder | undefined>();
  readonly #onEvent: ((event: LaneEvent) => void) | undefined;

  constructor(onEvent: ((event: LaneEvent) => void) | undefined) {
    this.#onEvent = onEvent;
  }

  /** The holder in whose asynchronous context this is called. */
  get current(): SlotHolder | undefined {
    return this.#context.getStore();
  }

  /** Runs a callback in the async context of a holder, or outside of any context if it is `undefined` or has ended. */
  within<Result>(holder: SlotHolder | undefined, callback: () => Result): Result {
    return holder?.isCurrent === false ? callback() : this.#context.run(holder, callback);
  }

  /** Disables the async hook, which otherwise adds to the cost of every promise of the process. */
  end(): void {
    this.#context.disable();
  }

  /** Keeps the asynchronous context of a request that must wait. */
  remember(waiter: Waiter): void {
    waiter.scope = new AsyncResource('LaneTicket');
  }

  /** Passes the argument on, so that callers need no closure for each call. */
  call<Argument>(waiter: Waiter, callback: (waiter: Waiter, argument: Argument) => void, argument: Argument): void {
    const { scope, holder } = waiter;
    try {
      if (holder?.isCurrent !== true) {
        if (scope) scope.runInAsyncScope(callback, undefined, waiter, argument);
        else callback(waiter, argument);
      } else if (scope) {
        scope.runInAsyncScope(() => this.#context.run(holder, callback, waiter, argument));
      } else {
        this.#context.run(holder, callback, waiter, argument);
      }
    } catch (error) {
      this.report({ type: 'callback-failed', session: waiter.session, label: waiter.request.label, error });
    }
  }

  report(event: LaneEvent): void {
    try {
      this.#onEvent?.(event);
    } catch {
      // An error of a monitor has no effect.
    }
  }
}
