import { TurnError } from '@h/turn';

/** What an option takes: a check, and words for it. */
export interface OptionCheck {
  readonly accepts: (value: unknown) => boolean;
  readonly takes: string;
}

export const wholeFrom = (least: number): OptionCheck => ({
  accepts: (value) => value === Infinity || (Number.isSafeInteger(value) && (value as number) >= least),
  takes: `a whole number from ${least}`,
});

export const numberFrom = (least: number): OptionCheck => ({
  accepts: (value) => typeof value === 'number' && value >= least,
  takes: `a number from ${least}`,
});

export const isFunction: OptionCheck = { accepts: (value) => typeof value === 'function', takes: 'a function' };
export const isBoolean: OptionCheck = { accepts: (value) => typeof value === 'boolean', takes: 'true or false' };
export const isText: OptionCheck = { accepts: (value) => typeof value === 'string' && value !== '', takes: 'a text that is not empty' };
export const isObject: OptionCheck = { accepts: (value) => typeof value === 'object' && value !== null && !Array.isArray(value), takes: 'an object' };

export const exactly = (...values: readonly unknown[]): OptionCheck => ({ accepts: (value) => values.includes(value), takes: values.map(show).join(' or ') });

export const objectWith = (...methods: readonly string[]): OptionCheck => ({
  accepts: (value) => isObject.accepts(value) && methods.every((name) => typeof (value as Record<string, unknown>)[name] === 'function'),
  takes: `an object with ${methods.map((name) => `${name}()`).join(' and ')}`,
});

export const either = (...checks: readonly OptionCheck[]): OptionCheck => ({
  accepts: (value) => checks.some(({ accepts }) => accepts(value)),
  takes: checks.map(({ takes }) => takes).join(' or '),
});

/**
 * Refuses options that something does not know, and values that they do not take.
 *
 * @throws TurnError `invalid-option` that names the option, its value and what it takes
 */
export const checkOptions = (owner: string, options: object, checks: Readonly<Record<string, OptionCheck>>): void => {
  if (!isObject.accepts(options)) throw new TurnError('invalid-option', `${owner} takes an object of options; it was given ${show(options)}.`);
  for (const [name, value] of Object.entries(options) as [string, unknown][]) {
    const check = Object.hasOwn(checks, name) ? checks[name] : undefined;
    if (check === undefined) throw new TurnError('invalid-option', `${owner} has no option ${show(name)}; it knows ${Object.keys(checks).join(', ')}.`);
    if (value !== undefined && !check.accepts(value)) {
      throw new TurnError('invalid-option', `${owner} takes ${check.takes} as ${show(name)}; it was given ${show(value)}.`);
    }
  }
};

const show = (value: unknown): string => {
  if (typeof value === 'number' || value === undefined) return String(value);
  if (typeof value === 'function') return 'a function';
  try {
    return JSON.stringify(value) ?? typeof value;
  } catch {
    return 'something that is no JSON';
  }
};
