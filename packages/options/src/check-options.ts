import { CodedError } from './coded-error.js';
import { nearestName } from './nearest-name.js';
import { faultOf, type OptionCheck, type PartFault } from './option-check.js';
import { faultAmong } from './parts.js';
import { showKind, showValue } from './show-value.js';
import { anyRecord } from './values.js';

/** A check for every option of a type; an option without a check does not compile. */
export type OptionChecks<Options = Readonly<Record<string, unknown>>> = {
  readonly [Name in keyof Options]-?: OptionCheck;
};

/** Describes an invalid option. */
export interface OptionFault {
  /** The owner of the options, such as `guardrails()`. */
  readonly owner: string;
  /** The path of the option, such as `models[0].settings`; empty if the options are invalid as a whole. */
  readonly option: string;
  /** A sentence for people: the owner, the option, the received value and the accepted values. */
  readonly message: string;
}

/** Thrown if an option is unknown, is missing or has an invalid value. `code` is `invalid-option`. */
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
 * Rejects options that are unknown, are missing or have an invalid value.
 *
 * `undefined` counts as omitted. The message shows the start of a value, and never a value that looks like a secret.
 *
 * @param owner - the function or class that accepts the options, as users write it: `guardrails()`
 * @param toError - creates the error to throw, for packages with their own error classes
 *
 * @throws InvalidOptionError `invalid-option`, or the error that `toError` returns
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
 * // InvalidOptionError: retry(): unknown option "atempts" (received 2). Did you mean "attempts"?
 * // Known options: attempts, wait.
 * ```
 */
export const checkOptions = <Options>(
  owner: string,
  options: Options,
  checks: OptionChecks<NoInfer<Options>>,
  toError: (fault: OptionFault) => Error = invalidOption,
): void => {
  if (!anyRecord.accepts(options)) {
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
 * Rejects an invalid value of an argument or of an item in a list.
 *
 * @param name - the name of the value in messages, such as `path` or `models[0]`
 * @throws InvalidOptionError `invalid-option`, or the error that `toError` returns
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
