import type { LaneBackend, LaneListener, LanePlace, LaneRequest, Lease, WaitingNotice } from './contract.js';
import { abortError, type LaneError } from './errors.js';
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
    const run = new TaskRun(task, resolve, reject);
    if (options) run.enterWith(lanes, session, options);
    else lanes.enter({ session }, run);
  });

/** One task on its way. A class, because there may be very many of them at once. */
class TaskRun<Result> implements LaneListener {
  readonly #task: Task<Result>;
  readonly #resolve: (result: Result) => void;
  readonly #reject: (error: Error) => void;
  #onWaiting: RunOptions['onWaiting'];
  #stopListening: (() => void) | undefined;
  #place: LanePlace | undefined;

  constructor(task: Task<Result>, resolve: (result: Result) => void, reject: (error: Error) => void) {
    this.#task = task;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  enterWith(lanes: LaneBackend, session: string, options: RunOptions): void {
    checkOptions('run()', options, checks);
    const { signal, onWaiting, ...request } = options;
    const isAborted = (): boolean => signal?.aborted === true;
    if (isAborted()) {
      this.#reject(abortError(session, signal?.reason));
      return;
    }
    this.#onWaiting = onWaiting;
    const onAbort = (): void => this.#place?.abort(signal?.reason);
    signal?.addEventListener('abort', onAbort, { once: true });
    this.#stopListening = () => signal?.removeEventListener('abort', onAbort);
    this.#place = lanes.enter({ ...request, session }, this);
    if (isAborted()) onAbort();
  }

  admitted(lease: Lease): void {
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

  /** Only there where somebody wants to know. */
  get waiting(): ((notice: WaitingNotice) => void) | undefined {
    return this.#onWaiting;
  }

  /** The next one begins before this one's caller hears of it. */
  #succeed(lease: Lease, result: Result): void {
    this.#stopListening?.();
    lease.release();
    this.#resolve(result);
  }

  /** Who was told to stop has failed for that reason. */
  #fail(lease: Lease, error: unknown): void {
    this.#stopListening?.();
    const reason: unknown = lease.isAborted ? lease.signal.reason : error;
    lease.release();
    this.#reject(reason as Error);
  }
}

const isThenable = <Result>(value: Result | PromiseLike<Result>): value is PromiseLike<Result> =>
  typeof value === 'object' && value !== null && 'then' in value;
