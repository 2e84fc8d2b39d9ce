import type { ErrorClass, ErrorReason, FailureScope } from '@h/provider-errors';
import { reasonActions, type CooldownTime } from '../reason-actions.js';
import { TurnError } from '@h/turn';
import {
  anyFunction,
  anyObject,
  checkOptions,
  anyOf,
  arrayOf,
  numberFrom,
  objectOf,
  objectWithMethods,
  oneOf,
  required,
  showValue,
  maxTimerMs,
  type OptionCheck,
} from '@h/options';
import { Cooldowns } from './cooldowns.js';
import { createKeys } from './keys.js';
import { aProfile, checkIds, type CredentialProfile } from './profile.js';
import type { PoolStore } from './pool-store.js';
import { ProfilePicker, type CredentialLease, type CredentialRequest, type Unavailable } from './profile-picker.js';
import { isActive, readWindowKey, windowKey, type CooldownWindow } from './windows.js';

/** Options of {@link createCredentialPool}. */
export interface CredentialPoolOptions {
  /** The credentials, with their providers. */
  readonly profiles: readonly CredentialProfile[];
  /**
   * Persists cooldowns and shares them between processes; see `filePoolStore` of `@h/failover/file-store`.
   *
   * @defaultValue none: cooldowns are kept in memory
   */
  readonly store?: PoolStore | undefined;
  /**
   * The age at which the state of other processes is read again, before a request, in milliseconds.
   *
   * @defaultValue `1_000`, short beside the shortest cooldown
   */
  readonly refreshMs?: number | undefined;
  /**
   * The longest time that a request waits for the store, in milliseconds. After that the pool uses what it has in
   * memory, and `onStoreError` receives an error with the code `store-timeout`.
   *
   * @defaultValue `2_000`, several hundred times the duration of a write to a local disk
   */
  readonly storeTimeoutMs?: number | undefined;
  /**
   * The longest time that the function of a profile may take to return a key, in milliseconds. After that the call
   * fails with `credential-unavailable`, and the next call of the profile calls the function again.
   *
   * @defaultValue `60_000`, enough to refresh a token over a slow network
   */
  readonly keyTimeoutMs?: number | undefined;
  /** Cooldowns that replace those of the table, by reason. `false` disables the cooldown for that reason. */
  readonly cooldowns?: Readonly<Partial<Record<ErrorReason, CooldownTime | false>>> | undefined;
  /**
   * Environment variables.
   *
   * @defaultValue `process.env`
   */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /**
   * The time, in milliseconds since 1970. Pass the clock of the turns if they do not use the system clock.
   *
   * @defaultValue `Date.now`
   */
  readonly now?: (() => number) | undefined;
  /**
   * A number from 0 to 1, for the jitter of cooldowns: up to a tenth longer.
   *
   * @defaultValue `Math.random`
   */
  readonly random?: (() => number) | undefined;
  /** Receives errors of the store. The pool continues with what it has in memory, and writes it again later. */
  readonly onStoreError?: ((error: unknown) => void) | undefined;
}

/** A cooldown and what it applies to. */
export interface Cooldown extends CooldownWindow {
  readonly scope: Exclude<FailureScope, 'request'>;
}

/** The status of a profile. Never contains a key. */
export interface ProfileStatus {
  readonly id: string;
  readonly provider: string;
  /** Failures in active cooldowns. */
  readonly failures: number;
  /** Active cooldowns: of the profile, or of the profile with one model. */
  readonly cooldowns: readonly (CooldownWindow & { readonly model?: string | undefined })[];
}

/**
 * Credentials of several providers, and which of them may be used now.
 *
 * Keys live in closures: printed, serialized or inspected, a pool shows the status of its profiles only.
 */
export interface CredentialPool {
  /** Providers that it has profiles of. */
  readonly providers: readonly string[];
  /**
   * The key of a profile, for drivers.
   *
   * @throws TurnError `credential-unavailable`; the message contains no key
   */
  key(profile: string): Promise<string>;
  /**
   * Leases a profile for a model call: the one that the session had, else the least recently used of those with the
   * fewest failures. After a cooldown a single call at a time probes whether it works again.
   */
  acquire(request: CredentialRequest): CredentialLease | Unavailable;
  /** Records a successful call: ends the cooldowns before it. */
  succeeded(profile: string | undefined, model: string | undefined): void;
  /**
   * Records a failed call: starts the cooldown that the failure calls for.
   *
   * @returns the cooldown, if there is one; `'renewed'` if the profile has another key to try
   */
  failed(
    profile: string | undefined,
    model: string | undefined,
    error: ErrorClass,
    at?: number,
  ): Cooldown | 'renewed' | undefined;
  /** Ends the cooldowns of a profile, or of all. */
  reset(profile?: string): void;
  /** Reads what other processes have written, if there is a store and the last read is old enough. */
  refresh(): Promise<void> | undefined;
  /** Waits until the store has every change, or has failed to accept it. */
  flush(): Promise<void>;
  status(): readonly ProfileStatus[];
  /** Notifies the listener when a profile may have become available. @returns the function that unsubscribes */
  onChange(listener: () => void): () => void;
  /** Replaces every key that the pool has issued in a text. */
  redact(text: string): string;
  toJSON(): readonly ProfileStatus[];
}

/**
 * Creates a pool of credentials that turns, and with a store processes, share.
 *
 * @throws InvalidOptionError `invalid-option` for an unknown option, an invalid value, or an id that is used twice
 *
 * @example
 * ```ts
 * const pool = createCredentialPool({
 *   profiles: [
 *     { id: 'anthropic-1', provider: 'anthropic', key: { env: 'ANTHROPIC_API_KEY' } },
 *     { id: 'anthropic-2', provider: 'anthropic', key: () => vault.token('anthropic') },
 *   ],
 * });
 * ```
 */
export const createCredentialPool = (options: CredentialPoolOptions): CredentialPool => {
  check(options);
  const {
    profiles,
    store,
    refreshMs = 1_000,
    storeTimeoutMs = 2_000,
    keyTimeoutMs = 60_000,
    cooldowns: times = {},
    // Without Node there is no environment.
    env = (globalThis as Partial<Pick<typeof globalThis, 'process'>>).process?.env ?? {},
    // oxlint-disable-next-line h/no-clock -- the default clock, which callers may replace
    now = () => Date.now(),
    // oxlint-disable-next-line h/no-clock -- the default source of randomness, which callers may replace
    random = () => Math.random(),
    onStoreError,
  } = options;
  const byId = new Map(profiles.map((profile) => [profile.id, profile]));
  const keys = createKeys({ profiles, env, keyTimeoutMs, now });
  const listeners = new Set<() => void>();
  /** Profiles whose issued key was rejected, and that have received another one since. */
  const renewed = new Set<string>();
  const changed = (): void => {
    for (const listener of listeners) listener();
  };
  const cooldowns = new Cooldowns({ store, refreshMs, storeTimeoutMs, now, onStoreError }, changed);
  const picker = new ProfilePicker(profiles, cooldowns, now, changed);
  const profileOf = (id: string): CredentialProfile => {
    const found = byId.get(id);
    if (found === undefined) {
      throw new TurnError(
        'unknown-credential',
        `The pool has no credential ${showValue(id)}; it has ${[...byId.keys()].map((known) => showValue(known)).join(', ')}.`,
      );
    }
    return found;
  };

  const failed = (
    profile: string | undefined,
    model: string | undefined,
    { reason, scope: given, retryAfterMs }: ErrorClass,
    at = now(),
  ): Cooldown | 'renewed' | undefined => {
    const time = times[reason] ?? reasonActions[reason].cooldown;
    const known = profile === undefined ? undefined : byId.get(profile);
    // An issued key may be revoked before it expires: the next call gets another one, once.
    if (reason === 'auth' && known !== undefined && keys.forget(known) && !renewed.has(known.id)) {
      renewed.add(known.id);
      return 'renewed';
    }
    const scope = given === 'profile' && known === undefined ? 'model' : given;
    if (time === undefined || time === false || scope === 'request') return undefined;
    return {
      ...cooldowns.fail(windowKey(scope, profile, model), { reason, time, at, retryAfterMs, jitter: random() }),
      scope,
    };
  };

  const status = (): readonly ProfileStatus[] => {
    const at = now();
    const failures = picker.failures(at);
    const active = cooldowns.entries().filter(([, window]) => isActive(window, at));
    return profiles.map(({ id, provider }) => ({
      id,
      provider,
      failures: failures.get(id) ?? 0,
      cooldowns: active.flatMap(([key, window]) => {
        const [owner, model] = readWindowKey(key);
        return owner === id ? [{ ...window, ...(model !== undefined && { model }) }] : [];
      }),
    }));
  };

  return Object.freeze<CredentialPool>({
    providers: [...new Set(profiles.map(({ provider }) => provider))],
    key: async (id) => keys.get(profileOf(id)),
    acquire: (request) => picker.acquire(request),
    succeeded: (profile, model) => {
      if (renewed.size > 0 && profile !== undefined) renewed.delete(profile);
      if (!cooldowns.isEmpty) {
        cooldowns.succeed([
          windowKey('profile', profile, model),
          windowKey('model', profile, model),
          windowKey('service', profile, model),
        ]);
      }
    },
    failed,
    reset: (id) => {
      const only = id === undefined ? undefined : profileOf(id).id;
      cooldowns.clear((key) => only === undefined || readWindowKey(key)[0] === only);
    },
    refresh: () => cooldowns.refresh(),
    flush: () => cooldowns.flush(),
    status,
    onChange: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    redact: (text) => keys.redact(text),
    toJSON: status,
  });
};

const aTime = numberFrom(0, Infinity);
const aCooldown = {
  ...anyOf(
    oneOf(false),
    objectOf({ baseMs: required(aTime), factor: required(aTime), maxMs: required(aTime) } satisfies Record<
      keyof CooldownTime,
      OptionCheck
    >),
  ),
  expected: '{ baseMs, factor, maxMs } or false',
};

const check = (options: CredentialPoolOptions): void => {
  checkOptions('createCredentialPool()', options, {
    profiles: required(arrayOf(aProfile)),
    store: objectWithMethods('read', 'update'),
    refreshMs: numberFrom(0, Infinity),
    storeTimeoutMs: numberFrom(1, maxTimerMs),
    keyTimeoutMs: numberFrom(1, maxTimerMs),
    cooldowns: objectOf(Object.fromEntries(Object.keys(reasonActions).map((reason) => [reason, aCooldown]))),
    env: anyObject,
    now: anyFunction,
    random: anyFunction,
    onStoreError: anyFunction,
  });
  checkIds(options.profiles);
};
