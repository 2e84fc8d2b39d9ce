import {
  anyFunction,
  checkOptions,
  InvalidOptionError,
  numberFrom,
  objectOf,
  objectWithMethods,
  oneOf,
  recordOf,
  required,
  integerFrom,
  type OptionChecks,
} from '@h/options';
import type { SchedulerLike } from 'rxjs';
import type { FullPolicy } from './bounds.js';
import type { LaneEvent } from './events.js';
import type { GroupOptions } from './groups.js';

/** Options of {@link createLanes}. */
export interface LanesOptions {
  /**
   * How many may run at once, whatever their session.
   *
   * @defaultValue `4`, which providers' rate limits of a small account bear
   */
  readonly concurrency?: number | undefined;
  /**
   * How many of these places only the foreground may take. Less than `concurrency`.
   *
   * @defaultValue `0`
   */
  readonly reservedForeground?: number | undefined;
  /**
   * After how long at the gate somebody of the background counts as normal, in milliseconds; never as foreground.
   *
   * @defaultValue `Infinity`: as long as others come, the background waits
   */
  readonly ageAfterMs?: number | undefined;
  /**
   * Further caps, by kind: `{ provider: { concurrency: 8, keys: { local: 1 } }, tenant: { concurrency: 2 } }`. Who asks
   * for a place names its keys.
   *
   * @defaultValue `{}`
   */
  readonly groups?: Readonly<Record<string, GroupOptions>> | undefined;
  /**
   * How long somebody who has a place may show no progress before it is told to stop, in milliseconds. Waiting for the
   * place does not count.
   *
   * @defaultValue `600_000`, longer than a slow answer of a large model or a test run takes without a word
   */
  readonly idleTimeoutMs?: number | undefined;
  /**
   * How long somebody may have a place in all, in milliseconds, whatever its progress.
   *
   * @defaultValue `86_400_000`, a day
   */
  readonly deadlineMs?: number | undefined;
  /**
   * How long somebody who was told to stop may take before its place is given to others, in milliseconds.
   *
   * @defaultValue `10_000`, twice what a harness gives its operators for the end of a turn
   */
  readonly graceMs?: number | undefined;
  /**
   * How long somebody may wait for a place, in milliseconds.
   *
   * @defaultValue `Infinity`
   */
  readonly maxWaitMs?: number | undefined;
  /**
   * How many may wait in all; more are refused.
   *
   * @defaultValue `10_000`
   */
  readonly maxWaiting?: number | undefined;
  /**
   * How many may wait in one session, without the one that runs.
   *
   * @defaultValue `100`
   */
  readonly maxWaitingPerSession?: number | undefined;
  /**
   * What happens to one too many in a session: it is refused (`reject`), or it comes in and the one that has waited longest
   * (`drop-oldest`) or shortest (`drop-newest`) is sent away. `summarize` drops the oldest, and who is let in next hears
   * what was dropped.
   *
   * @defaultValue `'reject'`
   */
  readonly whenFull?: FullPolicy | undefined;
  /**
   * How often those who wait hear that they have moved up, in milliseconds.
   *
   * @defaultValue `1000`
   */
  readonly noticeEveryMs?: number | undefined;
  /**
   * The clock and the timers.
   *
   * @defaultValue timers of the system and a monotonic clock
   */
  readonly scheduler?: SchedulerLike | undefined;
  /** Sees who is refused, told to stop, loses its place, ends too late, and which callback has thrown. */
  readonly onEvent?: ((event: LaneEvent) => void) | undefined;
}

const checks: OptionChecks<LanesOptions> = {
  concurrency: integerFrom(1, Infinity),
  reservedForeground: integerFrom(0),
  ageAfterMs: numberFrom(0, Infinity),
  groups: recordOf(
    objectOf({ concurrency: required(integerFrom(1, Infinity)), keys: recordOf(integerFrom(1, Infinity)) }),
  ),
  idleTimeoutMs: numberFrom(1, Infinity),
  deadlineMs: numberFrom(1, Infinity),
  graceMs: numberFrom(0, Infinity),
  maxWaitMs: numberFrom(0, Infinity),
  maxWaiting: integerFrom(1, Infinity),
  maxWaitingPerSession: integerFrom(0, Infinity),
  whenFull: oneOf('reject', 'drop-oldest', 'drop-newest', 'summarize'),
  noticeEveryMs: numberFrom(1, Infinity),
  scheduler: objectWithMethods('now', 'schedule'),
  onEvent: anyFunction,
};

/** @throws InvalidOptionError that names the option, its value and what it takes */
export const checkLanesOptions = (options: LanesOptions): void => {
  checkOptions('createLanes()', options, checks);
  const { concurrency = 4, reservedForeground = 0 } = options;
  if (reservedForeground < concurrency) return;
  const message = `createLanes(): "reservedForeground" must be less than "concurrency" (${concurrency}); received ${reservedForeground}, which leaves nothing for others.`;
  throw new InvalidOptionError({ owner: 'createLanes()', option: 'reservedForeground', message });
};
