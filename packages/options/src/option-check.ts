/**
 * A check of one option.
 *
 * Any object with `expected` and `accepts` is a check like those of this package.
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
  /** The accepted values, as a noun phrase that follows "must be": `an integer from 1`. */
  readonly expected: string;
  readonly accepts: (value: unknown) => boolean;
  /** Where the fault lies within a value that is not accepted. Without it the value is wrong as a whole. */
  readonly faultIn?: ((value: unknown) => PartFault | undefined) | undefined;
  /** Whether leaving it out is a fault, see `required`. */
  readonly isRequired?: boolean | undefined;
  /** Whether its value is never shown, see `secret`. */
  readonly isSecret?: boolean | undefined;
}

/** What is wrong with a part of an option. */
export type PartFault = {
  /** Where it lies in the option, such as `[0].model`; empty when it is the option as a whole. */
  readonly path: string;
  readonly value: unknown;
} & (
  | { readonly is: 'wrong'; readonly expected: string; readonly isSecret: boolean }
  | { readonly is: 'missing'; readonly expected: string }
  | { readonly is: 'unknown'; readonly name: string; readonly known: readonly string[] }
);

/** The first thing that a check finds wrong. */
export const faultOf = (value: unknown, check: OptionCheck): PartFault | undefined =>
  check.accepts(value) ? undefined : (check.faultIn?.(value) ?? wrong(value, check));

export const wrong = (value: unknown, { expected, isSecret = false }: OptionCheck): PartFault => ({
  is: 'wrong',
  path: '',
  value,
  expected,
  isSecret,
});
