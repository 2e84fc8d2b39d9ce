import { AsyncLocalStorage, AsyncResource } from 'node:async_hooks';
import type { LaneEvent } from './events.js';
import type { SlotHolder } from './holder.js';
import type { Waiter } from './waiter.js';

/** Calls those who want a place: each in the asynchronous context from which it came, and none does harm by throwing. */
export class Callbacks {
  readonly #context = new AsyncLocalStorage<SlotHolder | undefined>();
  readonly #onEvent: ((event: LaneEvent) => void) | undefined;

  constructor(onEvent: ((event: LaneEvent) => void) | undefined) {
    this.#onEvent = onEvent;
  }

  /** The work as a part of which this is called. */
  get current(): SlotHolder | undefined {
    return this.#context.getStore();
  }

  /** Does something as a part of this work; of none, when there is none. What is over has no parts any more. */
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

  /** The callback is given what it needs, so that none has to be made for each call. */
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
