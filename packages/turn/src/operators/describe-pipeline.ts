import type { TurnEventType } from '../contract/events.js';
import { OperatorError, toErrorInfo } from '../contract/errors.js';
import { interceptor, type Handlers, type InterceptorSetup } from './handlers.js';
import { isInterceptor, type PipelineOperator } from './pipeline.js';

/** The operators of a pipeline, violations of the order they declare, and operators with the same name. */
export interface PipelineDescription {
  readonly operators: readonly string[];
  readonly warnings: readonly string[];
  /** The list and the warnings as text. */
  toString(): string;
}

/**
 * Lists the operators of an agent in order. Warns once about each two operators that violate a declared order, and about
 * names that several operators have.
 *
 * An operator declares its place with `intercept(name, setup, { after: ['queue'], before: ['tools'] })`.
 *
 * @example
 * ```ts
 * console.log(String(describePipeline(agent)));
 * ```
 */
export const describePipeline = (agent: { readonly operators: readonly PipelineOperator[] }): PipelineDescription => {
  const operators = agent.operators.map(nameOf);
  const warnings = [...misplaced(agent.operators, operators), ...repeated(agent.operators)];
  return {
    operators,
    warnings,
    toString: () =>
      [
        ...operators.map((name, index) => `${String(index + 1).padStart(2)}. ${name}`),
        ...warnings.map((text) => `!  ${text}`),
      ].join('\n'),
  };
};

/** Both operators of a pair may declare its order; the pair has one warning. */
const misplaced = (operators: readonly PipelineOperator[], names: readonly string[]): readonly string[] => {
  const warnings = new Map<string, string>();
  const warn = (first: string, last: string, warning: string): void => {
    const pair = JSON.stringify([first, last]);
    if (!warnings.has(pair)) warnings.set(pair, `${warning}; move it.`);
  };
  for (const [index, operator] of operators.entries()) {
    if (!isInterceptor(operator)) continue;
    const { name, place } = operator[interceptor];
    const [above, below] = [names.slice(0, index), names.slice(index + 1)];
    for (const other of place.after ?? []) {
      if (below.includes(other)) warn(other, name, `${name} belongs after ${other}`);
    }
    for (const other of place.before ?? []) {
      if (above.includes(other)) warn(name, other, `${name} belongs before ${other}`);
    }
  }
  return [...warnings.values()];
};

const repeated = (operators: readonly PipelineOperator[]): readonly string[] => {
  const names = operators.filter(isInterceptor).map((operator) => operator[interceptor].name);
  return [...new Set(names)].flatMap((name) => {
    const count = names.filter((other) => other === name).length;
    return count === 1
      ? []
      : [`${name} is in the pipe ${count} times, and all use the state of that name; combine them.`];
  });
};

/** The events that an operator made by `intercept` has handlers for, without `*`. */
export interface HandledEvents {
  /** The name of the operator. */
  readonly operator: string;
  readonly decides: readonly TurnEventType[];
  readonly observes: readonly TurnEventType[];
}

/**
 * Lists the events that an operator handles, so that a bridge can reject an operator whose events its host does not
 * have. Runs `setup` once, outside a turn, unless the handlers are shared; `start` and `finalize` do not run.
 *
 * @returns `undefined` for a native operator
 * @throws OperatorError if `setup` throws
 */
export const handledEvents = (operator: PipelineOperator): HandledEvents | undefined => {
  if (!isInterceptor(operator)) return undefined;
  const { decide = {}, observe = {} } = handlersOf(operator[interceptor]);
  return { operator: operator[interceptor].name, decides: typesIn(decide), observes: typesIn(observe) };
};

/**
 * Returns whether an operator may change, hold or drop events of a type, also with `*`. A native operator may.
 *
 * @throws OperatorError if `setup` throws
 */
export const mayDecide = (operator: PipelineOperator, type: TurnEventType): boolean => {
  if (!isInterceptor(operator)) return true;
  const { decide = {} } = handlersOf(operator[interceptor]);
  return type in decide || '*' in decide;
};

/** The handlers of an operator, by event. */
interface HandlerSets {
  readonly decide?: object | undefined;
  readonly observe?: object | undefined;
}

const handlersOf = ({ name, setup, shared }: InterceptorSetup): HandlerSets => {
  if (shared !== undefined) return shared;
  try {
    return setup({
      emit: () => undefined,
      now: () => 0,
      after: () => () => undefined,
      setDeadline: () => undefined,
      timeLeft: () => Infinity,
    }) as Handlers;
  } catch (error) {
    throw new OperatorError(name, `failed in its setup: ${toErrorInfo(error).message}`, { cause: error });
  }
};

const typesIn = (handlers: object): readonly TurnEventType[] =>
  Object.keys(handlers).filter((type): type is TurnEventType => type !== '*');

const nameOf = (operator: PipelineOperator): string =>
  isInterceptor(operator)
    ? operator[interceptor].name
    : `${operator.name === '' ? 'an RxJS operator' : operator.name} (native)`;
