import { toErrorInfo, type MaybePromise, type OperatorContext } from '@h/turn';

/** Something to be loaded. */
export interface LoadJob<Value> {
  readonly timeoutMs?: number | undefined;
  /** Begins to load. `signal` makes an abort signal only if it is asked for. */
  readonly start: (signal: () => AbortSignal) => MaybePromise<Value>;
}

/** What became of a job. */
export type Loaded<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly reason: 'timed-out' | 'failed'; readonly message: string };

/** What loading needs of the turn. */
export interface LoadOptions {
  readonly deadlineMs: number;
  readonly after: OperatorContext['after'];
  /** The turn's own signal; asked for only if something is waited for. */
  readonly turnSignal: () => AbortSignal;
}

/**
 * Runs all jobs at a time and says what became of each, after the deadline at the latest.
 *
 * Where no job has to be waited for, the answer is there at once. A job that is late is told to stop, and what it says
 * after that, or how it fails, changes nothing. Never rejects.
 */
export const loadAll = <Value>(
  jobs: readonly LoadJob<Value>[],
  options: LoadOptions,
): MaybePromise<readonly Loaded<Value>[]> => {
  const there: Loaded<Value>[] = [];
  const pending: Promise<void>[] = [];
  for (const [index, job] of jobs.entries()) {
    const result = loadOne(job, options);
    if (isPromiseLike(result)) pending.push(result.then((loaded) => void (there[index] = loaded)));
    else there[index] = result;
  }
  return pending.length === 0 ? there : Promise.all(pending).then(() => there);
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
  if (!isPromiseLike(value)) return { ok: true, value };
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
      const message = turnSignal.aborted ? 'The turn was over first.' : `It took longer than ${limitMs} ms.`;
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

export const isPromiseLike = <Value>(value: MaybePromise<Value>): value is PromiseLike<Value> =>
  typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';
