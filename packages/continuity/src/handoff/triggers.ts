import type { HandOffTrigger } from './events.js';
import type { HandOffSettings } from './options.js';

/** What a session remembers of its resets. */
export interface HandOffRecord {
  readonly resets: number;
  /** Compactions in a row that did not help. */
  readonly failed: number;
  /** A reset that was due when the turn ended. */
  readonly due?: HandOffTrigger | undefined;
}

export const noRecord: HandOffRecord = { resets: 0, failed: 0 };

/** Reasons for which a compaction fails although a fresh context would be no better, or without having been tried. */
const otherReasons: ReadonlySet<string> = new Set(['cancelled', 'overhead', 'archive-failed']);

/** What the notices of a turn say about its context, step by step. */
export interface TriggerState extends HandOffRecord {
  /** Something of the compaction before the next request has failed. */
  readonly hasFailed: boolean;
  readonly loopBlocks: number;
}

/** A compaction, or a part of one, has failed. */
export const afterFailure = (state: TriggerState, reason: unknown): TriggerState =>
  otherReasons.has(String(reason)) ? state : { ...state, hasFailed: true };

/** A compaction was made. It has helped if it saved enough; then what failed before it is forgotten. */
export const afterCompaction = (
  state: TriggerState,
  before: unknown,
  after: unknown,
  leastSaving: number,
): TriggerState => {
  const hasHelped = typeof before === 'number' && typeof after === 'number' && after <= before * (1 - leastSaving);
  return hasHelped ? { ...state, hasFailed: false, failed: 0 } : { ...state, hasFailed: true };
};

/** All that belongs to one compaction has been seen: a request or an error follows. */
export const settled = (state: TriggerState): TriggerState =>
  state.hasFailed ? { ...state, hasFailed: false, failed: state.failed + 1 } : state;

/** Something was refused because it goes in circles. */
export const afterLoop = (state: TriggerState): TriggerState => ({ ...state, loopBlocks: state.loopBlocks + 1 });

/** What is due now. */
export const dueTrigger = (
  state: TriggerState,
  { maxFailedCompactions, maxLoopBlocks }: Pick<HandOffSettings, 'maxFailedCompactions' | 'maxLoopBlocks'>,
): HandOffTrigger | undefined => {
  if (state.due !== undefined) return state.due;
  if (state.failed >= maxFailedCompactions) return 'compaction';
  return state.loopBlocks >= maxLoopBlocks ? 'loop' : undefined;
};

/** The record of a session, as far as it is one. */
export const recordOf = (value: unknown): HandOffRecord => {
  if (typeof value !== 'object' || value === null) return noRecord;
  const { resets, failed, due } = value as Readonly<Record<string, unknown>>;
  const count = (number: unknown): number =>
    Number.isSafeInteger(number) && (number as number) >= 0 ? (number as number) : 0;
  const triggers: readonly unknown[] = [
    'compaction',
    'overflow',
    'loop',
    'confused',
    'manual',
  ] satisfies HandOffTrigger[];
  return {
    resets: count(resets),
    failed: count(failed),
    ...(triggers.includes(due) && { due: due as HandOffTrigger }),
  };
};
