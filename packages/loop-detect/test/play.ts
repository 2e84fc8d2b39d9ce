import type { ToolEffect, ToolStatus } from '@h/turn';
import { createLoopDetector, type LoopOptions } from '../src/index.js';
import type { LoopDetectorName, LoopLevel } from '../src/verdict.js';

/** A call and its outcome. */
export interface Move {
  readonly name: string;
  readonly input: unknown;
  readonly status: ToolStatus;
  readonly output: unknown;
  readonly effect?: ToolEffect;
}

/** The calls of one model answer. */
export type Batch = readonly Move[];

export interface Alarm {
  /** Number of the call, from 1. */
  readonly call: number;
  readonly level: LoopLevel;
  readonly detector: LoopDetectorName | undefined;
}

export const ok = (name: string, input: unknown, output: unknown = 'Done.'): Move => ({
  name,
  input,
  status: 'ok',
  output,
});
export const failed = (name: string, input: unknown, output: unknown): Move => ({
  name,
  input,
  status: 'failed',
  output,
});

/** Returns batches with one move each. */
export const oneByOne = (moves: readonly Move[]): readonly Batch[] => moves.map((move) => [move]);

/** Creates N rounds of moves. */
export const rounds = (count: number, make: (round: number) => readonly Move[]): readonly Batch[] =>
  oneByOne(Array.from({ length: count }, (_, round) => make(round)).flat());

/**
 * Plays batches against a detector as a harness does: a blocked call is denied together with its batch, and the model
 * continues regardless. Ends with the last batch, or when the detector breaks the run.
 */
export const play = (batches: readonly Batch[], options: LoopOptions = {}): readonly Alarm[] => {
  const detector = createLoopDetector(options);
  const alarms: Alarm[] = [];
  let call = 0;
  for (const batch of batches) {
    const calls = batch.map(({ name, input, effect }, index) => ({
      id: `${call + index + 1}`,
      name,
      input,
      ...(effect && { effect }),
    }));
    const before = calls.map((asked) => detector.judge(asked));
    const isRefused = before.some(({ level }) => level === 'block' || level === 'break');
    for (const [index, { status, output }] of batch.entries()) {
      call += 1;
      const asked = calls[index];
      const verdict = before[index];
      if (asked === undefined || verdict === undefined) continue;
      if (verdict.level !== 'ok') alarms.push({ call, level: verdict.level, detector: verdict.detector });
      if (isRefused && verdict.level === 'ok') continue;
      const after = detector.record(
        asked,
        isRefused ? { status: 'denied', output: verdict.message } : { status, output },
      );
      if (after.level !== 'ok') alarms.push({ call, level: after.level, detector: after.detector });
    }
    if (alarms.some(({ level }) => level === 'break')) break;
  }
  return alarms;
};

/** Returns the number of the first call with an alarm of this level. */
export const firstOf = (alarms: readonly Alarm[], level: LoopLevel): number | undefined =>
  alarms.find((alarm) => alarm.level === level)?.call;
