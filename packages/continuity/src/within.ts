import type { OperatorContext } from '@h/turn';

/** Waits for work for so long, or until the turn is over; then with an error, and without waiting for the work. */
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
    const leave = (): void => finish(() => reject(new Error('The turn is over.')));
    const cancelTimer = operator.after(timeoutMs, () =>
      finish(() => reject(new Error(`It took longer than ${timeoutMs} ms.`))),
    );
    signal.addEventListener('abort', leave, { once: true });
    if (signal.aborted) {
      leave();
      return;
    }
    const failed = (error: unknown): void =>
      finish(() => reject(error instanceof Error ? error : new Error(String(error))));
    try {
      work(controller.signal).then((result) => finish(() => resolve(result)), failed);
    } catch (error) {
      failed(error);
    }
  });
