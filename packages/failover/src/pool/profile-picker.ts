import type { ErrorReason } from '@h/provider-errors';
import type { Cooldowns } from './cooldowns.js';
import type { CredentialProfile } from './profile.js';
import { forgottenAt, isActive, isForgotten, readWindowKey, windowKey } from './windows.js';

/** A model call that needs a credential. */
export interface CredentialRequest {
  /** Without a provider, or if the pool has no profile of it, the call is made without a credential. */
  readonly provider: string | undefined;
  readonly model: string | undefined;
  /** Keeps its profile while that works, so that the provider's cache stays warm. */
  readonly session: string;
}

/** Permission to make calls with a profile. */
export interface CredentialLease {
  /** The profile to use; `undefined` if the provider needs none. */
  readonly profile: string | undefined;
  /** Whether a cooldown has just ended, so that this call probes whether the profile works again. */
  readonly isProbe: boolean;
  /**
   * Ends the lease. Until then no other call probes the same; release it once the outcome is known or no longer needed.
   */
  release(): void;
}

/** No profile can be used now. */
export interface Unavailable {
  /** When the first one becomes available, in milliseconds since 1970; `undefined` while another call probes it. */
  readonly until: number | undefined;
  /** When its cooldowns are forgotten, so that it is available even if the call that probes it has not ended. */
  readonly probedUntil?: number | undefined;
  /** Whether the provider asked for this wait. */
  readonly isStated?: boolean | undefined;
  readonly reason: ErrorReason;
  readonly profile: string | undefined;
}

/** Sessions per provider whose profile is remembered; the least recently used one is forgotten first. */
const maxSessions = 10_000;

const scopes = ['profile', 'model', 'service'] as const;

const ignore = (): void => undefined;

/** Selects among the profiles of a provider. */
export class ProfilePicker {
  readonly #cooldowns: Cooldowns;
  readonly #now: () => number;
  readonly #changed: () => void;
  readonly #byProvider = new Map<string, ProviderProfiles>();
  readonly #usedAt = new Map<string, number>();
  /** What is probed now, and whether a call was refused because of it. */
  readonly #probes = new Map<string, { hasRefused: boolean }>();
  #uses = 0;

  constructor(profiles: readonly CredentialProfile[], cooldowns: Cooldowns, now: () => number, changed: () => void) {
    this.#cooldowns = cooldowns;
    this.#now = now;
    this.#changed = changed;
    for (const profile of profiles) {
      const known = this.#byProvider.get(profile.provider);
      if (known) known.profiles.push(profile);
      else this.#byProvider.set(profile.provider, { profiles: [profile], pins: new Map() });
    }
  }

  acquire(request: CredentialRequest): CredentialLease | Unavailable {
    const { provider, model, session } = request;
    const known = provider === undefined ? undefined : this.#byProvider.get(provider);
    if (known === undefined) return this.#tryOne(undefined, model);
    const { profiles, pins } = known;
    const pinned = pins.get(session);
    if (pinned?.profile !== undefined && this.#cooldowns.isEmpty) {
      this.#usedAt.set(pinned.profile, (this.#uses += 1));
      return pinned;
    }
    let first: Unavailable | undefined;
    if (pinned !== undefined) {
      const found = this.#tryOne(pinned.profile, model);
      if ('release' in found) return found;
      first = found;
    }
    for (const { id } of this.#inOrder(profiles)) {
      const found = this.#tryOne(id, model);
      if ('release' in found) {
        this.#pin(pins, session, id);
        return found;
      }
      if (first === undefined || (found.until ?? Infinity) < (first.until ?? Infinity)) first = found;
    }
    return first as Unavailable;
  }

  /** Failures in active windows, by profile. */
  failures(at: number): ReadonlyMap<string | undefined, number> {
    const failures = new Map<string | undefined, number>();
    for (const [key, window] of this.#cooldowns.entries()) {
      const [profile] = readWindowKey(key);
      if (isActive(window, at)) failures.set(profile, (failures.get(profile) ?? 0) + window.level);
    }
    return failures;
  }

  #inOrder(profiles: readonly CredentialProfile[]): readonly CredentialProfile[] {
    const failures = this.failures(this.#now());
    const ranked = profiles.map((profile) => ({
      profile,
      rank: failures.get(profile.id) ?? 0,
      usedAt: this.#usedAt.get(profile.id) ?? -1,
    }));
    return ranked
      .toSorted((one, other) => one.rank - other.rank || one.usedAt - other.usedAt)
      .map(({ profile }) => profile);
  }

  #tryOne(profile: string | undefined, model: string | undefined): CredentialLease | Unavailable {
    if (this.#cooldowns.isEmpty) return available(profile);
    const windows = this.#windows(profile, model);
    const [last] = windows;
    if (last === undefined) return available(profile);
    const { until, reason, isStated } = last;
    if (isActive(last, this.#now())) return { until, reason, profile, ...(isStated === true && { isStated }) };
    // One call probes all that has ended: the profile, its model and the service.
    const keys = windows.map(({ key }) => key);
    const current = keys.map((key) => this.#probes.get(key)).find((found) => found !== undefined);
    if (current !== undefined) {
      current.hasRefused = true;
      return { until: undefined, probedUntil: Math.max(...windows.map(forgottenAt)), reason, profile };
    }
    const probe = { hasRefused: false };
    for (const key of keys) this.#probes.set(key, probe);
    let isOpen = true;
    return {
      profile,
      isProbe: true,
      release: () => {
        if (!isOpen) return;
        isOpen = false;
        for (const key of keys) this.#probes.delete(key);
        if (probe.hasRefused) this.#changed();
      },
    };
  }

  /** The windows that apply to this profile with this model, the one that ends last first. */
  #windows(profile: string | undefined, model: string | undefined) {
    const now = this.#now();
    const windows = scopes.flatMap((scope) => {
      const key = windowKey(scope, profile, model);
      const window = this.#cooldowns.get(key);
      return window === undefined || isForgotten(window, now) ? [] : [{ ...window, key }];
    });
    return windows.toSorted((one, other) => other.until - one.until);
  }

  #pin(pins: Map<string, CredentialLease>, session: string, profile: string): void {
    this.#usedAt.set(profile, (this.#uses += 1));
    pins.delete(session);
    pins.set(session, available(profile));
    if (pins.size <= maxSessions) return;
    const [oldest] = pins.keys();
    if (oldest !== undefined) pins.delete(oldest);
  }
}

/** The profiles of a provider, and the lease of each session. */
interface ProviderProfiles {
  readonly profiles: CredentialProfile[];
  readonly pins: Map<string, CredentialLease>;
}

const available = (profile: string | undefined): CredentialLease => ({ profile, isProbe: false, release: ignore });
