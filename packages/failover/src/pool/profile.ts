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

/** A key that is good for a while. */
export interface IssuedKey {
  readonly key: string;
  /** Until when, as milliseconds since 1970. */
  readonly expiresAt: number;
}

/** Where a key comes from: itself, a variable of the environment, or a function that is asked for it. */
export type KeySource = string | { readonly env: string } | (() => MaybePromise<string | IssuedKey>);

/** A credential: who it is for, and where its key is found. */
export interface CredentialProfile {
  /** Names it in events and logs. Never the key. */
  readonly id: string;
  /** The part of a model's name before the first slash. */
  readonly provider: string;
  /**
   * The key, `{ env }` for a variable of the environment, or a function. What a function gives with an expiry is kept until
   * shortly before it, or until the provider refuses it; else the function is called for every model call.
   */
  readonly key: KeySource;
}

const aLine = {
  expected: 'a string of one line',
  accepts: (value: unknown) => nonEmptyString.accepts(value) && !String(value).includes('\n'),
};

/** What a profile has to be. A key is never shown. */
export const aProfile = objectOf({
  id: required(aLine),
  provider: required(nonEmptyString),
  key: required(
    anyOf(secret(nonEmptyString), anyFunction, { ...objectOf({ env: required(nonEmptyString) }), expected: '{ env }' }),
  ),
});

/** @throws InvalidOptionError `invalid-option` where two profiles have the same id */
export const checkIds = (profiles: readonly CredentialProfile[]): void => {
  const ids = new Set<string>();
  for (const [index, { id }] of profiles.entries()) {
    if (ids.has(id)) {
      const option = `profiles[${index}].id`;
      const message = `createCredentialPool() takes an id of its own for each profile as "${option}"; another profile has ${showValue(id)}.`;
      throw new InvalidOptionError({ owner: 'createCredentialPool()', option, message });
    }
    ids.add(id);
  }
};
