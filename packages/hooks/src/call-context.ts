import type { JSONObject, JSONValue, TurnTrigger } from '@h/turn';
import type { HookContext } from './hook.js';

/** The properties of the turn at the current step. */
export interface TurnFacts {
  readonly turn: string;
  readonly session: string;
  readonly step: number;
  readonly trigger: TurnTrigger;
  readonly metadata: JSONObject | undefined;
}

/**
 * The context of one call of a handler.
 *
 * The first access creates the signal, because creating one takes longer than calling a gate.
 */
export class CallContext implements HookContext {
  readonly turn: string;
  readonly session: string;
  readonly step: number;
  readonly at: number;
  readonly trigger: TurnTrigger;
  readonly metadata: JSONObject | undefined;
  readonly #notify: (message: string, details?: JSONValue) => void;
  #abort: AbortController | undefined;

  constructor(
    { turn, session, step, trigger, metadata }: TurnFacts,
    at: number,
    details: object,
    notify: (message: string, details?: JSONValue) => void,
  ) {
    this.turn = turn;
    this.session = session;
    this.step = step;
    this.at = at;
    this.trigger = trigger;
    this.metadata = metadata;
    this.#notify = notify;
    Object.assign(this, details);
  }

  get notify(): HookContext['notify'] {
    return this.#notify;
  }

  get signal(): AbortSignal {
    return this.controller().signal;
  }

  controller(): AbortController {
    return (this.#abort ??= new AbortController());
  }
}
