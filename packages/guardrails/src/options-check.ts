import { TurnError } from '@h/turn';
import { limitNames, type Allowance, type LimitName } from './limits.js';

/** What an option takes: a check, and words for it. */
export interface OptionCheck {
  readonly accepts: (value: unknown) => boolean;
  readonly takes: string;
}

/** Checks of options, by name. */
export type OptionChecks = Readonly<Record<string, OptionCheck>>;

const isWhole = (value: unknown): boolean => value === Infinity || (Number.isSafeInteger(value) && (value as number) >= 0);

export const wholeOrInfinity: OptionCheck = { accepts: isWhole, takes: 'a whole number from 0 or Infinity' };

export const whole: OptionCheck = { accepts: (value) => isWhole(value) && value !== Infinity, takes: 'a whole number from 0' };

export const numberFrom = (least: number, most = Infinity): OptionCheck => ({
  accepts: (value) => typeof value === 'number' && value >= least && value <= most,
  takes: most === Infinity ? `a number from ${least} or Infinity` : `a number from ${least} to ${most}`,
});

export const isFunction: OptionCheck = { accepts: (value) => typeof value === 'function', takes: 'a function' };

export const isText: OptionCheck = { accepts: (value) => typeof value === 'string' && value !== '', takes: 'a text' };

export const listOfTexts: OptionCheck = {
  accepts: (value) => Array.isArray(value) && value.every((item) => typeof item === 'string'),
  takes: 'a list of texts',
};

export const isAnything: OptionCheck = { accepts: () => true, takes: 'anything' };

export const oneOf = (...values: readonly unknown[]): OptionCheck => ({
  accepts: (value) => values.includes(value),
  takes: values.map(show).join(' or '),
});

export const isObject: OptionCheck = { accepts: isPlainObject, takes: 'an object' };

export const either = (...checks: readonly OptionCheck[]): OptionCheck => ({
  accepts: (value) => checks.some(({ accepts }) => accepts(value)),
  takes: checks.map(({ takes }) => takes).join(' or '),
});

/**
 * Refuses options that a function does not know, and values that they do not take.
 *
 * @throws TurnError `invalid-option` that names the option, its value and what it takes
 */
export const checkOptions = (owner: string, options: unknown, checks: OptionChecks): void => {
  if (!isPlainObject(options)) throw invalid(`${owner} takes an object of options; it was given ${show(options)}.`);
  for (const [name, value] of Object.entries(options) as [string, unknown][]) {
    const check = Object.hasOwn(checks, name) ? checks[name] : undefined;
    if (check === undefined) throw invalid(`${owner} has no option ${show(name)}; it knows ${Object.keys(checks).map(show).join(', ')}.`);
    if (value !== undefined && !check.accepts(value)) throw invalid(`${owner} takes ${check.takes} as ${show(name)}; it was given ${show(value)}.`);
  }
};

const amounts = new Set<LimitName>(['maxCost', 'maxDurationMs']);

const allowanceChecks: OptionChecks = {
  ...Object.fromEntries(limitNames.map((name) => [name, amounts.has(name) ? numberFrom(0) : wholeOrInfinity])),
  extension: isObject,
};

const extendable: readonly string[] = limitNames.filter((name) => name !== 'maxConsecutiveExceptions');

const extensionChecks: OptionChecks = {
  perCompletion: { accepts: (value) => typeof value === 'number' && value >= 0 && value < Infinity, takes: 'a number from 0' },
  limits: {
    accepts: (value) => Array.isArray(value) && value.every((name) => extendable.includes(name as string)),
    takes: `a list of ${extendable.join(', ')}`,
  },
  maxFactor: { accepts: (value) => typeof value === 'number' && value >= 1 && value < Infinity, takes: 'a number from 1' },
};

/** Refuses limits and extensions that make no sense, and options besides them that are not known. */
export const checkAllowance = (owner: string, options: Allowance, others: OptionChecks = {}, defaultMaxSteps = Infinity): void => {
  checkOptions(owner, options, { ...allowanceChecks, ...others });
  const { extension, maxSteps = defaultMaxSteps } = options;
  if (extension === undefined) return;
  checkOptions(`"extension" of ${owner}`, extension, extensionChecks);
  for (const name of ['perCompletion', 'limits'] as const) {
    if (extension[name] === undefined) throw invalid(`"extension" of ${owner} needs ${show(name)}, ${extensionChecks[name]?.takes}.`);
  }
  const inProportion = extension.limits.find((name) => !counted.has(name) && (options[name] ?? Infinity) !== Infinity);
  if (inProportion === undefined || extension.perCompletion === 0) return;
  if (maxSteps === Infinity || maxSteps === 0) {
    throw invalid(`"extension" of ${owner} raises ${show(inProportion)} in proportion to "maxSteps"; give it a limit above 0, or leave ${show(inProportion)} out.`);
  }
};

const counted = new Set<LimitName>(['maxSteps', 'maxToolCalls', 'maxExceptions']);

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
