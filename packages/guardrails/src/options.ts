import { TurnError } from '@h/turn';

/** Options of {@link guardrails}. */
export interface GuardrailsOptions {
  /**
   * How many steps a turn may make: model calls, each with the tool calls it asks for. A step that is asked again after
   * an error is still one step. `0` lets none begin, `Infinity` sets no limit.
   *
   * @defaultValue `50`, two to five times what a coding agent needs for one ordinary request
   */
  readonly maxSteps?: number | undefined;
}

/**
 * The options with their defaults.
 *
 * @throws TurnError `invalid-option` that names the option, its value and what it takes
 */
export const checkedOptions = (options: GuardrailsOptions): { readonly maxSteps: number } => {
  if (typeof options !== 'object' || options === null) {
    throw new TurnError('invalid-option', `guardrails() takes an object of options; it was given ${show(options)}.`);
  }
  const unknown = Object.keys(options).find((name) => name !== 'maxSteps');
  if (unknown !== undefined) {
    throw new TurnError('invalid-option', `guardrails() has no option ${show(unknown)}; it knows "maxSteps".`);
  }
  const { maxSteps = 50 } = options;
  if (maxSteps !== Infinity && !(Number.isSafeInteger(maxSteps) && maxSteps >= 0)) {
    throw new TurnError('invalid-option', `guardrails() takes a whole number from 0 or Infinity as "maxSteps"; it was given ${show(maxSteps)}.`);
  }
  return { maxSteps };
};

const show = (value: unknown): string => (typeof value === 'number' ? String(value) : (JSON.stringify(value) ?? typeof value));
