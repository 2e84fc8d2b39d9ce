import { SecurityOptionsError } from './errors.js';

/** What is expected of a value, in words, if it is not as expected. */
export type OptionRule = (value: unknown) => string | undefined;

const optional =
  (isRight: (value: unknown) => boolean, expected: string): OptionRule =>
  (value) =>
    value === undefined || isRight(value) ? undefined : expected;

export const isFunction = optional((value) => typeof value === 'function', 'a function');
export const isFlag = optional((value) => typeof value === 'boolean', 'true or false');
export const isText = optional((value) => typeof value === 'string', 'a text');
export const isTexts = optional((value) => Array.isArray(value) && value.every((item) => typeof item === 'string'), 'a list of texts');
export const isFalse = optional((value) => value === false, 'false');

export const oneOf = (...words: readonly string[]): OptionRule =>
  optional((value) => words.includes(value as string), words.map((word) => JSON.stringify(word)).join(', '));

export const someOf = (...words: readonly string[]): OptionRule =>
  optional(
    (value) => Array.isArray(value) && value.every((item) => words.includes(item as string)),
    `a list of ${words.map((word) => JSON.stringify(word)).join(', ')}`,
  );

/** An object that has these methods. */
export const withMethods = (...methods: readonly string[]): OptionRule =>
  optional(
    (value) => typeof value === 'object' && value !== null && methods.every((name) => typeof (value as Record<string, unknown>)[name] === 'function'),
    `an object with ${methods.join(', ')}`,
  );

export const either =
  (...rules: readonly OptionRule[]): OptionRule =>
  (value) => {
    const expected = rules.map((rule) => rule(value));
    return expected.includes(undefined) ? undefined : expected.join(', or ');
  };

/**
 * Refuses options that do not exist or make no sense: a guard with a misspelt option guards nothing.
 *
 * @throws SecurityOptionsError
 */
export const checkOptions = (factory: string, options: unknown, rules: Readonly<Record<string, OptionRule>>): void => {
  if (typeof options !== 'object' || options === null) {
    throw new SecurityOptionsError('options', `${factory} takes an object of options, not ${shown(options)}.`);
  }
  for (const [option, value] of Object.entries(options)) {
    const rule = Object.hasOwn(rules, option) ? rules[option] : undefined;
    if (rule === undefined) {
      throw new SecurityOptionsError(option, `${factory} has no option ${JSON.stringify(option)} (${shown(value)} was given); it has ${Object.keys(rules).join(', ')}.`);
    }
    const expected = rule(value);
    if (expected !== undefined) {
      throw new SecurityOptionsError(option, `${factory} takes as ${JSON.stringify(option)} ${expected}; it was given ${shown(value)}.`);
    }
  }
};

const maxShown = 80;

/** Short, because it may be a secret that was passed by mistake. */
const shown = (value: unknown): string => {
  if (typeof value === 'function') return 'a function';
  if (typeof value === 'string') return value.length > 24 ? `a text of ${value.length} characters` : JSON.stringify(value);
  try {
    return (JSON.stringify(value) ?? String(value)).slice(0, maxShown);
  } catch {
    return typeof value;
  }
};
