import { AsyncLocalStorage } from 'node:async_hooks';
import type { GivenApproval } from './host.js';

/** A session of a bridge, as far as the scopes of its calls need to know it. */
export interface ScopedSession {
  /** The name that the host gave. */
  readonly given: string;
  /** The name that operators see. */
  readonly name: string;
  /** Whether a turn of the session has not ended. */
  readonly isActive: boolean;
}

/** One for all bridges, because Node copies the value of each storage to every promise of the process. */
const scopes = new AsyncLocalStorage<CallScope>();

/**
 * A tool call in whose asynchronous context the host may run other agents.
 *
 * Such an agent may use the session of its caller, by a fixed name or because the framework passes it on. The turn of
 * the caller waits for the call, so the agent gets a separate session, which is named after the call.
 */
export class CallScope {
  /** The approvals of the call, in the order of their answers. */
  readonly approvals: GivenApproval[] = [];
  readonly #session: ScopedSession;
  readonly #id: string;
  readonly #outer = scopes.getStore();
  /** Forget the sessions of agents that the call ran. */
  readonly #nested = new Set<Forget>();

  constructor(session: ScopedSession, id: string) {
    this.#session = session;
    this.#id = id;
  }

  /**
   * Returns the innermost call of the current context whose agents cannot use the session with this name: its turn has
   * not ended, or an agent that it ran is still running.
   *
   * @param isActive - whether a turn of the session with this name has not ended
   */
  static of(given: string, isActive: (name: string) => boolean): CallScope | undefined {
    let scope = scopes.getStore();
    while (scope && !(scope.#session.given === given && (scope.#session.isActive || isActive(scope.nestedName)))) {
      scope = scope.#outer;
    }
    return scope;
  }

  /** The name of the session for agents that this call runs. */
  get nestedName(): string {
    return `${this.#session.name}/${this.#id}`;
  }

  /** Runs the tool. */
  run<Value>(tool: () => Value): Value {
    return scopes.run(this, tool);
  }

  /** Adds a session of an agent that the call ran. */
  add(forget: Forget): void {
    this.#nested.add(forget);
  }

  /** Forgets the sessions of agents that the call ran. */
  forget(which: Parameters<Forget>[0]): void {
    for (const forget of this.#nested) forget(which);
  }
}

type Forget = (which: 'all' | 'ended') => void;
