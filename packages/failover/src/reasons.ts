import type { ErrorReason } from '@h/provider-errors';

/** How long something is left alone after a failure. */
export interface CooldownTime {
  /** After the first failure, in milliseconds. */
  readonly baseMs: number;
  /** By how much each further failure makes it longer. */
  readonly factor: number;
  /** Never longer than this, unless the provider says so; in milliseconds. */
  readonly maxMs: number;
}

/** What is done about a failure, in this order. Where nothing is left, the error ends the turn. */
export interface ReasonAction {
  /** Asks the same model with the same credential again, after a while. */
  readonly retry: boolean;
  /** How often at most, where that is less than the option `maxRetries` says. */
  readonly maxRetries?: number | undefined;
  /** Asks with another credential. */
  readonly rotate: boolean;
  /** Asks the next model. */
  readonly fallBack: boolean;
  /** Left to an operator that makes the request shorter. */
  readonly compact: boolean;
  /** For how long; nothing is left alone without it. */
  readonly cooldown?: CooldownTime | undefined;
}

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;

const flat = (ms: number): CooldownTime => ({ baseMs: ms, factor: 1, maxMs: ms });
const doubling = (baseMs: number, maxMs: number): CooldownTime => ({ baseMs, factor: 2, maxMs });

const again = {
  retry: true,
  rotate: false,
  fallBack: true,
  compact: false,
} as const satisfies ReasonAction;
/** A model that fails again and again is left alone by all turns for a while, whatever key they have. */
const outage = { ...again, cooldown: doubling(30 * second, 5 * minute) } as const satisfies ReasonAction;
const elsewhere = { retry: false, rotate: true, fallBack: true, compact: false } as const;
const final = {
  retry: false,
  rotate: false,
  fallBack: false,
  compact: false,
} as const satisfies ReasonAction;

/**
 * The table that decides what is done about a failure, by its reason.
 *
 * A key is blamed only for what is its fault: limits, quotas and refused authentication. Aborts and refusals are final,
 * and a request that is too long is left to compaction. An answer without anything in it is asked for once more, and then
 * taken for what it is: models end turns in that way too.
 */
export const reasonActions: Readonly<Record<ErrorReason, ReasonAction>> = {
  'rate-limit': { ...elsewhere, cooldown: doubling(minute, hour) },
  overloaded: { ...again, cooldown: flat(30 * second) },
  quota: { ...elsewhere, cooldown: doubling(hour, 24 * hour) },
  auth: { ...elsewhere, cooldown: doubling(5 * minute, hour) },
  'auth-permanent': { ...elsewhere, cooldown: flat(24 * hour) },
  'context-overflow': { ...final, compact: true },
  'invalid-request': { ...final, fallBack: true },
  'not-found': { ...elsewhere, cooldown: doubling(10 * minute, 24 * hour) },
  'content-filter': final,
  timeout: outage,
  network: outage,
  'server-error': outage,
  'empty-response': { ...again, maxRetries: 1, fallBack: false },
  aborted: final,
  unknown: again,
};
