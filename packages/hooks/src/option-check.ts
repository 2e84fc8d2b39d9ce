import { TurnError } from '@h/turn';

/** What an option takes: a check, and words for it. */
export interface OptionCheck {
  readonly accepts: (value: unknown) => boolean;
  readonly takes: string;
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const aNumberFrom = (least: number): OptionCheck => ({
  accepts: (value) => typeof value === 'number' && value >= least,
  takes: `a number from ${least}`,
});

export const aWholeNumberFrom = (least: number): OptionCheck => ({
  accepts: (value) => value === Infinity || (Number.isSafeInteger(value) && (value as number) >= least),
  takes: `a whole number from ${least}, or Infinity`,
});

export const aFunction: OptionCheck = { accepts: (value) => typeof value === 'function', takes: 'a function' };

export const aText: OptionCheck = { accepts: (value) => typeof value === 'string' && value !== '', takes: 'a text' };

export const aFlag: OptionCheck = { accepts: (value) => typeof value === 'boolean', takes: 'true or false' };

export const anObject: OptionCheck = { accepts: isObject, takes: 'an object' };

export const oneOf = (...values: readonly unknown[]): OptionCheck => ({
  accepts: (value) => values.includes(value),
  takes: values.map(show).join(' or '),
});

export const either = (...checks: readonly OptionCheck[]): OptionCheck => ({
  accepts: (value) => checks.some(({ accepts }) => accepts(value)),
  takes: checks.map(({ takes }) => takes).join(' or '),
});

export const listOf = ({ accepts, takes }: OptionCheck): OptionCheck => ({
  accepts: (value) => Array.isArray(value) && value.every((item) => accepts(item)),
  takes: `a list of which each is ${takes}`,
});

export const objectWith = (...methods: readonly string[]): OptionCheck => ({
  accepts: (value) => isObject(value) && methods.every((name) => typeof value[name] === 'function'),
  takes: `an object with ${methods.map((name) => `${name}()`).join(' and ')}`,
});

/** An object that has only these keys, each of which takes what it takes. */
export const objectOf = (checks: Readonly<Record<string, OptionCheck>>): OptionCheck => ({
  accepts: (value) => isObject(value) && Object.entries(value).every(([key, item]) => item === undefined || (Object.hasOwn(checks, key) && checks[key]?.accepts(item))),
  takes: `an object with ${Object.keys(checks).join(', ')}`,
});

/**
 * Refuses options that do not exist, and values that they do not take: a misspelt rule is no rule.
 *
 * @throws TurnError `invalid-option` that names the option, its value and what it takes
 */
export const checkOptions = (
  owner: string,
  options: unknown,
  checks: Readonly<Record<string, OptionCheck>>,
  required: readonly string[] = [],
): void => {
  if (!isObject(options)) throw new TurnError('invalid-option', `${owner} takes an object; it was given ${show(options)}.`);
  for (const name of required) {
    if (options[name] === undefined) throw new TurnError('invalid-option', `${owner} needs ${show(name)}: ${checks[name]?.takes ?? ''}.`);
  }
  for (const [name, value] of Object.entries(options)) {
    const check = Object.hasOwn(checks, name) ? checks[name] : undefined;
    if (check === undefined) {
      throw new TurnError('invalid-option', `${owner} has no ${show(name)} (it was given ${show(value)}); it knows ${Object.keys(checks).join(', ')}.`);
    }
    if (value !== undefined && !check.accepts(value)) {
      throw new TurnError('invalid-option', `${owner} takes ${check.takes} as ${show(name)}; it was given ${show(value)}.`);
    }
  }
};

/** A value for people, short. */
export const show = (value: unknown): string => {
  if (typeof value === 'function') return 'a function';
  if (typeof value === 'object' && value !== null) return shorten(safeJson(value) ?? 'something that is no JSON');
  return typeof value === 'string' ? shorten(JSON.stringify(value)) : String(value);
};

const shorten = (text: string): string => (text.length > 200 ? `${text.slice(0, 200)}…` : text);

const safeJson = (value: object): string | undefined => {
  try {
    return JSON.stringify(value);
  } catch {
    return undefined;
  }
};
