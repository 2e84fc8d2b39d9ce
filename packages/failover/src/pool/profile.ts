import type { MaybePromise } from '@h/turn';
import {
  anyFunction,
  nonEmptyString,
  anyOf,
  InvalidOptionError,
  objectOf,
  required,
  secret,
  showValue,
} from '@h/options';

/** A key that expires. */
export interface IssuedKey {
  readonly key: string;
  /** When it expires, in milliseconds since 1970. */
  readonly expiresAt: number;
}

/** Where a key comes from: a literal, an environment variable, or a function. */
export type KeySource = string | { readonly env: string } | (() => MaybePromise<string | IssuedKey>);

/** A credential: its provider, and the source of its key. */
export interface CredentialProfile {
  /** Identifies it in events and logs. Never the key. */
  readonly id: string;
  /** The part of a model's name before the first slash. */
  readonly provider: string;
  /**
   * The key, `{ env }` for an environment variable, or a function. An issued key with an expiry is reused until shortly
   * before it expires or until the provider rejects it; otherwise the function is called for every model call.
   */
  readonly key: KeySource;
}

const aLine = {
  expected: 'a string of one line',
  accepts: (value: unknown) => nonEmptyString.accepts(value) && !String(value).includes('\n'),
};

/** The check of a profile. Keys never appear in its messages. */
export const aProfile = objectOf({
  id: required(aLine),
  provider: required(nonEmptyString),
  key: required(
    anyOf(secret(nonEmptyString), anyFunction, { ...objectOf({ env: required(nonEmptyString) }), expected: '{ env }' }),
  ),
});

/** @throws InvalidOptionError `invalid-option` if two profiles have the same id */
export const checkIds = (profiles: readonly CredentialProfile[]): void => {
  const ids = new Set<string>();
  for (const [index, { id }] of profiles.entries()) {
    if (ids.has(id)) {
      const option = `profiles[${index}].id`;
      const message = `createCredentialPool(): "${option}" must be unique; another profile also has the id ${showValue(id)}.`;
      throw new InvalidOptionError({ owner: 'createCredentialPool()', option, message });
    }
    ids.add(id);
  }
};
