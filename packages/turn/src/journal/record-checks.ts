import { anyString, type OptionCheck } from '@h/options';
import { checked, shapeOf } from '../checks/data-checks.js';
import { finite, payloads } from '../checks/event-checks.js';

/** Records omit the histories that a replay derives from earlier records. */
const withoutHistory: ReadonlySet<string> = new Set(['session.loaded', 'model.request']);

const checksOfRecords = new Map(
  Array.from(payloads, ([type, { members, variant }]): readonly [string, OptionCheck] => {
    const required: Record<string, OptionCheck> = { turn: anyString, at: finite };
    const optional: Record<string, OptionCheck> = {};
    for (const { name, check, isOptional } of members) {
      if (name === 'messages' && withoutHistory.has(type)) continue;
      const isDerived = name === 'messages' && type === 'history.append';
      (isOptional || isDerived ? optional : required)[name] = check;
    }
    const shape = shapeOf(required, optional);
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
