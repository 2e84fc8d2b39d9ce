import type { OptionCheck } from './option-check.js';
import { isThenable, showValue } from './show-value.js';

export const anyFunction: OptionCheck = { expected: 'a function', accepts: (value) => typeof value === 'function' };

export const anyBoolean: OptionCheck = { expected: 'a boolean', accepts: (value) => typeof value === 'boolean' };

/** Accepts strings of at least one character. */
export const nonEmptyString: OptionCheck = {
  expected: 'a non-empty string',
  accepts: (value) => typeof value === 'string' && value !== '',
};

/** Accepts all strings, including the empty one. */
export const anyString: OptionCheck = { expected: 'a string', accepts: (value) => typeof value === 'string' };

export const anyArray: OptionCheck = { expected: 'an array', accepts: (value) => Array.isArray(value) };

/** Accepts objects of any class except arrays. */
export const anyObject: OptionCheck = { expected: 'an object', accepts: isObject };

/**
 * Accepts objects whose members are their content: not promises, maps, sets and other iterables, which have none and
 * would pass as an object without members.
 */
export const anyRecord: OptionCheck = {
  expected: anyObject.expected,
  accepts: (value) => isObject(value) && !(Symbol.iterator in value) && !isThenable(value),
};

export const anyValue: OptionCheck = { expected: 'any value', accepts: () => true };

/** The longest delay of a JavaScript timer, in milliseconds; a timer with a longer delay fires at once. */
// Written out, because bundlers keep an unused `2 ** 31 - 1`.
export const maxTimerMs = 2_147_483_647;

/** Accepts numbers from `min` to `max`, both included. `Infinity` is accepted only if it is `max`. */
export const numberFrom = (min: number, max = Number.MAX_VALUE): OptionCheck => ({
  expected: `a number ${range(min, max, Number.MAX_VALUE)}`,
  accepts: (value) => typeof value === 'number' && value >= min && value <= max,
});

/** Accepts integers from `min` to `max`, both included. `Infinity` is accepted only if it is `max`. */
export const integerFrom = (min: number, max = Number.MAX_SAFE_INTEGER): OptionCheck => ({
  expected: `an integer ${range(min, max, Number.MAX_SAFE_INTEGER)}`,
  accepts: (value) =>
    (value === Infinity && max === Infinity) ||
    (Number.isSafeInteger(value) && (value as number) >= min && (value as number) <= max),
});

export const oneOf = (...values: readonly unknown[]): OptionCheck => ({
  expected: values.map((value) => showValue(value)).join(' or '),
  accepts: (value) => values.includes(value),
});

/** Accepts objects that have these methods. */
export const objectWithMethods = (...methods: readonly string[]): OptionCheck => ({
  expected: `an object with ${methods.map((name) => `${name}()`).join(' and ')}`,
  accepts: (value) =>
    isObject(value) &&
    methods.every((name) => typeof (value as Readonly<Record<string, unknown>>)[name] === 'function'),
});

/**
 * Accepts instances of a class. Pass `expected` if users do not call `new`: `instanceOf(Budget, 'a budget of
 * createBudget()')`.
 */
export const instanceOf = (
  type: abstract new (...args: never[]) => object,
  expected = `an instance of ${type.name}`,
): OptionCheck => ({
  expected,
  accepts: (value) => value instanceof type,
});

/** Makes the option mandatory. */
export const required = (check: OptionCheck): OptionCheck => ({ ...check, isRequired: true });

/** Hides the value in messages; only its type or length is shown. */
export const secret = ({ expected, accepts, isRequired }: OptionCheck): OptionCheck => ({
  expected,
  accepts,
  isRequired,
  isSecret: true,
});

const range = (min: number, max: number, end: number): string => {
  if (max === Infinity) return `from ${min} or Infinity`;
  return max === end ? `from ${min}` : `from ${min} to ${max}`;
};

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
