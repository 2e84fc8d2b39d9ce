import { showValue } from '@h/options';
import { problemWithType } from '../checks/event-shape.js';
import type { TurnEnding, TurnEvent } from '../contract/events.js';
import type {
  DecideContext,
  DecisionInput,
  Handlers,
  InterceptorSetup,
  OperatorContext,
  SharedHandlers,
} from './handlers.js';

/** A handler and the place of its operator in the segment. It is called with the state of the operator in the turn. */
export interface Placed<Handle> {
  readonly place: number;
  readonly handle: Handle;
}

export type Decide = (state: unknown, event: TurnEvent, context: DecideContext) => DecisionInput;
export type Observe = (state: unknown, event: TurnEvent) => unknown;
type Start = (state: unknown) => unknown;
type Finalize = (state: unknown, ending: TurnEnding | undefined) => unknown;

/** How many types have their handlers listed. An operator can emit notices of any number of types. */
const maxListedTypes = 1000;

/**
 * A run of adjacent interceptors. Lists the handlers of each type of event when the first event of the type arrives;
 * the turns of an agent share the lists.
 */
export class SegmentPlan {
  readonly starters: readonly Placed<Start>[];
  readonly finalizers: readonly Placed<Finalize>[];
  readonly #operators: readonly InterceptorSetup[];
  readonly #deciders = new Map<string, readonly Placed<Decide>[]>();
  readonly #observers = new Map<string, readonly Placed<Observe>[]>();
  /** The types that the operators with handlers of their own have handled in any turn, by place. */
  readonly #ownTypes: Map<number, OwnTypes>;

  constructor(operators: readonly InterceptorSetup[], ownTypes: ReadonlyMap<number, OwnTypes> = new Map()) {
    this.#operators = operators;
    this.#ownTypes = new Map(
      Array.from(ownTypes, ([place, { decided, observed }]) => [
        place,
        { decided: new Set(decided), observed: new Set(observed) },
      ]),
    );
    this.starters = this.#list<Start>((shared) => [shared ? shared.start : startOwn]);
    this.finalizers = this.#list<Finalize>((shared) => [shared ? shared.finalize : finalizeOwn]);
  }

  get size(): number {
    return this.#operators.length;
  }

  nameOf(place: number): string {
    return (this.#operators[place] as InterceptorSetup).name;
  }

  /** Creates the state of an operator for a turn. */
  setUp(place: number, context: OperatorContext): unknown {
    const { setup, shared } = this.#operators[place] as InterceptorSetup;
    if (shared) return setup(context);
    const own = new OwnHandlers(setup(context) as Handlers);
    this.#learn(place, own);
    return own;
  }

  /** Lists the handlers again if an operator handles a type that it has not handled in an earlier turn. */
  #learn(place: number, own: OwnHandlers): void {
    const known = this.#ownTypes.get(place) ?? { decided: new Set(), observed: new Set() };
    this.#ownTypes.set(place, known);
    if (own.addDecided(known.decided)) this.#deciders.clear();
    if (own.addObserved(known.observed)) this.#observers.clear();
  }

  /** Lists the handlers that decide about events of this type. `*` stands for the types without a handler. */
  deciders(type: string): readonly Placed<Decide>[] {
    return this.#deciders.get(type) ?? this.#listDeciders(type);
  }

  #listDeciders(type: string): readonly Placed<Decide>[] {
    const list = this.#list<Decide>((shared, place) => {
      if (shared) return [handlerIn(shared.decide, type) ?? handlerIn(shared.decide, '*')];
      return isIn(this.#ownTypes.get(place)?.decided, type) ? [decideOwn] : [];
    });
    if (this.#deciders.size < maxListedTypes) this.#deciders.set(type, list);
    return list;
  }

  /** Lists the handlers that observe events of this type. `*` observes every type, before the handler of the type. */
  observers(type: string): readonly Placed<Observe>[] {
    return this.#observers.get(type) ?? this.#listObservers(type);
  }

  #listObservers(type: string): readonly Placed<Observe>[] {
    const list = this.#list<Observe>((shared, place) => {
      if (shared) return [handlerIn(shared.observe, '*'), handlerIn(shared.observe, type)];
      return isIn(this.#ownTypes.get(place)?.observed, type) ? [observeOwnEvery, observeOwn] : [];
    });
    if (this.#observers.size < maxListedTypes) this.#observers.set(type, list);
    return list;
  }

  /** Returns this plan with an operator that handles nothing, because its setup failed. */
  without(place: number): SegmentPlan {
    const inert = (operator: InterceptorSetup, at: number): InterceptorSetup =>
      at === place ? { ...operator, shared: {} } : operator;
    return new SegmentPlan(this.#operators.map(inert), this.#ownTypes);
  }

  #list<Handle>(
    select: (shared: SharedHandlers<unknown> | undefined, place: number) => readonly (object | undefined)[],
  ): readonly Placed<Handle>[] {
    return this.#operators.flatMap(({ shared }, place) =>
      select(shared, place).flatMap((handle) => (handle ? [{ place, handle: handle as Handle }] : [])),
    );
  }
}

/** The types of events for which an operator has made handlers. */
interface OwnTypes {
  readonly decided: Set<string>;
  readonly observed: Set<string>;
}

/**
 * Adds the keys of a table, `*` in place of a type beyond {@link maxListedTypes}. @returns whether one is new
 *
 * @throws TypeError for a misspelled type
 */
const addKeys = (types: Set<string>, table: object | undefined): boolean => {
  if (table === undefined) return false;
  const before = types.size;
  for (const type of Object.getOwnPropertyNames(table)) {
    if (types.has(type)) continue;
    checkType(type);
    types.add(types.size < maxListedTypes ? type : '*');
  }
  return types.size > before;
};

const isIn = (types: ReadonlySet<string> | undefined, type: string): boolean =>
  types !== undefined && (types.has(type) || types.has('*'));

const handlerNames = new Set(['decide', 'observe', 'start', 'finalize']);

/** @throws TypeError for handlers that would never be called */
const checkHandlers = (handlers: unknown): void => {
  if (typeof handlers !== 'object' || handlers === null) {
    throw new TypeError(
      `setup() must return an object with handlers; it returned ${showValue(handlers)}. Put parentheses around an object that an arrow function returns.`,
    );
  }
  if (typeof (handlers as { readonly then?: unknown }).then === 'function') {
    throw new TypeError('setup() returned a promise. Make it synchronous; handlers of decide may return promises.');
  }
  const unknown = Object.keys(handlers).find((name) => !handlerNames.has(name));
  if (unknown === undefined) return;
  throw new TypeError(
    `setup() returned the unknown handler ${JSON.stringify(unknown)}. The handlers are ${[...handlerNames].join(', ')}.`,
  );
};

/** @throws TypeError for a type of which no event can arrive */
const checkType = (type: string): void => {
  const problem = type === '*' ? undefined : problemWithType(type);
  if (problem !== undefined) throw new TypeError(`setup() returned a handler for an unknown event: ${problem}`);
};

/** The handlers that an operator has made for one turn. */
class OwnHandlers {
  readonly start: Handlers['start'];
  readonly finalize: Handlers['finalize'];
  readonly #observe: Handlers['observe'];
  readonly #decide: Handlers['decide'];
  readonly #observesEvery: boolean;
  readonly #decidesEvery: boolean;

  /** Reads the handlers here, where a failure is one of the setup: the value may be a revoked proxy, or no object. */
  constructor(handlers: Handlers) {
    checkHandlers(handlers);
    const { observe, decide, start, finalize } = handlers;
    this.start = start;
    this.finalize = finalize;
    this.#observe = observe;
    this.#decide = decide;
    this.#observesEvery = handlerIn(observe, '*') !== undefined;
    this.#decidesEvery = handlerIn(decide, '*') !== undefined;
  }

  /** Adds the types that it decides about. @returns whether one is new */
  addDecided(types: Set<string>): boolean {
    return addKeys(types, this.#decide);
  }

  /** Adds the types that it observes. @returns whether one is new */
  addObserved(types: Set<string>): boolean {
    return addKeys(types, this.#observe);
  }

  observeEvery(event: TurnEvent): unknown {
    return this.#observesEvery ? this.#observe?.['*']?.(event) : undefined;
  }

  observe(event: TurnEvent): unknown {
    const handle = handlerIn(this.#observe, event.type) as ((event: TurnEvent) => unknown) | undefined;
    return handle?.(event);
  }

  decide(event: TurnEvent, context: DecideContext): DecisionInput {
    const type = this.#decidesEvery && handlerIn(this.#decide, event.type) === undefined ? '*' : event.type;
    const handle = handlerIn(this.#decide, type) as
      | ((event: TurnEvent, context: DecideContext) => DecisionInput)
      | undefined;
    return handle?.(event, context);
  }
}

const startOwn: Start = (own) => (own as OwnHandlers).start?.();
const finalizeOwn: Finalize = (own, ending) => (own as OwnHandlers).finalize?.(ending);
const decideOwn: Decide = (own, event, context) => (own as OwnHandlers).decide(event, context);
const observeOwn: Observe = (own, event) => (own as OwnHandlers).observe(event);
const observeOwnEvery: Observe = (own, event) => (own as OwnHandlers).observeEvery(event);

/** Returns the handler for a type; a type such as `toString` has none. */
const handlerIn = <Table extends object>(table: Table | undefined, type: string): Table[keyof Table] | undefined =>
  table !== undefined && Object.hasOwn(table, type) ? table[type as keyof Table] : undefined;
