import type { ErrorReason } from '@h/provider-errors';

/** How long a credential or model is in cooldown after failures. */
export interface CooldownTime {
  /** After the first failure, in milliseconds. */
  readonly baseMs: number;
  /** Multiplies the cooldown after each further failure. */
  readonly factor: number;
  /** The longest cooldown, unless the provider asks for more; in milliseconds. */
  readonly maxMs: number;
}

/** What is done about a failure, in the order of these members. If nothing is left to do, the error ends the turn. */
export interface ReasonAction {
  /** Retries with the same model and credential after a delay. */
  readonly retry: boolean;
  /** Maximum number of retries for this reason, if it is less than the option `maxRetries`. */
  readonly maxRetries?: number | undefined;
  /** Switches to another credential. */
  readonly rotate: boolean;
  /** Switches to the next model. */
  readonly fallBack: boolean;
  /** The cooldown once retries are used up. */
  readonly cooldown?: CooldownTime | undefined;
}

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;

const flat = (ms: number): CooldownTime => ({ baseMs: ms, factor: 1, maxMs: ms });
const doubling = (baseMs: number, maxMs: number): CooldownTime => ({ baseMs, factor: 2, maxMs });

const again = { retry: true, rotate: false, fallBack: true } as const;
/** An outage puts the model in cooldown for all turns, whatever their credential. */
const outage = { ...again, cooldown: doubling(30 * second, 5 * minute) } as const;
const elsewhere = { retry: false, rotate: true, fallBack: true } as const;
const final = { retry: false, rotate: false, fallBack: false } as const;

/**
 * The table that decides what is done about a failure, by its reason.
 *
 * A credential gets a cooldown only for its own faults: limits, quotas and rejected authentication. Aborts and refusals
 * are final, and a request that is too long is left to compaction. An empty answer is retried once and then accepted,
 * because models end turns in that way too.
 */
export const reasonActions: Readonly<Record<ErrorReason, ReasonAction>> = {
  'rate-limit': { ...elsewhere, cooldown: doubling(minute, hour) },
  overloaded: { ...again, cooldown: flat(30 * second) },
  quota: { ...elsewhere, cooldown: doubling(hour, 24 * hour) },
  auth: { ...elsewhere, cooldown: doubling(5 * minute, hour) },
  'auth-permanent': { ...elsewhere, cooldown: flat(24 * hour) },
  'context-overflow': final,
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

/** Whether no retry, credential or model can help. */
export const isFinal = ({ retry, rotate, fallBack }: ReasonAction): boolean => !retry && !rotate && !fallBack;
