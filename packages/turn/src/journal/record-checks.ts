import { anyString, arrayOf, type OptionCheck } from '@h/options';
import { checked, jsonObject, shapeOf } from '../checks/data-checks.js';
import { finite, payloads } from '../checks/event-checks.js';

/** Records omit the histories that a replay derives from earlier records. */
const withoutHistory: ReadonlySet<string> = new Set(['session.loaded', 'model.request']);

const checksOfRecords = new Map(
  Object.entries(payloads).map(([type, { members, optional, lists, variant }]): readonly [string, OptionCheck] => {
    const { messages: history, ...others } = Object.fromEntries(
      Object.entries(lists).map(([name, item]) => [name, arrayOf(item)]),
    );
    const isOptional = type === 'history.append';
    const own = history === undefined || withoutHistory.has(type) ? {} : { messages: history };
    const shape = shapeOf(
      { turn: anyString, at: finite, ...members, ...others, ...(isOptional ? {} : own) },
      { ...optional, annotations: jsonObject, ...(isOptional ? own : {}) },
    );
    return [type, variant === undefined ? shape : both(shape, variant)];
  }),
);

function both(first: OptionCheck, second: OptionCheck): OptionCheck {
  return {
    expected: first.expected,
    accepts: (value) => first.accepts(value) && second.accepts(value),
    faultIn: (value) => (first.accepts(value) ? second : first).faultIn?.(value),
  };
}

/**
 * Checks an event of the loop that was read from a journal. Notices have no check.
 *
 * @throws InvalidInputError that names the record, the path, the value found there and what was expected
 */
export const checkEvent = (event: { readonly type: string }, seq: number): void => {
  const check = checksOfRecords.get(event.type);
  if (check) checked(check, event, `The ${event.type} of record ${seq}`, 'event');
};
