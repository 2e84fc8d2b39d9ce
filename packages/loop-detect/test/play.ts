import type { ToolEffect, ToolStatus } from '@h/turn';
import { createLoopDetector, type LoopOptions } from '../src/index.js';
import type { LoopDetectorName, LoopLevel } from '../src/verdict.js';

/** A call and how it ends. */
export interface Move {
  readonly name: string;
  readonly input: unknown;
  readonly status: ToolStatus;
  readonly output: unknown;
  readonly effect?: ToolEffect;
}

/** What one answer of the model asks for. */
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

/** The moves, one an answer. */
export const oneByOne = (moves: readonly Move[]): readonly Batch[] => moves.map((move) => [move]);

/** Repeats the moves, with the number of the round. */
export const rounds = (count: number, make: (round: number) => readonly Move[]): readonly Batch[] =>
  oneByOne(Array.from({ length: count }, (_, round) => make(round)).flat());

/**
 * Plays batches against a detector as a harness would: what is blocked is refused, with all of its batch, and a model that
 * hears of it goes on all the same. It ends with the batches, or when the detector says so.
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

/** The number of the first call with an alarm of this level. */
export const firstOf = (alarms: readonly Alarm[], level: LoopLevel): number | undefined =>
  alarms.find((alarm) => alarm.level === level)?.call;
