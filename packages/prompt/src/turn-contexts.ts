import { anyString, arrayOf, checkValue } from '@h/options';
import type { JSONObject, MessageList, ToolDefinition, TurnEventOf, TurnTrigger } from '@h/turn';
import { byCodeUnit, normalizeCapabilities } from './normalize.js';
import type { CheckedOptions, TurnFacts } from './options.js';
import type { FrozenContext, SessionContext, VolatileContext } from './sections.js';

/** Creates an abort signal on first use; most functions never use it. */
type LazySignal = () => AbortSignal;

/** Creates the contexts that section functions receive in one turn. */
export class TurnContexts {
  facts: TurnFacts = unknownTurn;
  readonly #options: CheckedOptions;
  #known: Capabilities | undefined;

  constructor(options: CheckedOptions) {
    this.#options = options;
  }

  /** Reads the facts of the turn. */
  begin({ turn, at, session, trigger, metadata }: TurnEventOf<'turn.start'>): void {
    this.facts = { turn, session, trigger, startedAt: at, metadata };
  }

  /** The normalized capabilities as a key. */
  capabilitiesKey(): string {
    return this.#capabilities().key;
  }

  frozen(signal: LazySignal): FrozenContext {
    return new Frozen(this.#capabilities(), signal);
  }

  session(signal: LazySignal): SessionContext {
    return new Session(this.facts, this.#capabilities(), signal);
  }

  volatile(request: TurnEventOf<'model.request'>, signal: LazySignal): VolatileContext {
    return new Volatile(request, this.facts, this.#capabilities(), signal);
  }

  #capabilities(): Capabilities {
    if (this.#known !== undefined) return this.#known;
    const { capabilities } = this.#options;
    const list = typeof capabilities === 'function' ? capabilities(this.facts) : capabilities;
    checkValue('prompt()', 'capabilities()', list, arrayOf(anyString));
    this.#known = capabilitiesOf(list);
    return this.#known;
  }
}

const unknownTurn: TurnFacts = { turn: '', session: '', trigger: 'user', startedAt: 0 };

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
