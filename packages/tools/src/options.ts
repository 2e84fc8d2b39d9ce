import { ToolConfigurationError } from './errors.js';

/** What an option may be, for {@link checkOptions}. */
export type OptionRule = (value: unknown) => string | undefined;

/** At least so much; `undefined` passes. */
export const numberFrom = (minimum: number, unit: string): OptionRule => (value) =>
  value === undefined || (typeof value === 'number' && value >= minimum) ? undefined : `has to be a number of ${unit} from ${minimum} on`;

/** A whole number of at least so much; `undefined` passes. */
export const wholeFrom = (minimum: number, unit: string): OptionRule => (value) =>
  value === undefined || (Number.isSafeInteger(value) && (value as number) >= minimum)
    ? undefined
    : `has to be a whole number of ${unit} from ${minimum} on`;

/** A list of texts; `undefined` passes. */
export const listOfNames: OptionRule = (value) =>
  value === undefined || (Array.isArray(value) && value.every((item) => typeof item === 'string')) ? undefined : 'has to be a list of names';

/** `true` or `false`; `undefined` passes. */
export const flag: OptionRule = (value) => (value === undefined || typeof value === 'boolean' ? undefined : 'has to be true or false');

/** A function; `undefined` passes. */
export const callback: OptionRule = (value) => (value === undefined || typeof value === 'function' ? undefined : 'has to be a function');

/** Any of these kinds. */
export const either =
  (...rules: readonly OptionRule[]): OptionRule =>
  (value) => {
    const complaints = rules.map((rule) => rule(value));
    return complaints.includes(undefined) ? undefined : complaints.join(', or ');
  };

/** Anything; its type is all that can be told of it. */
export const anything: OptionRule = () => undefined;

/**
 * Refuses options that do not exist or have no sense, because a misspelt limit is no limit.
 *
 * @throws ToolConfigurationError which names the option and its value.
 */
export const checkOptions = (factory: string, options: object, rules: Readonly<Record<string, OptionRule>>): void => {
  if (typeof options !== 'object' || options === null) {
    throw new ToolConfigurationError('options', `${factory} takes an object of options, not ${shown(options)}.`);
  }
  for (const [option, value] of Object.entries(options)) {
    const rule = Object.hasOwn(rules, option) ? rules[option] : undefined;
    if (rule === undefined) {
      throw new ToolConfigurationError(option, `${factory} has no option ${JSON.stringify(option)}; it has ${Object.keys(rules).join(', ')}.`);
    }
    const complaint = rule(value);
    if (complaint !== undefined) throw new ToolConfigurationError(option, `The option ${option} of ${factory} is ${shown(value)}; it ${complaint}.`);
  }
};

const shown = (value: unknown): string => (typeof value === 'function' ? 'a function' : typeof value === 'number' ? String(value) : (JSON.stringify(value) ?? String(value)));
