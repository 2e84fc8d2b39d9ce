import type { DescribedCall } from './call.js';
import type { Fingerprint } from './outcome.js';
import { similarity } from './scan.js';

/** What has happened so far in a run. */
export interface RunCounts {
  /** Successful calls with a new outcome. */
  news: number;
  /** Those of them that changed something. */
  writes: number;
  /** Batches: the calls of one answer of the model. */
  batch: number;
}

// Outcomes of one call that differ a little count as progress this many times in a row; then they are the same.
const driftOfNumbers = { call: 8, poll: 40 } as const;
const driftOfWords = { call: 6, poll: 40 } as const;
const driftOfFailures = 3;
/** Outcomes that share this many words differ a little. */
const alikeOutcome = 0.5;

/** Shapes that are remembered for each call. */
export const maxShapes = 8;

/** What is known about calls with one key. */
export interface KnownCall {
  readonly print: Fingerprint;
  readonly isOk: boolean;
  /** Shapes of its last outcomes since something was changed. */
  readonly shapes: readonly number[];
  /** Which way the numbers in its outcomes move; `undefined` before they moved, `0` once they turned around. */
  readonly trend: 1 | -1 | 0 | undefined;
  /** How many outcomes in a row differed a little from the one before. */
  readonly drift: number;
  /** How many times in a row it had this outcome with nothing new in between. */
  readonly streak: number;
  /** How many times it was made, and how many times with the same outcome, since something was changed. */
  readonly count: number;
  readonly sames: number;
  readonly news: number;
  readonly writes: number;
  readonly batch: number;
}

/** How an outcome differs from the one before of the same call. */
export interface Change extends Pick<KnownCall, 'drift' | 'trend'> {
  /** It is the same outcome, apart from noise. */
  readonly isSame: boolean;
}

const somethingElse: Change = { isSame: false, drift: 0, trend: undefined };
/**
 * Compares an outcome with the earlier ones of the same call.
 *
 * @param writes how many calls have changed something so far
 */
export const compareOutcome = (
  call: DescribedCall,
  print: Fingerprint,
  isOk: boolean,
  known: KnownCall | undefined,
  writes: number,
): Change => {
  if (known === undefined) return somethingElse;
  const { print: before, trend, drift } = known;
  if (before.outcome === print.outcome) return { isSame: true, drift, trend };
  const isUnchanged = known.writes === writes;
  const isSameFailure = !isOk && before.failure !== undefined && before.failure === print.failure;
  if (before.shape === print.shape || isSameFailure) {
    const next = trendOf(before, print, isUnchanged ? trend : undefined);
    const isMoving = next === 1 || next === -1;
    if (isMoving && print.isRatio === true) return { isSame: false, drift: 0, trend: next };
    if (!isOk) return { isSame: true, drift, trend: next };
    if (!isUnchanged) return somethingElse;
    const isWatching = isMoving && (call.isPoll || call.isShell);
    const allowed = isWatching ? driftOfNumbers.poll : isMoving ? driftOfNumbers.call : 0;
    return { isSame: drift >= allowed, drift: drift + 1, trend: next };
  }
  if (!isUnchanged) return somethingElse;
  if (known.shapes.includes(print.shape)) return { isSame: true, drift, trend };
  if (!isOk && !known.isOk) return { isSame: drift >= driftOfFailures, drift: drift + 1, trend };
  if (isOk && known.isOk && similarity(before.words, print.words) >= alikeOutcome) {
    const allowed = call.isPoll ? driftOfWords.poll : driftOfWords.call;
    return { isSame: drift >= allowed, drift: drift + 1, trend };
  }
  return somethingElse;
};

/** Which way the numbers of two outcomes move; `0` once they have turned around or do not move. */
const trendOf = ({ level: before }: Fingerprint, { level }: Fingerprint, trend: KnownCall['trend']): 1 | -1 | 0 => {
  if (before === undefined || level === undefined || before === level) return 0;
  const next = level > before ? 1 : -1;
  return trend === undefined || trend === next ? next : 0;
};
