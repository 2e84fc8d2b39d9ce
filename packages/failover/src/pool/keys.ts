import { toErrorInfo, TurnError } from '@h/turn';
import pTimeout from 'p-timeout';
import type { CredentialProfile, IssuedKey } from './profile.js';

/** An issued key is renewed when it expires within this time. */
const marginMs = 60_000;
/** Shorter keys are not redacted: they would match ordinary words. */
const leastSecret = 8;

/** Resolves the keys of profiles and redacts them from texts. Keys live in closures, where nothing prints them. */
export interface Keys {
  get(profile: CredentialProfile): Promise<string>;
  /** Forgets an issued key. @returns whether there was one, so that another can be requested */
  forget(profile: CredentialProfile): boolean;
  redact(text: string): string;
}

/** What {@link createKeys} needs from the pool. */
export interface KeysOptions {
  readonly profiles: readonly CredentialProfile[];
  /** Environment variables. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The longest time that a function may take to return a key, in milliseconds. */
  readonly keyTimeoutMs: number;
  readonly now: () => number;
}

export const createKeys = ({ profiles, env, keyTimeoutMs, now }: KeysOptions): Keys => {
  const issued = new Map<string, IssuedKey>();
  const asking = new Map<string, Promise<string>>();
  /** The last two keys of each profile, for redaction. */
  const seen = new Map<string, readonly string[]>();

  const redact = (text: string): string => {
    let safe = text;
    for (const keys of seen.values()) for (const key of keys) safe = safe.replaceAll(key, '[redacted]');
    return safe;
  };

  /** A key of a file or a shell may end with a line break, which HTTP clients do not send and providers do not quote. */
  const note = ({ id }: CredentialProfile, given: string): string => {
    const key = given.trim();
    const known = seen.get(id) ?? [];
    if (key.length >= leastSecret && !known.includes(key)) seen.set(id, [...known.slice(-1), key]);
    return key;
  };

  const ask = async (profile: CredentialProfile): Promise<string> => {
    const { id, key: source } = profile;
    const given: unknown =
      typeof source === 'function'
        ? await pTimeout((async () => source())(), {
            milliseconds: keyTimeoutMs,
            message: unavailable(id, `its function did not settle within ${keyTimeoutMs} ms.`),
          })
        : typeof source === 'object'
          ? env[source.env]
          : source;
    if (typeof given === 'string' && given.trim() !== '') return note(profile, given);
    if (isIssued(given)) {
      const key = note(profile, given.key);
      issued.set(id, { ...given, key });
      return key;
    }
    const where = typeof source === 'object' ? `the variable ${source.env} is not set` : 'its function returned none';
    throw unavailable(id, `${where}.`);
  };

  const get = async (profile: CredentialProfile): Promise<string> => {
    const { id } = profile;
    const known = issued.get(id);
    if (known !== undefined && now() < known.expiresAt - marginMs) return known.key;
    const open = asking.get(id) ?? ask(profile).finally(() => asking.delete(id));
    if (typeof profile.key === 'function') asking.set(id, open);
    try {
      return await open;
    } catch (error) {
      if (error instanceof TurnError) throw error;
      // Not as a cause: errors of a vault client may contain secrets besides the message.
      throw unavailable(id, redact(toErrorInfo(error).message));
    }
  };

  for (const profile of profiles) if (typeof profile.key === 'string') note(profile, profile.key);
  return { get, forget: ({ id }) => issued.delete(id), redact };
};

const unavailable = (id: string, reason: string): TurnError =>
  new TurnError('credential-unavailable', `The credential ${JSON.stringify(id)} has no key: ${reason}`);

const isIssued = (value: unknown): value is IssuedKey => {
  const { key, expiresAt } = (value ?? {}) as Partial<IssuedKey>;
  return typeof key === 'string' && key !== '' && typeof expiresAt === 'number';
};
