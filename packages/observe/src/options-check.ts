import { TurnError } from '@h/turn';

/** What an option takes: a check, and words for it. */
export interface OptionCheck {
  readonly accepts: (value: unknown) => boolean;
  readonly takes: string;
}

export const aFunction: OptionCheck = { accepts: (value) => typeof value === 'function', takes: 'a function' };

export const aBoolean: OptionCheck = { accepts: (value) => typeof value === 'boolean', takes: 'true or false' };

export const aText: OptionCheck = { accepts: (value) => typeof value === 'string' && value !== '', takes: 'a text' };

export const anObject: OptionCheck = {
  accepts: (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
  takes: 'an object',
};

export const anObjectWith = (...methods: readonly string[]): OptionCheck => ({
  accepts: (value) => anObject.accepts(value) && methods.every((name) => typeof (value as Record<string, unknown>)[name] === 'function'),
  takes: `an object with ${methods.map((name) => `${name}()`).join(' and ')}`,
});

/** `Infinity` is a number here, and `NaN` is none. */
export const aNumberFrom = (least: number): OptionCheck => ({
  accepts: (value) => typeof value === 'number' && value >= least,
  takes: `a number from ${least}`,
});

export const aWholeNumberFrom = (least: number): OptionCheck => ({
  accepts: (value) => value === Infinity || (Number.isSafeInteger(value) && (value as number) >= least),
  takes: `a whole number from ${least}, or Infinity`,
});

export const oneOf = (...values: readonly string[]): OptionCheck => ({
  accepts: (value) => values.includes(value as string),
  takes: values.map((value) => JSON.stringify(value)).join(' or '),
});

export const either = (...checks: readonly OptionCheck[]): OptionCheck => ({
  accepts: (value) => checks.some(({ accepts }) => accepts(value)),
  takes: checks.map(({ takes }) => takes).join(' or '),
});

export const listOf = ({ accepts, takes }: OptionCheck): OptionCheck => ({
  accepts: (value) => Array.isArray(value) && value.every((item) => accepts(item)),
  takes: `a list of which each is ${takes}`,
});

/** The checks of all options of a type, so that none is forgotten. */
export type OptionChecks<Options> = { readonly [Name in keyof Required<Options>]: OptionCheck };

/**
 * Refuses options that a function does not know, and values that they do not take.
 *
 * @throws TurnError `invalid-option` that names the option, its value and what it takes
 */
export const checkOptions = <Options extends object>(owner: string, options: Options, checks: OptionChecks<Options>): void => {
  if (!anObject.accepts(options)) {
    throw new TurnError('invalid-option', `${owner}() takes an object of options; it was given ${show(options)}.`);
  }
  for (const [name, value] of Object.entries(options) as [string, unknown][]) {
    const check = Object.hasOwn(checks, name) ? checks[name as keyof Options] : undefined;
    if (check === undefined) {
      throw new TurnError('invalid-option', `${owner}() has no option ${show(name)}; it knows ${Object.keys(checks).join(', ')}.`);
    }
    if (value !== undefined && !check.accepts(value)) {
      throw new TurnError('invalid-option', `${owner}() takes ${check.takes} as ${show(name)}; it was given ${show(value)}.`);
    }
  }
};

/** Refuses an argument that is not what it has to be. @throws TurnError `invalid-option` */
export const checkArgument = (owner: string, name: string, value: unknown, { accepts, takes }: OptionCheck): void => {
  if (!accepts(value)) throw new TurnError('invalid-option', `${owner}() takes ${takes} as ${name}; it was given ${show(value)}.`);
};

const show = (value: unknown): string => {
  if (typeof value === 'number' || typeof value === 'bigint' || value === undefined) return String(value);
  if (typeof value === 'function') return 'a function';
  try {
    return JSON.stringify(value) ?? typeof value;
  } catch {
    return 'something that is no JSON';
  }
};
