import type { LoopCall, LoopOutcome } from './call.js';
import { checkLoopOptions } from './check-options.js';
import { fingerprintOf } from './fingerprint.js';
import { Monitor } from './monitor.js';
import type { LoopOptions } from './options.js';
import type { LoopVerdict } from './verdict.js';

/** Finds calls that lead nowhere. */
export interface LoopDetector {
  /**
   * Judges a call before it runs: `block` says that it should not, `break` that the run should end. It may be asked as often as
   * you like. Calls that are judged one after the other, before the next `after`, are taken for one batch.
   */
  before(call: LoopCall): LoopVerdict;
  /**
   * Learns how a call ended and judges it: `warn` is for the model to read with the result, `break` says that the run should end.
   * A call that was not run because of `before` is told here too, with the status `denied`.
   */
  after(call: LoopCall, outcome: LoopOutcome): LoopVerdict;
  /** Forgets everything: what the user says next is a new beginning. */
  reset(): void;
}

/**
 * Makes a detector for one run of calls, free of RxJS and of this project's loop.
 *
 * Count alone only warns. A call is blocked where the outcomes say that nothing comes of it: the same outcome, volatile parts
 * apart, with no change and nothing new in between. Time and memory are the same for the ten-thousandth call as for the tenth.
 *
 * @throws InvalidOptionError `invalid-option` that names the option, its value and what it takes
 *
 * @example
 * ```ts
 * const loops = createLoopDetector();
 * const call = { id: '1', name: 'bash', input: { command: 'npm test' } };
 * if (loops.before(call).level === 'ok') loops.after(call, { status: 'failed', output: '1 failing' });
 * ```
 */
export const createLoopDetector = (options: LoopOptions = {}): LoopDetector => {
  checkLoopOptions('createLoopDetector', options);
  const monitor = new Monitor(options);
  let isAsking = false;
  let asked = new Set<string>();

  const ask = (id: string): void => {
    if (!isAsking) {
      monitor.beginBatch();
      asked = new Set();
    }
    isAsking = true;
    asked.add(id);
  };

  return {
    before: (call) => {
      ask(call.id);
      return monitor.judge(monitor.describe(call));
    },
    after: (call, outcome) => {
      if (!asked.has(call.id)) {
        isAsking = false;
        ask(call.id);
      }
      isAsking = false;
      return monitor.learn(
        monitor.describe(call),
        outcome.status,
        fingerprintOf(call, outcome, selectOf(options, call.name)),
      );
    },
    reset: () => {
      monitor.reset();
      asked = new Set();
      isAsking = false;
    },
  };
};

/** What of a tool's output counts, where the options say so. */
export const selectOf = ({ tools = {} }: LoopOptions, name: string): ((output: unknown) => unknown) | undefined => {
  const own = Object.hasOwn(tools, name) ? tools[name] : undefined;
  return own === false ? undefined : own?.outcomeOf;
};
