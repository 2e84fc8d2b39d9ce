import type { OptionCheck } from './option-check.js';
import { showValue } from './show-value.js';

export const anyFunction: OptionCheck = { expected: 'a function', accepts: (value) => typeof value === 'function' };

export const anyBoolean: OptionCheck = { expected: 'a boolean', accepts: (value) => typeof value === 'boolean' };

/** A text that says something. */
export const nonEmptyString: OptionCheck = {
  expected: 'a non-empty string',
  accepts: (value) => typeof value === 'string' && value !== '',
};

/** A text, which may be empty. */
export const anyString: OptionCheck = { expected: 'a string', accepts: (value) => typeof value === 'string' };

export const anyArray: OptionCheck = { expected: 'an array', accepts: (value) => Array.isArray(value) };

/** An object that is no list, of any class. */
export const anyObject: OptionCheck = { expected: 'an object', accepts: isObject };

export const anyValue: OptionCheck = { expected: 'any value', accepts: () => true };

/** A number in a range, both ends included. `Infinity` is only taken where it is named as the end. */
export const numberFrom = (least: number, most = Number.MAX_VALUE): OptionCheck => ({
  expected: `a number ${range(least, most, Number.MAX_VALUE)}`,
  accepts: (value) => typeof value === 'number' && value >= least && value <= most,
});

/** A whole number in a range, both ends included. `Infinity` is only taken where it is named as the end. */
export const integerFrom = (least: number, most = Number.MAX_SAFE_INTEGER): OptionCheck => ({
  expected: `an integer ${range(least, most, Number.MAX_SAFE_INTEGER)}`,
  accepts: (value) =>
    (value === Infinity && most === Infinity) ||
    (Number.isSafeInteger(value) && (value as number) >= least && (value as number) <= most),
});

export const oneOf = (...values: readonly unknown[]): OptionCheck => ({
  expected: values.map((value) => showValue(value)).join(' or '),
  accepts: (value) => values.includes(value),
});

/** An object that has these methods. */
export const objectWithMethods = (...methods: readonly string[]): OptionCheck => ({
  expected: `an object with ${methods.map((name) => `${name}()`).join(' and ')}`,
  accepts: (value) =>
    isObject(value) &&
    methods.every((name) => typeof (value as Readonly<Record<string, unknown>>)[name] === 'function'),
});

/** An object of a class. Say where it comes from if it is not made with `new`: `instanceOf(Budget, 'what createBudget() makes')`. */
export const instanceOf = (
  type: abstract new (...args: never[]) => object,
  expected = `an instance of ${type.name}`,
): OptionCheck => ({
  expected,
  accepts: (value) => value instanceof type,
});

/** Leaving the option out is a fault. */
export const required = (check: OptionCheck): OptionCheck => ({ ...check, isRequired: true });

/** The value is never shown, only what kind of value it is. */
export const secret = ({ expected, accepts, isRequired }: OptionCheck): OptionCheck => ({
  expected,
  accepts,
  isRequired,
  isSecret: true,
});

const range = (least: number, most: number, end: number): string => {
  if (most === Infinity) return `from ${least} or Infinity`;
  return most === end ? `from ${least}` : `from ${least} to ${most}`;
};

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
