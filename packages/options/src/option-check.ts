/**
 * Checks one option.
 *
 * Any object with `expected` and `accepts` is a valid check.
 *
 * @example
 * ```ts
 * const anAbsolutePath: OptionCheck = {
 *   expected: 'an absolute path',
 *   accepts: (value) => typeof value === 'string' && value.startsWith('/'),
 * };
 * ```
 */
export interface OptionCheck {
  /** The accepted values, as a noun phrase that completes "must be …": `an integer from 1`. */
  readonly expected: string;
  readonly accepts: (value: unknown) => boolean;
  /** Finds the invalid part of a rejected value. Without it, the value is reported as a whole. */
  readonly faultIn?: ((value: unknown) => PartFault | undefined) | undefined;
  /** Whether the option must be present; see `required`. */
  readonly isRequired?: boolean | undefined;
  /** Whether messages hide the value; see `secret`. */
  readonly isSecret?: boolean | undefined;
}

/** Describes the invalid part of an option. */
export type PartFault = {
  /** The path inside the option, such as `[0].model`; empty if the option is invalid as a whole. */
  readonly path: string;
  readonly value: unknown;
} & (
  | { readonly is: 'wrong'; readonly expected: string; readonly isSecret: boolean }
  | { readonly is: 'missing'; readonly expected: string }
  | { readonly is: 'unknown'; readonly name: string; readonly known: readonly string[] }
);

/** Returns the first fault that the check finds, or `undefined` if it accepts the value. */
export const faultOf = (value: unknown, check: OptionCheck): PartFault | undefined =>
  check.accepts(value) ? undefined : (check.faultIn?.(value) ?? wrong(value, check));

export const wrong = (value: unknown, { expected, isSecret = false }: OptionCheck): PartFault => ({
  is: 'wrong',
  path: '',
  value,
  expected,
  isSecret,
});
