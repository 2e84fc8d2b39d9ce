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
import type { LaneEvent } from '../events.js';
import type { GroupOptions } from './groups.js';

/** Options of {@link createLanes}. */
export interface LanesOptions {
  /**
   * Concurrent requests over all sessions.
   *
   * @defaultValue `4`, which the rate limits of small provider accounts allow
   */
  readonly concurrency?: number | undefined;
  /**
   * Slots that only foreground requests get. Less than `concurrency`.
   *
   * @defaultValue `0`: requests of all priorities may use every slot
   */
  readonly reservedForeground?: number | undefined;
  /**
   * Time after which a background request that waits for a slot counts as normal, in milliseconds. It never counts as
   * foreground.
   *
   * @defaultValue `Infinity`: background requests wait as long as others arrive
   */
  readonly ageAfterMs?: number | undefined;
  /**
   * Further limits by kind: `{ provider: { concurrency: 8, keys: { local: 1 } }, tenant: { concurrency: 2 } }`. A
   * request names its keys.
   *
   * @defaultValue `{}`: only `concurrency` applies
   */
  readonly groups?: Readonly<Record<string, GroupOptions>> | undefined;
  /**
   * Time without progress after which a holder is asked to stop, in milliseconds. It begins with the slot, not with the
   * wait.
   *
   * @defaultValue `600_000`, longer than slow answers and silent test runs take
   */
  readonly idleTimeoutMs?: number | undefined;
  /**
   * Total time for which a slot may be held, in milliseconds, whatever the progress.
   *
   * @defaultValue `86_400_000`, a day
   */
  readonly deadlineMs?: number | undefined;
  /**
   * Time between the request to stop and the loss of the slot, in milliseconds.
   *
   * @defaultValue `10_000`, twice the time that a harness gives its operators to end a turn
   */
  readonly graceMs?: number | undefined;
  /**
   * Longest wait for a slot, in milliseconds.
   *
   * @defaultValue `Infinity`: `maxWaiting` limits the queue
   */
  readonly maxWaitMs?: number | undefined;
  /**
   * Number of waiting requests over all sessions; further ones are refused.
   *
   * @defaultValue `10_000`, far more than one process can serve in time
   */
  readonly maxWaiting?: number | undefined;
  /**
   * Number of waiting requests in one session.
   *
   * @defaultValue `100`, more than a person sends while one turn runs
   */
  readonly maxWaitingPerSession?: number | undefined;
  /**
   * What happens when a session is full: the new request is refused (`reject`), or the one that has waited longest
   * (`drop-oldest`) or shortest (`drop-newest`) is dropped for it. `summarize` drops the oldest, and the next lease
   * lists what was dropped.
   *
   * @defaultValue `'reject'`
   */
  readonly whenFull?: FullPolicy | undefined;
  /**
   * Interval of the notices about a changed position, in milliseconds.
   *
   * @defaultValue `1000`, a person reads no faster
   */
  readonly noticeEveryMs?: number | undefined;
  /**
   * The clock and the timers.
   *
   * @defaultValue timers of the system and a monotonic clock
   */
  readonly scheduler?: SchedulerLike | undefined;
  /** Receives refusals, requests to stop, lost slots, late results and errors of callbacks. */
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

/** @throws InvalidOptionError that names the option, its value and what it accepts */
export const checkLanesOptions = (options: LanesOptions): void => {
  checkOptions('createLanes()', options, checks);
  const { concurrency = 4, reservedForeground = 0 } = options;
  if (reservedForeground < concurrency) return;
  const message = `createLanes(): "reservedForeground" must be less than "concurrency" (${concurrency}); received ${reservedForeground}, which leaves nothing for others.`;
  throw new InvalidOptionError({ owner: 'createLanes()', option: 'reservedForeground', message });
};
