import { showValue } from '@h/options';
import { problemWithType } from '../checks/event-types.js';
import type { TurnEnding, TurnEvent } from '../contract/events.js';
import { isPromise } from '../maybe-promise.js';
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
  readonly #decided: Set<string>[] = [];
  readonly #observed: Set<string>[] = [];

  constructor(operators: readonly InterceptorSetup[]) {
    this.#operators = operators;
    this.starters = this.#list<Start>((shared) => [shared ? shared.start : startOwn]);
    this.finalizers = this.#list<Finalize>((shared) => [shared ? shared.finalize : finalizeOwn]);
  }

  get size(): number {
    return this.#operators.length;
  }

  nameOf(place: number): string {
    return (this.#operators[place] as InterceptorSetup).name;
  }

  /** Creates the state of an operator for a turn: its own handlers, or what it passes to those that all turns share. */
  setUp(place: number, context: OperatorContext): unknown {
    const { setup, shared } = this.#operators[place] as InterceptorSetup;
    const state = setup(context);
    if (shared) return state;
    checkHandlers(state);
    learn((this.#decided[place] ??= new Set()), state.decide, this.#deciders);
    learn((this.#observed[place] ??= new Set()), state.observe, this.#observers);
    return state;
  }

  /** Lists the handlers that decide about events of this type. `*` stands for the types without a handler. */
  deciders(type: string): readonly Placed<Decide>[] {
    return this.#deciders.get(type) ?? this.#listDeciders(type);
  }

  #listDeciders(type: string): readonly Placed<Decide>[] {
    const list = this.#list<Decide>((shared, place) => {
      if (shared) return [handlerIn(shared.decide, type) ?? handlerIn(shared.decide, '*')];
      return isIn(this.#decided[place], type) ? [decideOwn] : [];
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
      return isIn(this.#observed[place], type) ? [observeOwnEvery, observeOwn] : [];
    });
    if (this.#observers.size < maxListedTypes) this.#observers.set(type, list);
    return list;
  }

  #list<Handle>(
    select: (shared: SharedHandlers<unknown> | undefined, place: number) => readonly (object | undefined)[],
  ): readonly Placed<Handle>[] {
    return this.#operators.flatMap(({ shared }, place) =>
      select(shared, place).flatMap((handle) => (handle ? [{ place, handle: handle as Handle }] : [])),
    );
  }
}

/**
 * Adds the types that an operator handles, `*` in place of a type beyond {@link maxListedTypes}. The handlers are listed
 * again if one is new.
 *
 * @throws TypeError for a type of which no event can arrive
 */
const learn = (types: Set<string>, handlers: object = {}, lists: Map<string, unknown>): void => {
  for (const type of Object.getOwnPropertyNames(handlers)) {
    if (types.has(type)) continue;
    const problem = type === '*' ? undefined : problemWithType(type);
    if (problem !== undefined) throw new TypeError(`setup() returned a handler for an unknown event: ${problem}`);
    types.add(types.size < maxListedTypes ? type : '*');
    lists.clear();
  }
};

const isIn = (types: ReadonlySet<string> | undefined, type: string): boolean =>
  types !== undefined && (types.has(type) || types.has('*'));

const handlerNames = new Set(['decide', 'observe', 'start', 'finalize']);

/** @throws TypeError for handlers that would never be called */
function checkHandlers(handlers: unknown): asserts handlers is Handlers {
  if (typeof handlers !== 'object' || handlers === null) {
    throw new TypeError(
      `setup() must return an object with handlers; it returned ${showValue(handlers)}. Put parentheses around an object that an arrow function returns.`,
    );
  }
  if (isPromise(handlers)) {
    throw new TypeError('setup() returned a promise. Make it synchronous; handlers of decide may return promises.');
  }
  const unknown = Object.keys(handlers).find((name) => !handlerNames.has(name));
  if (unknown === undefined) return;
  throw new TypeError(
    `setup() returned the unknown handler ${JSON.stringify(unknown)}. The handlers are ${[...handlerNames].join(', ')}.`,
  );
}

const startOwn: Start = (own) => (own as Handlers).start?.();
const finalizeOwn: Finalize = (own, ending) => (own as Handlers).finalize?.(ending);
const observeOwnEvery: Observe = (own, event) => handlerIn((own as Handlers).observe, '*')?.(event as never);
const observeOwn: Observe = (own, event) => handlerIn((own as Handlers).observe, event.type)?.(event as never);
const decideOwn: Decide = (own, event, context) => {
  const { decide } = own as Handlers;
  return (handlerIn(decide, event.type) ?? handlerIn(decide, '*'))?.(event as never, context);
};

/** Returns the handler for a type; a type such as `toString` has none. */
const handlerIn = <Table extends object>(table: Table | undefined, type: string): Table[keyof Table] | undefined =>
  table !== undefined && Object.hasOwn(table, type) ? table[type as keyof Table] : undefined;
