import { anyFunction, nonEmptyString, checkOptions, checkValue, instanceOf, type OptionChecks } from '@h/options';
import type { LaneListener, LaneHandle, Lanes, LaneLease, LaneTask, RunOptions } from '../contract.js';
import { abortError, type LaneError } from '../errors.js';
import { requestChecks } from './request-check.js';

const checks: OptionChecks<RunOptions> = { ...requestChecks, signal: instanceOf(AbortSignal), onWaiting: anyFunction };

/** Runs a task in lanes. */
export const runIn = <Result>(
  enter: Lanes['enter'],
  session: string,
  task: LaneTask<Result>,
  options?: RunOptions,
): Promise<Result> =>
  new Promise<Result>((resolve, reject) => {
    checkValue('run()', 'session', session, nonEmptyString);
    checkValue('run()', 'task', task, anyFunction);
    if (options) new TaskRun(task, resolve, reject).enterWith(enter, session, options);
    else enter({ session }, new TaskRun(task, resolve, reject));
  });

/** A task that waits or runs. A class, because many may exist at once. */
class TaskRun<Result> implements LaneListener {
  /** Present only if the option is set. */
  waiting: RunOptions['onWaiting'];
  readonly #task: LaneTask<Result>;
  readonly #resolve: (result: Result) => void;
  readonly #reject: (error: unknown) => void;
  #stopListening: (() => void) | undefined;

  constructor(task: LaneTask<Result>, resolve: (result: Result) => void, reject: (error: unknown) => void) {
    this.#task = task;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  enterWith(enter: Lanes['enter'], session: string, options: RunOptions): void {
    checkOptions('run()', options, checks);
    const { signal, onWaiting, ...request } = options;
    const isAborted = (): boolean => signal?.aborted === true;
    if (isAborted()) {
      this.#reject(abortError(session, signal?.reason));
      return;
    }
    this.waiting = onWaiting;
    const entered: { handle?: LaneHandle } = {};
    const onAbort = (): void => entered.handle?.abort(signal?.reason);
    signal?.addEventListener('abort', onAbort, { once: true });
    this.#stopListening = () => signal?.removeEventListener('abort', onAbort);
    entered.handle = enter({ ...request, session }, this);
    // The task, or a callback while it waited, may have aborted the signal.
    if (isAborted()) onAbort();
  }

  admitted(lease: LaneLease): void {
    try {
      const result = this.#task(lease);
      if (isThenable(result)) {
        Promise.resolve(result).then(
          (value) => this.#succeed(lease, value),
          (error: unknown) => this.#fail(lease, error),
        );
      } else {
        this.#succeed(lease, result);
      }
    } catch (error) {
      this.#fail(lease, error);
    }
  }

  refused(error: LaneError): void {
    this.#stopListening?.();
    this.#reject(error);
  }

  lost(error: LaneError): void {
    this.refused(error);
  }

  /** Releases the slot before the caller is notified. */
  #succeed(lease: LaneLease, result: Result): void {
    this.#stopListening?.();
    lease.release();
    this.#resolve(result);
  }

  /** Work that was asked to stop fails with that reason. */
  #fail(lease: LaneLease, error: unknown): void {
    this.#stopListening?.();
    const reason: unknown = lease.isAborted ? lease.signal.reason : error;
    lease.release();
    this.#reject(reason);
  }
}

const isThenable = <Result>(value: Result | PromiseLike<Result>): value is PromiseLike<Result> =>
  typeof value === 'object' && value !== null && 'then' in value;
