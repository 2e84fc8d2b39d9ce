import type { OptionCheck } from './option-check.js';
import { showValue } from './show-value.js';

export const aFunction: OptionCheck = { takes: 'a function', accepts: (value) => typeof value === 'function' };

export const aFlag: OptionCheck = { takes: 'true or false', accepts: (value) => typeof value === 'boolean' };

/** A text that says something. */
export const aText: OptionCheck = {
  takes: 'a text that is not empty',
  accepts: (value) => typeof value === 'string' && value !== '',
};

/** A text, which may be empty. */
export const anyText: OptionCheck = { takes: 'a text', accepts: (value) => typeof value === 'string' };

export const aList: OptionCheck = { takes: 'a list', accepts: (value) => Array.isArray(value) };

/** An object that is no list, of any class. */
export const anObject: OptionCheck = { takes: 'an object', accepts: isObject };

export const anything: OptionCheck = { takes: 'anything', accepts: () => true };

/** A number in a range, both ends included. `Infinity` is only taken where it is named as the end. */
export const numberFrom = (least: number, most = Number.MAX_VALUE): OptionCheck => ({
  takes: `a number ${range(least, most, Number.MAX_VALUE)}`,
  accepts: (value) => typeof value === 'number' && value >= least && value <= most,
});

/** A whole number in a range, both ends included. `Infinity` is only taken where it is named as the end. */
export const wholeFrom = (least: number, most = Number.MAX_SAFE_INTEGER): OptionCheck => ({
  takes: `a whole number ${range(least, most, Number.MAX_SAFE_INTEGER)}`,
  accepts: (value) =>
    (value === Infinity && most === Infinity) ||
    (Number.isSafeInteger(value) && (value as number) >= least && (value as number) <= most),
});

export const oneOf = (...values: readonly unknown[]): OptionCheck => ({
  takes: values.map((value) => showValue(value)).join(' or '),
  accepts: (value) => values.includes(value),
});

/** An object that has these methods. */
export const objectWith = (...methods: readonly string[]): OptionCheck => ({
  takes: `an object with ${methods.map((name) => `${name}()`).join(' and ')}`,
  accepts: (value) =>
    isObject(value) &&
    methods.every((name) => typeof (value as Readonly<Record<string, unknown>>)[name] === 'function'),
});

/** An object of a class. Say where it comes from if it is not made with `new`: `instanceOf(Budget, 'what createBudget() makes')`. */
export const instanceOf = (
  type: abstract new (...args: never[]) => object,
  takes = `an object of the class ${type.name}`,
): OptionCheck => ({
  takes,
  accepts: (value) => value instanceof type,
});

/** Leaving the option out is a fault. */
export const required = (check: OptionCheck): OptionCheck => ({ ...check, isRequired: true });

/** The value is never shown, only what kind of value it is. */
export const secret = ({ takes, accepts, isRequired }: OptionCheck): OptionCheck => ({
  takes,
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
