import { CodedError } from './coded-error.js';
import { nearestName } from './nearest-name.js';
import { faultOf, type OptionCheck, type PartFault } from './option-check.js';
import { faultAmong } from './parts.js';
import { showKind, showValue } from './show-value.js';
import { anyObject } from './values.js';

/** The checks of all options of a type, so that none is forgotten. */
export type OptionChecks<Options = Readonly<Record<string, unknown>>> = {
  readonly [Name in keyof Options]-?: OptionCheck;
};

/** What is wrong with options. */
export interface OptionFault {
  /** The owner of the options, such as `guardrails()`. */
  readonly owner: string;
  /** Which one it is, such as `models[0].settings`; empty when it is the options as a whole. */
  readonly option: string;
  /** For people: the owner, the option, the value and what is taken. */
  readonly message: string;
}

/** An option does not exist, is missing, or has a value that it does not take. */
export class InvalidOptionError extends CodedError {
  readonly owner: string;
  readonly option: string;

  constructor({ owner, option, message }: OptionFault, options?: ErrorOptions) {
    super('invalid-option', message, options);
    this.owner = owner;
    this.option = option;
  }
}

/**
 * Refuses options that do not exist, are missing, or have a value that they do not take: a misspelt limit is no limit.
 *
 * `undefined` counts as left out. Of a value the message shows a little, and nothing of what sounds like a secret.
 *
 * @param owner - whose options they are, as the user wrote it: `guardrails()`
 * @param toError - makes the error that is thrown, for packages with errors of their own
 *
 * @throws InvalidOptionError `invalid-option`, or what `toError` makes
 *
 * @example
 * ```ts
 * interface RetryOptions {
 *   readonly attempts?: number | undefined;
 *   readonly wait?: 'fixed' | ((attempt: number) => number) | undefined;
 * }
 *
 * const retry = (options: RetryOptions = {}) => {
 *   checkOptions('retry()', options, { attempts: integerFrom(1), wait: anyOf(oneOf('fixed'), anyFunction) });
 *   const { attempts = 3, wait = 'fixed' } = options;
 *   return { attempts, wait };
 * };
 *
 * retry({ atempts: 2 } as RetryOptions);
 * // InvalidOptionError: retry(): unknown option "atempts" (received 2). Did you mean "attempts"? Known options: attempts, wait.
 * ```
 */
export const checkOptions = <Options>(
  owner: string,
  options: Options,
  checks: OptionChecks<NoInfer<Options>>,
  toError: (fault: OptionFault) => Error = invalidOption,
): void => {
  if (!anyObject.accepts(options)) {
    throw toError({
      owner,
      option: '',
      message: `${owner}: options must be an object; received ${showValue(options)}.`,
    });
  }
  const fault = faultAmong(options as object, checks);
  if (fault !== undefined) throw toError(explain(owner, fault));
};

/**
 * Refuses a value that is missing, or not what is taken: an argument, an item of a list.
 *
 * @param name - what the value is called, such as `path` or `models[0]`
 * @throws InvalidOptionError `invalid-option`, or what `toError` makes
 *
 * @example
 * ```ts
 * declare const path: unknown;
 * checkValue('fileStore()', 'path', path, nonEmptyString);
 * ```
 */
export const checkValue = (
  owner: string,
  name: string,
  value: unknown,
  check: OptionCheck,
  toError: (fault: OptionFault) => Error = invalidOption,
): void => {
  const fault = faultOf(value, check);
  if (fault !== undefined) throw toError(explain(owner, { ...fault, path: `.${name}${fault.path}` }));
};

const invalidOption = (fault: OptionFault): Error => new InvalidOptionError(fault);

const explain = (owner: string, fault: PartFault): OptionFault => {
  const option = fault.path.replace(/^\./u, '');
  return { owner, option, message: `${owner}: ${problemOf(fault, JSON.stringify(option))}` };
};

const problemOf = (fault: PartFault, option: string): string => {
  if (fault.is === 'missing') return `${option} is required; it must be ${fault.expected}.`;
  const received = fault.is === 'wrong' && fault.isSecret ? showKind(fault.value) : showValue(fault.value, option);
  if (fault.is === 'wrong') return `${option} must be ${fault.expected}; received ${received}.`;
  const near = nearestName(fault.name, fault.known);
  const hint = near === undefined ? '' : ` Did you mean ${JSON.stringify(near)}?`;
  return `unknown option ${option} (received ${received}).${hint} Known options: ${fault.known.join(', ')}.`;
};
