import type { JSONObject, MessageList, ToolDefinition, TurnEventOf, TurnTrigger } from '@h/turn';
import { byCodeUnit, normalizeCapabilities } from './normalize.js';
import type { CheckedOptions, TurnFacts } from './options.js';
import type { FrozenContext, SessionContext, VolatileContext } from './sections.js';

/** Creates an abort signal on first use; most functions never use it. */
type LazySignal = () => AbortSignal;

/** Contexts that section functions receive. */
export interface TurnContexts {
  readonly facts: TurnFacts;
  /** Reads the facts of the turn. */
  begin(event: TurnEventOf<'turn.start'>): void;
  /** The normalized capabilities as a key. */
  capabilitiesKey(): string;
  readonly frozen: (signal: LazySignal) => FrozenContext;
  readonly session: (signal: LazySignal) => SessionContext;
  readonly volatile: (request: TurnEventOf<'model.request'>, signal: LazySignal) => VolatileContext;
}

/** Creates the contexts of one turn. */
export const turnContexts = ({ capabilities }: CheckedOptions): TurnContexts => {
  let facts: TurnFacts = { turn: '', session: '', trigger: 'user', startedAt: 0 };
  let known: Capabilities | undefined;
  const capable = (): Capabilities =>
    (known ??= capabilitiesOf(typeof capabilities === 'function' ? capabilities(facts) : capabilities));
  return {
    get facts() {
      return facts;
    },
    begin: ({ turn, at, session, trigger, metadata }) => {
      facts = { turn, session, trigger, startedAt: at, metadata };
    },
    capabilitiesKey: () => capable().key,
    frozen: (signal) => new Frozen(capable(), signal),
    session: (signal) => new Session(facts, capable(), signal),
    volatile: (request, signal) => new Volatile(request, facts, capable(), signal),
  };
};

interface Capabilities {
  readonly list: readonly string[];
  readonly key: string;
}

const capabilitiesOf = (given: readonly string[]): Capabilities => ({
  list: [...new Set(given.map((capability) => capability.trim()))].toSorted(byCodeUnit),
  key: normalizeCapabilities(given).join('\n'),
});

// Classes, because a getter in an object literal gives every object its own hidden class, which is slow.

class Frozen implements FrozenContext {
  readonly capabilities: readonly string[];
  readonly #signal: LazySignal;

  constructor({ list }: Capabilities, signal: LazySignal) {
    this.capabilities = list;
    this.#signal = signal;
  }

  get signal(): AbortSignal {
    return this.#signal();
  }
}

class Session extends Frozen implements SessionContext {
  readonly turn: string;
  readonly session: string;
  readonly trigger: TurnTrigger;
  readonly metadata: JSONObject | undefined;
  readonly startedAt: number;

  constructor(facts: TurnFacts, capabilities: Capabilities, signal: LazySignal) {
    super(capabilities, signal);
    this.turn = facts.turn;
    this.session = facts.session;
    this.trigger = facts.trigger;
    this.metadata = facts.metadata;
    this.startedAt = facts.startedAt;
  }
}

class Volatile extends Session implements VolatileContext {
  readonly at: number;
  readonly step: number;
  readonly attempt: number;
  readonly model: string | undefined;
  readonly messages: MessageList;
  readonly tools: readonly ToolDefinition[];

  constructor(request: TurnEventOf<'model.request'>, facts: TurnFacts, capabilities: Capabilities, signal: LazySignal) {
    super(facts, capabilities, signal);
    this.at = request.at;
    this.step = request.step;
    this.attempt = request.attempt;
    this.model = request.model;
    this.messages = request.messages;
    this.tools = request.tools;
  }
}
