import type { SchedulerLike } from 'rxjs';

/** Gathers what the calls of a step have written, so that it is looked at once. */
export interface StepBatch {
  /** A call of this step may write something. */
  expect(step: number, call: string): void;
  /**
   * A call has run. The first to arrive waits for the others and gets all that was written; the others get nothing, and
   * so does everybody when the signal is aborted.
   */
  arrive(call: string, file: string | undefined, signal: AbortSignal): Promise<readonly string[]>;
}

/** Creates a batch that waits a limited time for expected calls. */
export const stepBatch = (waitMs: number, scheduler: SchedulerLike): StepBatch => {
  let currentStep = 0;
  let expected = new Set<string>();
  let files = new Set<string>();
  let close: (() => void) | undefined;

  return {
    expect: (step, call) => {
      if (step !== currentStep) expected = new Set();
      currentStep = step;
      expected.add(call);
    },
    arrive: async (call, file, signal) => {
      expected.delete(call);
      if (file !== undefined) files.add(file);
      if (close !== undefined) {
        if (expected.size === 0) close();
        return [];
      }
      if (expected.size > 0) {
        await new Promise<void>((resolve) => {
          const end = (): void => {
            timer.unsubscribe();
            signal.removeEventListener('abort', end);
            resolve();
          };
          const timer = scheduler.schedule(end, waitMs);
          signal.addEventListener('abort', end, { once: true });
          close = end;
        });
        close = undefined;
      }
      const written = [...files];
      files = new Set();
      return signal.aborted ? [] : written;
    },
  };
};
