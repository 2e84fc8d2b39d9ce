import {
  anyFunction,
  anyObject,
  arrayOf,
  checkOptions,
  checkValue,
  InvalidOptionError,
  nonEmptyString,
  required,
} from '@h/options';
import { EventQueue } from './event-queue.js';
import { problemWithType } from '../checks/event-types.js';
import {
  interceptor,
  type Handlers,
  type Interceptor,
  type InterceptorPlace,
  type InterceptorSetup,
  type OperatorContext,
  type SharedSetup,
} from './handlers.js';
import { Segment, segmentOperator } from './segment.js';
import { SegmentPlan } from './segment-plan.js';

/**
 * Makes an operator from handlers: `observe` reads events, `decide` changes them.
 *
 * Events without a handler pass unchanged. `setup` runs once per subscription, so its variables belong to one turn. An
 * object with `setup` and handlers does the same with less memory per turn: `setup` returns the state of the turn, and
 * the handlers, which all turns share, receive it as their first argument.
 * If a handler throws, rejects or returns an invalid decision, the turn ends with an {@link OperatorError} that names
 * the operator.
 *
 * @param handlers - `setup`, or {@link SharedSetup}
 * @param place - which operators belong before and behind this one
 *
 * @example
 * ```ts
 * const failureLimit = (limit: number) =>
 *   intercept(
 *     'failure-limit',
 *     () => {
 *       let failures = 0;
 *       return {
 *         observe: { 'tool.result': ({ status }) => void (failures = status === 'failed' ? failures + 1 : 0) },
 *         decide: { 'model.request': () => (failures < limit ? undefined : stop('error', `${failures} tool calls failed.`)) },
 *       };
 *     },
 *     { before: ['tools'] },
 *   );
 * ```
 */
export const intercept = <State>(
  name: string,
  handlers: ((context: OperatorContext) => Handlers) | SharedSetup<State>,
  place: InterceptorPlace = {},
): Interceptor => {
  checkSetup(name, handlers);
  checkOptions('intercept()', place, { after: arrayOf(nonEmptyString), before: arrayOf(nonEmptyString) });
  const own: InterceptorSetup =
    typeof handlers === 'function'
      ? { name, setup: handlers, shared: undefined, place }
      : { name, setup: handlers.setup, shared: handlers as SharedSetup<unknown>, place };
  const plan = new SegmentPlan([own]);
  const operator = segmentOperator((subscriber) => {
    const segment: Segment = new Segment(plan, new EventQueue(), {
      next: (event) => {
        const error = segment.observe(event);
        if (error) subscriber.error(error);
        else subscriber.next(event);
      },
      failed: (error) => subscriber.error(error),
    });
    if (!subscriber.closed) segment.start();
    return segment;
  });
  return Object.assign(operator, { [interceptor]: own });
};

/** @throws InvalidOptionError for a name or a setup that no turn could use, and for handlers that none would call */
const checkSetup = (name: string, setup: unknown): void => {
  checkValue('intercept()', 'name', name, nonEmptyString);
  if (typeof setup === 'function') return;
  const shared = {
    setup: required(anyFunction),
    decide: anyObject,
    observe: anyObject,
    start: anyFunction,
    finalize: anyFunction,
  };
  const owner = `intercept(${JSON.stringify(name)})`;
  checkOptions(owner, setup as SharedSetup<unknown>, shared);
  const { decide, observe } = setup as SharedSetup<unknown>;
  for (const [table, handlers] of Object.entries({ decide, observe })) {
    for (const type of Object.keys(handlers ?? {})) {
      const problem = type === '*' ? undefined : problemWithType(type);
      if (problem === undefined) continue;
      throw new InvalidOptionError({ owner, option: `${table}.${type}`, message: `${owner}: in ${table}, ${problem}` });
    }
  }
};
