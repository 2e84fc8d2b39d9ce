import { AsyncLocalStorage, AsyncResource } from 'node:async_hooks';
import { followTurn } from '@h/turn';
import type { LaneEvent } from '../events.js';
import type { SlotHolder, Waiter } from './waiter.js';

/** The holders in whose asynchronous context code runs: one of each set of lanes. */
interface Scope {
  readonly lanes: Callbacks;
  readonly holder: SlotHolder | undefined;
  readonly outer: Scope | undefined;
}

/** One for all lanes, because Node copies the value of each storage to every promise of the process. */
const scopes = new AsyncLocalStorage<Scope | undefined>();
followTurn(scopes);
// oxlint-disable-next-line h/no-module-state -- the last lanes of the process disable the storage
let openLanes = 0;

const without = (lanes: Callbacks, scope: Scope | undefined): Scope | undefined => {
  if (scope === undefined) return undefined;
  const outer = without(lanes, scope.outer);
  if (scope.lanes === lanes) return outer;
  return outer === scope.outer ? scope : { ...scope, outer };
};

/**
 * Calls listeners, each in the asynchronous context of its request. An error that a listener throws is reported, not
 * propagated.
 */
export class Callbacks {
  readonly #onEvent: ((event: LaneEvent) => void) | undefined;
  #isOpen = true;

  constructor(onEvent: ((event: LaneEvent) => void) | undefined) {
    this.#onEvent = onEvent;
    openLanes += 1;
  }

  /** The holder in whose asynchronous context this is called. */
  get current(): SlotHolder | undefined {
    let scope = scopes.getStore();
    while (scope && scope.lanes !== this) scope = scope.outer;
    return scope?.holder;
  }

  /** Runs a callback in the async context of a holder, or outside of any context if it is `undefined` or has ended. */
  within<Result>(holder: SlotHolder | undefined, callback: () => Result): Result {
    if (holder?.isCurrent === false || holder === this.current) return callback();
    return scopes.run(this.#scopeOf(holder), callback);
  }

  /** With the last lanes, disables the async hook, which otherwise adds to the cost of every promise of the process. */
  end(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    openLanes -= 1;
    if (openLanes === 0) scopes.disable();
  }

  /** Keeps the asynchronous context of a request that must wait. */
  remember(waiter: Waiter): void {
    waiter.scope = new AsyncResource('LaneRequest');
  }

  /** Passes the argument on, so that callers need no closure for each call. */
  call<Argument>(waiter: Waiter, callback: (waiter: Waiter, argument: Argument) => void, argument: Argument): void {
    const { scope, holder } = waiter;
    try {
      if (holder?.isCurrent !== true) {
        if (scope) scope.runInAsyncScope(callback, undefined, waiter, argument);
        else callback(waiter, argument);
      } else if (scope) {
        scope.runInAsyncScope(() => scopes.run(this.#scopeOf(holder), callback, waiter, argument));
      } else {
        scopes.run(this.#scopeOf(holder), callback, waiter, argument);
      }
    } catch (error) {
      this.report({ type: 'callback-failed', session: waiter.session, label: waiter.request.label, error });
    }
  }

  #scopeOf(holder: SlotHolder | undefined): Scope {
    return { lanes: this, holder, outer: without(this, scopes.getStore()) };
  }

  report(event: LaneEvent): void {
    try {
      const reported: unknown = this.#onEvent?.(event);
      if (reported instanceof Promise) void Promise.allSettled([reported]);
    } catch {
      // An error of a monitor has no effect.
    }
  }
}
