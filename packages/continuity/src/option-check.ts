import { ContinuityError } from './errors.js';

/** What an option takes: a check, and words for it. */
export interface OptionCheck {
  readonly accepts: (value: unknown) => boolean;
  readonly takes: string;
  readonly isRequired?: boolean;
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> => typeof value === 'object' && value !== null && !Array.isArray(value);

export const aText: OptionCheck = { accepts: (value) => typeof value === 'string' && value !== '', takes: 'a text' };
export const aFlag: OptionCheck = { accepts: (value) => typeof value === 'boolean', takes: 'true or false' };
export const aFunction: OptionCheck = { accepts: (value) => typeof value === 'function', takes: 'a function' };
export const aWholeNumberFrom = (least: number): OptionCheck => ({
  accepts: (value) => Number.isSafeInteger(value) && (value as number) >= least,
  takes: `a whole number from ${least}`,
});
export const aShareFrom = (least: number, most: number): OptionCheck => ({
  accepts: (value) => typeof value === 'number' && value >= least && value <= most,
  takes: `a number from ${least} to ${most}`,
});
export const anObjectWith = (...members: readonly string[]): OptionCheck => ({
  accepts: (value) => isObject(value) && members.every((name) => value[name] !== undefined),
  takes: `an object with ${members.join(', ')}`,
});
export const either = (...checks: readonly OptionCheck[]): OptionCheck => ({
  accepts: (value) => checks.some(({ accepts }) => accepts(value)),
  takes: checks.map(({ takes }) => takes).join(' or '),
});
export const oneOf = (...values: readonly unknown[]): OptionCheck => ({
  accepts: (value) => values.includes(value),
  takes: values.map((value) => show(value)).join(' or '),
});
export const required = (check: OptionCheck): OptionCheck => ({ ...check, isRequired: true });

/**
 * Refuses options that do not exist, are missing, or have values that they do not take.
 *
 * @throws ContinuityError `invalid-option`, which names the option, its value and what it takes
 */
export const checkOptions = (owner: string, options: unknown, checks: Readonly<Record<string, OptionCheck>>): void => {
  const refuse = (message: string): never => {
    throw new ContinuityError('invalid-option', message);
  };
  if (!isObject(options)) return refuse(`${owner} takes an object; it was given ${show(options)}.`);
  for (const [name, { isRequired, takes }] of Object.entries(checks)) {
    if (isRequired === true && options[name] === undefined) refuse(`${owner} needs "${name}": ${takes}.`);
  }
  for (const [name, value] of Object.entries(options)) {
    const check = Object.hasOwn(checks, name) ? checks[name] : undefined;
    if (check === undefined) return refuse(`${owner} has no option "${name}" (it was given ${show(value)}); it knows ${Object.keys(checks).join(', ')}.`);
    if (value !== undefined && !check.accepts(value)) refuse(`${owner} takes ${check.takes} as "${name}"; it was given ${show(value)}.`);
  }
};

const show = (value: unknown): string => {
  if (typeof value === 'function') return 'a function';
  try {
    return (JSON.stringify(value) ?? String(value)).slice(0, 200);
  } catch {
    return 'something that is no JSON';
  }
};
