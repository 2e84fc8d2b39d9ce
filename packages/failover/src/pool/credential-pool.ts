import type { ErrorClass, ErrorReason, FailureScope } from '@h/provider-errors';
import { reasonActions, type CooldownTime } from '../reasons.js';
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
  type OptionCheck,
} from '@h/options';
import { Cooldowns } from './cooldowns.js';
import { createKeys } from './keys.js';
import { aProfile, checkIds, type CredentialProfile } from './profile.js';
import type { PoolStore } from './pool-store.js';
import { ProfilePicker, type Lease, type LeaseRequest, type Unavailable } from './profile-picker.js';
import { isActive, type CooldownWindow } from './windows.js';
import { readWindowKey, windowKey } from './window-key.js';

/** Options of {@link createCredentialPool}. */
export interface CredentialPoolOptions {
  readonly profiles: readonly CredentialProfile[];
  /**
   * Keeps cooldowns beyond the process and shares them between processes; see `filePoolStore` of `@h/failover/file-store`.
   *
   * @defaultValue none: they are kept in memory
   */
  readonly store?: PoolStore | undefined;
  /**
   * After how long the state of other processes is read again, before a request, in milliseconds.
   *
   * @defaultValue `1_000`
   */
  readonly refreshMs?: number | undefined;
  /** Other cooldowns than those of the table, by reason. `false` leaves nothing alone for that reason. */
  readonly cooldowns?: Readonly<Partial<Record<ErrorReason, CooldownTime | false>>> | undefined;
  /**
   * Variables of the environment.
   *
   * @defaultValue `process.env`
   */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /**
   * The time, as milliseconds since 1970. Where a turn has a clock of its own, give both the same.
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
  /** Hears of a store that cannot be read or written; the pool then goes on with what it has in memory. */
  readonly onStoreError?: ((error: unknown) => void) | undefined;
}

/** What is left alone, and for how long. */
export interface Cooldown extends CooldownWindow {
  readonly scope: Exclude<FailureScope, 'request'>;
}

/** How a profile stands. Never has a key in it. */
export interface ProfileStatus {
  readonly id: string;
  readonly provider: string;
  /** Failures that count against it now. */
  readonly failures: number;
  /** What is left alone: the profile, or it with one model. */
  readonly cooldowns: readonly (CooldownWindow & { readonly model?: string | undefined })[];
}

/**
 * Credentials of several providers, who may be used when.
 *
 * The pool itself holds keys in closures: printed, stringified or inspected it shows the status of its profiles only.
 */
export interface CredentialPool {
  /** Providers that it has profiles of. */
  readonly providers: readonly string[];
  /**
   * The key of a profile, for drivers.
   *
   * @throws TurnError `credential-unavailable` without a key in it
   */
  key(profile: string): Promise<string>;
  /**
   * Finds a profile for a model call: the one that the session had, else of those with the fewest failures the one that
   * was used longest ago. After a cooldown only one call at a time tries whether it works again.
   */
  acquire(request: LeaseRequest): Lease | Unavailable;
  /** A call has succeeded: what was left alone before is trusted again. */
  succeeded(profile: string | undefined, model: string | undefined): void;
  /**
   * A call has failed: leaves alone what the failure says something about.
   *
   * @returns for how long, if at all; `'renewed'` where the profile has another key to try
   */
  failed(
    profile: string | undefined,
    model: string | undefined,
    error: ErrorClass,
    at?: number,
  ): Cooldown | 'renewed' | undefined;
  /** Trusts a profile, or all, at once again. */
  reset(profile?: string): void;
  /** Reads what other processes have written, if there is a store and that was a while ago. */
  refresh(): Promise<void> | undefined;
  /** Waits until the store has everything. */
  flush(): Promise<void>;
  status(): readonly ProfileStatus[];
  /** Calls back whenever somebody may have become usable. @returns how to stop it */
  onChange(listener: () => void): () => void;
  /** The text without any key that the pool has given out. */
  redact(text: string): string;
  toJSON(): readonly ProfileStatus[];
}

/**
 * Makes a pool of credentials that turns, and with a store processes, share.
 *
 * @throws InvalidOptionError `invalid-option` for an unknown option, a value that it does not take, or an id used twice
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
    cooldowns: times = {},
    // Where there is no Node there is no environment.
    env = (globalThis as Partial<Pick<typeof globalThis, 'process'>>).process?.env ?? {},
    // oxlint-disable-next-line h/no-clock -- the default clock, which callers may replace
    now = () => Date.now(),
    // oxlint-disable-next-line h/no-clock -- the default chance, which callers may replace
    random = () => Math.random(),
    onStoreError,
  } = options;
  const byId = new Map(profiles.map((profile) => [profile.id, profile]));
  const keys = createKeys(profiles, env, now);
  const listeners = new Set<() => void>();
  /** Profiles whose issued key was refused, and that have got another one since. */
  const renewed = new Set<string>();
  const changed = (): void => {
    for (const listener of listeners) listener();
  };
  const cooldowns = new Cooldowns({ store, refreshMs, now, onStoreError }, changed);
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
    { reason, scope: said, retryAfterMs }: ErrorClass,
    at = now(),
  ): Cooldown | 'renewed' | undefined => {
    const time = times[reason] ?? reasonActions[reason].cooldown;
    const known = profile === undefined ? undefined : byId.get(profile);
    // A key that was issued may have been withdrawn before its time: the next call gets another one, once.
    if (reason === 'auth' && known !== undefined && keys.forget(known) && !renewed.has(known.id)) {
      renewed.add(known.id);
      return 'renewed';
    }
    const scope = said === 'profile' && known === undefined ? 'model' : said;
    if (time === undefined || time === false || scope === 'request') return undefined;
    return {
      ...cooldowns.fail(windowKey(scope, profile, model), { reason, time, at, retryAfterMs, jitter: random() }),
      scope,
    };
  };

  const status = (): readonly ProfileStatus[] => {
    const at = now();
    const active = cooldowns.entries().filter(([, window]) => isActive(window, at));
    return profiles.map(({ id, provider }) => ({
      id,
      provider,
      failures: picker.failuresOf(id, at),
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
    cooldowns: objectOf(Object.fromEntries(Object.keys(reasonActions).map((reason) => [reason, aCooldown]))),
    env: anyObject,
    now: anyFunction,
    random: anyFunction,
    onStoreError: anyFunction,
  });
  checkIds(options.profiles);
};
