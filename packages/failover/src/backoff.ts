import { checkOptions, numberFrom } from '@h/options';

/**
 * Returns the delay before a retry, in milliseconds.
 *
 * @param retry - the number of the retry, from 1
 * @param random - a number from 0 to 1
 */
export type Backoff = (retry: number, random: number) => number;

/** Options of {@link exponentialBackoff}. The defaults of 1 s and 30 s are those of OpenClaw. */
export interface ExponentialBackoffOptions {
  /**
   * The delay before the first retry, in milliseconds, without jitter.
   *
   * @defaultValue `1_000`, the order of magnitude of a short overload
   */
  readonly initialMs?: number | undefined;
  /**
   * Multiplies the delay for each further retry.
   *
   * @defaultValue `2`, the usual exponential backoff
   */
  readonly factor?: number | undefined;
  /**
   * The longest delay, in milliseconds.
   *
   * @defaultValue `30_000`: an overload that lasts longer lasts for minutes
   */
  readonly maxMs?: number | undefined;
  /**
   * The share of the delay that is random, from 0 to 1, so that callers that failed together do not retry together.
   *
   * @defaultValue `0.5`, so that no retry is immediate
   */
  readonly jitter?: number | undefined;
}

/**
 * A backoff that grows exponentially, with jitter.
 *
 * @throws InvalidOptionError `invalid-option`
 *
 * @example
 * ```ts
 * failover({ pool, models, backoff: exponentialBackoff({ initialMs: 500, maxMs: 10_000 }) });
 * ```
 */
export const exponentialBackoff = (options: ExponentialBackoffOptions = {}): Backoff => {
  checkOptions('exponentialBackoff()', options, {
    initialMs: numberFrom(0),
    factor: numberFrom(1),
    maxMs: numberFrom(0, Infinity),
    jitter: numberFrom(0, 1),
  });
  const { initialMs = 1_000, factor = 2, maxMs = 30_000, jitter = 0.5 } = options;
  return (retry, random) => Math.round(Math.min(initialMs * factor ** (retry - 1), maxMs) * (1 - jitter * random));
};
