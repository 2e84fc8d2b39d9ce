import { isPromise, toErrorInfo, type MaybePromise, type OperatorContext } from '@h/turn';

/** A value to load. */
export interface LoadJob<Value> {
  readonly timeoutMs?: number | undefined;
  /** Starts loading. `signal()` creates the abort signal on first use. */
  readonly start: (signal: () => AbortSignal) => MaybePromise<Value>;
}

/** Result of a job. */
export type Loaded<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly reason: 'timed-out' | 'failed'; readonly message: string };

/** Settings of {@link loadAll}. */
export interface LoadOptions {
  readonly deadlineMs: number;
  readonly after: OperatorContext['after'];
  /** Returns the turn's signal. Called only if a job is asynchronous. */
  readonly turnSignal: () => AbortSignal;
}

/**
 * Runs all jobs concurrently and returns the result of each, by the deadline at the latest.
 *
 * If every job is synchronous, so is the result. The signal of a late job is aborted and its later result or error is
 * ignored. Never rejects.
 */
export const loadAll = <Value>(
  jobs: readonly LoadJob<Value>[],
  options: LoadOptions,
): MaybePromise<readonly Loaded<Value>[]> => {
  const results: Loaded<Value>[] = [];
  const pending: Promise<void>[] = [];
  for (const [index, job] of jobs.entries()) {
    const result = loadOne(job, options);
    if (isPromise(result)) pending.push(result.then((loaded) => void (results[index] = loaded)));
    else results[index] = result;
  }
  return pending.length === 0 ? results : Promise.all(pending).then(() => results);
};

const loadOne = <Value>(
  { start, timeoutMs = Infinity }: LoadJob<Value>,
  options: LoadOptions,
): Loaded<Value> | Promise<Loaded<Value>> => {
  let abort: AbortController | undefined;
  const signal = (): AbortSignal => (abort ??= new AbortController()).signal;
  let value: MaybePromise<Value>;
  try {
    value = start(signal);
  } catch (error) {
    return failed(error);
  }
  if (!isPromise(value)) return { ok: true, value };
  const pending = value;
  const limitMs = Math.min(timeoutMs, options.deadlineMs);
  const turnSignal = options.turnSignal();
  return new Promise((resolve) => {
    const settle = (result: Loaded<Value>): void => {
      cancelTimer();
      turnSignal.removeEventListener('abort', giveUp);
      resolve(result);
    };
    const giveUp = (): void => {
      const message = turnSignal.aborted
        ? 'The turn ended before the section was loaded.'
        : `The section took longer than ${limitMs} ms.`;
      (abort ??= new AbortController()).abort();
      settle({ ok: false, reason: 'timed-out', message });
    };
    const cancelTimer = Number.isFinite(limitMs) ? options.after(limitMs, giveUp) : () => undefined;
    turnSignal.addEventListener('abort', giveUp, { once: true });
    if (turnSignal.aborted) giveUp();
    pending.then(
      (loaded) => settle({ ok: true, value: loaded }),
      (error: unknown) => settle(failed(error)),
    );
  });
};

const failed = (error: unknown): Loaded<never> => ({
  ok: false,
  reason: 'failed',
  message: toErrorInfo(error).message,
});
