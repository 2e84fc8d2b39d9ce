import type { OperatorContext } from '@h/turn';

/** Waits for work. Rejects after N milliseconds or when the turn ends; the work is aborted then, and not awaited. */
export const within = <Result>(
  operator: Pick<OperatorContext, 'after'>,
  timeoutMs: number,
  signal: AbortSignal,
  work: (signal: AbortSignal) => PromiseLike<Result>,
): Promise<Result> =>
  new Promise((resolve, reject) => {
    const controller = new AbortController();
    const finish = (settle: () => void): void => {
      cancelTimer();
      signal.removeEventListener('abort', leave);
      settle();
      controller.abort();
    };
    const leave = (): void => finish(() => reject(new Error('The turn has ended.')));
    const cancelTimer = operator.after(timeoutMs, () =>
      finish(() => reject(new Error(`The time limit of ${timeoutMs} ms was exceeded.`))),
    );
    signal.addEventListener('abort', leave, { once: true });
    if (signal.aborted) {
      leave();
      return;
    }
    // oxlint-disable-next-line typescript/prefer-promise-reject-errors -- what the work has thrown
    const failed = (error: unknown): void => finish(() => reject(error));
    try {
      work(controller.signal).then((result) => finish(() => resolve(result)), failed);
    } catch (error) {
      failed(error);
    }
  });
