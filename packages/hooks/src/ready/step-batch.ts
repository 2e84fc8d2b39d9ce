import type { SchedulerLike } from 'rxjs';

/** Collects the files that the calls of a step write, so that one check covers all of them. */
export interface StepBatch {
  /** Registers a call of this step that may write a file. */
  expect(step: number, call: string): void;
  /**
   * Reports that a call has run. The first call waits for the expected calls and returns the files of all of them.
   * Calls that arrive during the wait return an empty array, as does the first call if the signal is aborted.
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
