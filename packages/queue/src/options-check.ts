import { TurnError } from '@h/turn';

/** What an option takes: a check, and words for it. */
export interface OptionCheck {
  readonly accepts: (value: unknown) => boolean;
  readonly takes: string;
}

export const numberFrom = (least: number): OptionCheck => ({
  accepts: (value) => typeof value === 'number' && value >= least,
  takes: `a number from ${least} or Infinity`,
});

export const wholeFrom = (least: number): OptionCheck => ({
  accepts: (value) => value === Infinity || (Number.isSafeInteger(value) && (value as number) >= least),
  takes: `a whole number from ${least} or Infinity`,
});

export const isFunction: OptionCheck = { accepts: (value) => typeof value === 'function', takes: 'a function' };

export const isText: OptionCheck = { accepts: (value) => typeof value === 'string' && value !== '', takes: 'a text that is not empty' };

export const oneOf = (...values: readonly string[]): OptionCheck => ({
  accepts: (value) => values.includes(value as string),
  takes: values.map(show).join(' or '),
});

export const isObject: OptionCheck = { accepts: isPlainObject, takes: 'an object' };

export const isSignal: OptionCheck = { accepts: (value) => value instanceof AbortSignal, takes: 'an AbortSignal' };

export const textsByName: OptionCheck = {
  accepts: (value) => isPlainObject(value) && Object.values(value).every((item) => item === undefined || isText.accepts(item)),
  takes: 'an object of texts',
};

export const objectWith = (...methods: readonly string[]): OptionCheck => ({
  accepts: (value) => isPlainObject(value) && methods.every((name) => typeof (value as Record<string, unknown>)[name] === 'function'),
  takes: `an object with ${methods.map((name) => `${name}()`).join(' and ')}`,
});

/**
 * Refuses options that a function does not know, and values that they do not take.
 *
 * @throws TurnError `invalid-option` that names the option, its value and what it takes
 */
export const checkOptions = (owner: string, options: unknown, checks: Readonly<Record<string, OptionCheck>>): void => {
  if (!isPlainObject(options)) throw invalid(`${owner} takes an object of options; it was given ${show(options)}.`);
  for (const name of Object.keys(options)) {
    const value = (options as Record<string, unknown>)[name];
    const check = Object.hasOwn(checks, name) ? checks[name] : undefined;
    if (check === undefined) throw invalid(`${owner} has no option ${show(name)}; it knows ${Object.keys(checks).join(', ')}.`);
    if (value !== undefined) checkValue(owner, name, value, check);
  }
};

/** Refuses a value that is missing, or not what is taken. */
export const checkValue = (owner: string, name: string, value: unknown, check: OptionCheck): void => {
  if (!check.accepts(value)) throw invalid(`${owner} takes ${check.takes} as ${show(name)}; it was given ${show(value)}.`);
};

export const invalid = (message: string): TurnError => new TurnError('invalid-option', message);

function isPlainObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function show(value: unknown): string {
  if (typeof value === 'number' || typeof value === 'bigint' || value === undefined) return String(value);
  if (typeof value === 'function') return 'a function';
  try {
    return JSON.stringify(value) ?? typeof value;
  } catch {
    return 'something that is no JSON';
  }
}
