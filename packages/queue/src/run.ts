import type { LaneBackend, LanePlace, LaneRequest, Lease, WaitingNotice } from './contract.js';
import { abortError } from './errors.js';
import { checkOptions, checkValue, isFunction, isObject, isSignal, isText, numberFrom, oneOf, textsByName, type OptionCheck } from './options-check.js';

/** Something to be done while the session is its own. */
export type Task<Result> = (lease: Lease) => Result | PromiseLike<Result>;

/** Options of `lanes.run()`. */
export interface RunOptions extends Omit<LaneRequest, 'session' | 'summary' | 'ahead'> {
  /** Takes it out of the lane while it waits; once it runs, tells it to stop. */
  readonly signal?: AbortSignal | undefined;
  /** Hears where it stands while it waits. */
  readonly onWaiting?: ((notice: WaitingNotice) => void) | undefined;
}

/** What a request takes. */
export const requestChecks = {
  priority: oneOf('foreground', 'normal', 'background'),
  trigger: isText,
  groups: textsByName,
  label: isText,
  idleTimeoutMs: numberFrom(1),
  deadlineMs: numberFrom(1),
  graceMs: numberFrom(0),
  maxWaitMs: numberFrom(0),
  within: isObject,
} satisfies Readonly<Record<string, OptionCheck>>;

const checks: Readonly<Record<keyof RunOptions, OptionCheck>> = { ...requestChecks, signal: isSignal, onWaiting: isFunction };

/** Runs a task in lanes of any kind. */
export const runIn = <Result>(lanes: LaneBackend, session: string, task: Task<Result>, options?: RunOptions): Promise<Result> =>
  new Promise<Result>((resolve, reject) => {
    checkValue('run()', 'session', session, isText);
    checkValue('run()', 'task', task, isFunction);
    if (options) checkOptions('run()', options, checks);
    const { signal, onWaiting, ...request } = options ?? noOptions;
    if (signal?.aborted === true) {
      reject(abortError(session, signal.reason));
      return;
    }
    let stopListening = (): void => undefined;
    const end = (lease: Lease, settle: () => void): void => {
      stopListening();
      lease.release();
      settle();
    };
    const fail = (error: Error): void => {
      stopListening();
      reject(error);
    };
    const onAbort = (): void => place?.abort(signal?.reason);
    if (signal) {
      signal.addEventListener('abort', onAbort, { once: true });
      stopListening = () => signal.removeEventListener('abort', onAbort);
    }
    let place: LanePlace | undefined;
    place = lanes.enter(
      { ...request, session },
      {
        admitted: (lease) => {
          const failed = (error: unknown): void => end(lease, () => reject(reasonOf(lease, error)));
          place = lease;
          try {
            const result = task(lease);
            if (isThenable(result)) Promise.resolve(result).then((value) => end(lease, () => resolve(value)), failed);
            else end(lease, () => resolve(result));
          } catch (error) {
            failed(error);
          }
        },
        refused: fail,
        lost: fail,
        ...(onWaiting && { waiting: onWaiting }),
      },
    );
  });

const noOptions: RunOptions = {};

/** Who was told to stop has failed for that reason. */
const reasonOf = (lease: Lease, error: unknown): Error => {
  const { signal } = lease;
  return (signal.aborted ? signal.reason : error) as Error;
};

const isThenable = <Result>(value: Result | PromiseLike<Result>): value is PromiseLike<Result> =>
  typeof value === 'object' && value !== null && 'then' in value;
