import { TurnError, type MaybePromise } from '@h/turn';
import { checkOptions, either, isFunction, isObject, isText, show } from '../options-check.js';

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

const isLine = { accepts: (value: unknown) => isText.accepts(value) && !String(value).includes('\n'), takes: 'a text of one line' };

/** @throws TurnError `invalid-option` that names what is wrong, and never shows a key */
export const checkProfiles = (profiles: readonly CredentialProfile[]): void => {
  const ids = new Set<string>();
  for (const [index, profile] of profiles.entries()) {
    const place = `createCredentialPool(): profiles[${index}]`;
    checkOptions(place, profile, { id: isLine, provider: isText, key: either(isText, isFunction, { ...isObject, takes: '{ env }' }) }, ['key']);
    for (const name of ['id', 'provider', 'key'] as const) {
      if (profile[name] === undefined) throw new TurnError('invalid-option', `${place} has no ${show(name)}.`);
    }
    if (typeof profile.key === 'object') checkOptions(`${place}.key`, profile.key, { env: isText });
    if (ids.has(profile.id)) throw new TurnError('invalid-option', `${place} has the id ${show(profile.id)}, which another profile has; give each its own.`);
    ids.add(profile.id);
  }
};
