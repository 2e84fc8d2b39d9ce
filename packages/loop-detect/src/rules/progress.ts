import type { DescribedCall } from '../reading/call.js';
import { coursesOf, hasCourse, isEqualStep, type Course } from './courses.js';
import { hasSameParts, isSameOutcome, type Fingerprint } from '../reading/outcome.js';
import { similarity } from '../reading/word-sample.js';

/** Counters of a run. */
export interface RunCounts {
  /** Successful calls with a new outcome. */
  news: number;
  /** Successful calls with a new outcome that changed something. */
  writes: number;
  /** The same of calls that may have changed something, judging by their names. */
  acts: number;
  /** Successful input events of a screen that were only acknowledged. */
  inputs: number;
  /** Batches. A batch contains the calls of one model answer. */
  batch: number;
}

// Number of consecutive outcomes with small differences that count as progress. Further ones count as equal.
const driftOfNumbers = { call: 8, poll: 40, unevenPoll: 200 } as const;
const driftOfWords = { call: 6, shell: 12, poll: 40, growingPoll: 200 } as const;
const driftOfFailures = 3;
/** Minimum share of common words of two outcomes with a small difference. */
const alikeOutcome = 0.5;

/** A reading of a gauge has at most this many different words. Longer outputs have figures in passing. */
const maxReadingWords = 12;
/** Maximum number of figures stored per call. */
const maxFigures = 4;

/** Maximum number of shapes stored per call. */
const maxShapes = 8;

/** Maximum number of lines stored per call. */
const maxSeenLines = 64;

/** The figures of an outcome: their sum, and the hash of all of the outcome. */
interface Figures {
  readonly level: number;
  readonly outcome: number;
}

/** The state of all calls with one key. */
export interface KnownCall {
  readonly print: Fingerprint;
  readonly isOk: boolean;
  /** Shapes of its last outcomes since something was changed; `undefined` if all have the shape of the last one. */
  readonly shapes: readonly number[] | undefined;
  /** The lines of its outcomes since something was changed; `undefined` if all have the lines of the last one. */
  readonly lines: readonly number[] | undefined;
  /** Which way the numbers in its outcomes move; `undefined` before they moved, `0` once they turned around. */
  readonly trend: 1 | -1 | 0 | undefined;
  /** The last figures before the present one, latest first, if all had the same words. */
  readonly figures?: readonly Figures[] | undefined;
  /** How each number has moved, if the outcomes have several. */
  readonly courses?: readonly Course[] | undefined;
  /** Whether its figures went up and down, so that it may be read any number of times. */
  readonly isGauge?: boolean;
  /** Number of consecutive outcomes with a small difference to the previous one. */
  readonly drift: number;
  /** Number of consecutive equal outcomes with no new outcome in between. */
  readonly streak: number;
  /** Whether one of them reports something that is running, or measured other figures than the one before it. */
  readonly isWatched: boolean;
  /** Number of calls, and of calls with the same outcome, since the last change and the last act of another call. */
  readonly count: number;
  readonly sames: number;
  readonly news: number;
  readonly writes: number;
  readonly acts: number;
  readonly inputs: number;
  readonly batch: number;
}

/** The difference between an outcome and the previous one of the same call. */
export interface Change extends Pick<KnownCall, 'courses' | 'drift' | 'trend' | 'figures'> {
  /** Whether the outcomes are equal apart from volatile parts. */
  readonly isSame: boolean;
  /** Whether it is a success with other figures, as of a benchmark that is repeated on purpose. */
  readonly isMeasured?: boolean;
  /** Whether it is another figure of a gauge. */
  readonly isReading?: boolean;
}

const somethingElse: Change = { isSame: false, drift: 0, trend: undefined };
/**
 * Compares an outcome with the earlier ones of the same call.
 *
 * @param writes number of calls that have changed something so far
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
  if (isSameOutcome(before, print) || (call.isLookup && !call.isPoll && hasSameParts(before, print))) {
    return { isSame: true, drift, trend, figures: known.figures, courses: known.courses };
  }
  // What a call changes again is compared with its own last outcome, whatever else was changed.
  const isUnchanged = known.writes === writes || (isOk && call.writes());
  const isPoll = call.isPoll || print.isRunning === true;
  const isSameFailure = !isOk && before.failure !== undefined && before.failure === print.failure;
  if (before.shape === print.shape || isSameFailure) {
    const next = trendOf(before, print, isUnchanged ? trend : undefined);
    const isMoving = next === 1 || next === -1;
    const figures = addFigure(known);
    const pace = paceOf(print, figures);
    const isCounter = pace === 'even';
    if (isMoving && print.isRatio === true) {
      return {
        isSame: isCounter && drift >= driftOfNumbers.unevenPoll,
        drift: isCounter ? drift + 1 : 0,
        trend: next,
        figures,
      };
    }
    if (!isOk) return { isSame: true, drift, trend: next };
    if (!isUnchanged) return somethingElse;
    if (!isMoving && isReading(call, print, figures)) {
      return { isSame: false, drift: 0, trend: next, figures, isReading: true };
    }
    // What is worked off ends. A figure that rises, or that falls by one, may count the calls.
    const isWorkedOff = next === -1 && (before.level ?? 0) - (print.level ?? 0) !== 1;
    // A count of the calls moves by equal steps.
    if (isMoving && pace === 'uneven' && (isWorkedOff || isReading(call, print, figures))) {
      return { isSame: drift >= driftOfNumbers.unevenPoll, drift: drift + 1, trend: next, figures, isReading: true };
    }
    const courses = coursesOf(before.numbers, print.numbers, known.courses);
    const isAdvancing = isMoving || hasCourse(courses, known.courses);
    const isWatching = isWorkedOff || (isAdvancing && (isPoll || call.isShell || call.isLookup));
    const ofPoll = isPoll && !isCounter ? driftOfNumbers.unevenPoll : driftOfNumbers.poll;
    const ofCall = isCounter ? driftOfNumbers.call : driftOfNumbers.poll;
    const allowed = isWatching ? ofPoll : isAdvancing ? ofCall : 0;
    return { isSame: drift >= allowed, drift: drift + 1, trend: next, figures, courses, isMeasured: !isAdvancing };
  }
  if (!isUnchanged) return somethingElse;
  if (known.shapes?.includes(print.shape) === true) {
    // A flaky test is run until it fails again.
    return { isSame: true, drift, trend, isMeasured: call.isShell || isOk !== known.isOk };
  }
  // A log that grows by lines like those before, or of which another part is shown.
  if (isOk && hasSeenLines(known, print)) return { isSame: true, drift, trend, isMeasured: true };
  if (!isOk && !known.isOk) return { isSame: drift >= driftOfFailures, drift: drift + 1, trend };
  if (isOk && known.isOk && similarity(before.words, print.words) >= alikeOutcome) {
    const next = trendOf(before, print, trend);
    if (print.isRatio === true && before.isRatio === true && next !== 0) {
      return { isSame: false, drift: 0, trend: next, figures: addFigure(known) };
    }
    const isGrowing = countOf(print) > countOf(before);
    const ofPoll = isPoll && isGrowing ? driftOfWords.growingPoll : driftOfWords.poll;
    const allowed = isPoll || isGrowing ? ofPoll : call.isShell ? driftOfWords.shell : driftOfWords.call;
    return { isSame: drift >= allowed, drift: drift + 1, trend };
  }
  return somethingElse;
};

/** Whether an outcome has the shape of an earlier one since something was changed. */
export const hasShape = ({ print, shapes }: KnownCall, { shape }: Fingerprint): boolean =>
  print.shape === shape || shapes?.includes(shape) === true;

/** Adds the shape of an outcome to the shapes of the earlier outcomes of the call. */
export const addShape = ({ print, shapes }: KnownCall, next: Fingerprint): KnownCall['shapes'] => {
  if (isSameOutcome(print, next)) return shapes;
  const { shape } = next;
  if (shape === print.shape || shapes?.includes(shape) === true) return shapes;
  return [shape, ...(shapes ?? [print.shape]).slice(0, maxShapes - 1)];
};

/** Whether each line of an outcome was in an earlier outcome of the call. */
const hasSeenLines = ({ print: { lines: last = [] }, lines: seen = last }: KnownCall, print: Fingerprint): boolean =>
  print.lines !== undefined && print.lines.length > 0 && print.lines.every((line) => seen.includes(line));

/** Returns the number of different lines. */
const countOf = ({ lines = [], lineCount = lines.length }: Fingerprint): number => lineCount;

/** Adds the lines of an outcome to the lines of the earlier outcomes of the call. */
export const addLines = ({ print, lines }: KnownCall, next: Fingerprint): KnownCall['lines'] => {
  if (isSameOutcome(print, next) || next.lines === undefined) return lines;
  const seen = lines ?? print.lines ?? [];
  const added = next.lines.filter((line) => !seen.includes(line));
  return added.length === 0 ? seen : [...added, ...seen].slice(0, maxSeenLines);
};

const addFigure = ({ print: { level, outcome }, figures = [] }: KnownCall): readonly Figures[] =>
  level === undefined ? figures : [{ level, outcome }, ...figures.slice(0, maxFigures - 1)];

/**
 * Returns whether the figures of the last outcomes moved by equal steps, as a count of the calls does; `undefined` before
 * they moved twice.
 */
const paceOf = (print: Fingerprint, figures: readonly Figures[]): 'even' | 'uneven' | undefined => {
  const levels = [print.level, ...figures.map(({ level }) => level)];
  const steps = levels.slice(1).map((level = 0, index) => (levels[index] ?? level) - level);
  const [last] = steps;
  if (last === undefined || steps.length < 2) return undefined;
  return steps.every((step) => isEqualStep(step, last)) ? 'even' : 'uneven';
};

/**
 * Whether an outcome is another figure of a sensor, a queue or a price, which is new whatever its direction. Figures
 * that alternate between a few values are a state.
 */
const isReading = (call: DescribedCall, print: Fingerprint, figures: readonly Figures[]): boolean =>
  print.level !== undefined &&
  !figures.some(({ level, outcome }) => (print.isRatio === true ? level === print.level : outcome === print.outcome)) &&
  print.isEmpty !== true &&
  print.words.length <= maxReadingWords &&
  (call.isGauge || (print.isRatio === true && call.isPoll));

/** Returns the direction in which the numbers of two outcomes move; `0` after a reversal or without a move. */
const trendOf = ({ level: before }: Fingerprint, { level }: Fingerprint, trend: KnownCall['trend']): 1 | -1 | 0 => {
  if (before === undefined || level === undefined || before === level) return 0;
  const next = level > before ? 1 : -1;
  return trend === undefined || trend === next ? next : 0;
};
