import type { EndSignal } from './exit-code.js';

/** Where signals come from: the process. */
export interface SignalSource {
  on(signal: EndSignal, listener: (signal: EndSignal) => void): unknown;
  off(signal: EndSignal, listener: (signal: EndSignal) => void): unknown;
}

/** SIGPIPE is not among them: Node.js ignores it until somebody listens, and would not any more afterwards. */
const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const satisfies readonly EndSignal[];

/**
 * Calls back for every signal that asks the process to end.
 *
 * @returns how to stop listening
 */
export const onEndSignal = (source: SignalSource, listener: (signal: EndSignal) => void): (() => void) => {
  for (const signal of signals) source.on(signal, listener);
  return () => {
    for (const signal of signals) source.off(signal, listener);
  };
};
