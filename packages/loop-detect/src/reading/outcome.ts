import type { ToolStatus } from '@h/turn';
import type { LoopCall, LoopOutcome } from './call.js';
import { canonicalText } from './canonical.js';
import { withoutPrinted } from './command-text.js';
import { failureText, kindOf } from './failure-text.js';
import { selectFrom } from './key.js';
import { printedOf, type Printed } from './printed.js';
import { messageOf, reportsError, reportsHeld, reportsMiss, reportsNothing, reportsRunning } from './reports.js';
import { maxRead, scan, scanStart, type Scan } from './scan.js';
import { shellLineOf } from './shell.js';
import { shownText } from './terminal.js';
import { similarity } from './word-sample.js';

/** A summary of an outcome. It is stored with the result and suffices to judge the outcome after a restart. */
export type Fingerprint = {
  /** Hash of status and output without what is volatile. */
  readonly outcome: number;
  /** The same with all numbers, hashes and ids masked. */
  readonly shape: number;
  /** Hash of the parts of the output in any order. */
  readonly bag?: number | undefined;
  /** Sample of the words of the output, or of what a failure says. */
  readonly words: readonly number[];
  /** Hashes of the different lines of the output without what is volatile; if they are many, one hash of all. */
  readonly lines?: readonly number[] | undefined;
  /** Number of the different lines, if they are many. */
  readonly lineCount?: number | undefined;
  /** Sum of the numbers in the output, or of its ratios: whether it rises tells progress from noise. */
  readonly level?: number | undefined;
  readonly isRatio?: boolean | undefined;
  /** The numbers that `level` is the sum of, if there are several. */
  readonly numbers?: readonly number[] | undefined;
  /** Whether the output reports that nothing was found. */
  readonly isEmpty?: boolean | undefined;
  /** Whether it reports so in the words of a search. */
  readonly isMiss?: boolean | undefined;
  /** Whether the output reports that something is still running. */
  readonly isRunning?: boolean | undefined;
  /**
   * Hash of what a failure says without what it repeats of the input. Absent for successes and for failures that say
   * nothing.
   */
  readonly failure?: number | undefined;
  /** What kind of failure it is, in one word. */
  readonly kind?: string | undefined;
};

/** Statuses of calls that did not run or whose outcome is unknown. */
export const neutralStatuses: ReadonlySet<ToolStatus> = new Set(['skipped', 'cancelled', 'interrupted']);
const successStatuses: ReadonlySet<ToolStatus> = new Set(['ok', 'stored']);

/** Whether an outcome is a success, by its status and its message. */
export const isSuccess = (status: ToolStatus, { failure }: Fingerprint): boolean =>
  successStatuses.has(status) && failure === undefined;

/** @param select selects the significant part of the output, if the options define it */
export const fingerprintOf = (
  call: LoopCall,
  outcome: LoopOutcome,
  select?: (output: unknown) => unknown,
): Fingerprint => new PendingFingerprint(call, outcome, select).finish();

/** What an outcome says besides its text. */
type Traits = Pick<Fingerprint, 'isEmpty' | 'isMiss' | 'isRunning' | 'failure' | 'kind'> & {
  readonly failureWords?: readonly number[];
};

/**
 * A fingerprint whose output is scanned when it is compared: most outcomes of a run are not. It holds the output until
 * then.
 */
export class PendingFingerprint implements Fingerprint {
  readonly #status: ToolStatus;
  readonly #traits: Traits;
  readonly #length: number;
  #text: string;
  #start: number | undefined;
  #scan: Scan | undefined;

  constructor(call: LoopCall, { status, output }: LoopOutcome, select?: (output: unknown) => unknown) {
    const counts = select === undefined ? output : selectFrom(select, output);
    const text = shownText(textOf(counts));
    const readable = shownText(messageOf(counts, text));
    const line = shellLineOf(call.name, call.input);
    const printed = line === undefined ? undefined : printedOf(counts, readable);
    const own = printed === undefined ? text : withoutPrinted(line ?? '', printedText(printed));
    this.#text = withoutEcho(call.input, own);
    this.#length = this.#text.length;
    this.#status = status;
    this.#traits = traitsOf(call, status, {
      output: counts,
      text: this.#text,
      message: printed?.text ?? readable,
      printed,
    });
  }

  /** Number of characters that it holds. */
  get chars(): number {
    return this.#text.length;
  }

  /** Whether both hold their output, and it is the same. */
  hasOutputOf(other: PendingFingerprint): boolean {
    return (
      this.#scan === undefined &&
      other.#scan === undefined &&
      this.#status === other.#status &&
      this.#text === other.#text
    );
  }

  /** Whether both begin alike. Most outputs do not, and are not scanned. */
  beginsLike(other: PendingFingerprint): boolean {
    return this.#begin === other.#begin;
  }

  /** Whether another one may have the same parts in another order. */
  mayHavePartsOf(other: PendingFingerprint): boolean {
    return this.#length <= maxRead && other.#length <= maxRead;
  }

  get outcome(): number {
    return this.#scanned.exact;
  }

  get shape(): number {
    return this.#scanned.shape;
  }

  get bag(): number | undefined {
    return this.#scanned.bag;
  }

  get words(): readonly number[] {
    return this.#traits.failureWords ?? this.#scanned.words;
  }

  get lines(): readonly number[] {
    return this.#scanned.lines;
  }

  get lineCount(): number | undefined {
    return this.#scanned.lineCount;
  }

  get level(): number | undefined {
    return this.#scanned.level;
  }

  get isRatio(): boolean | undefined {
    return this.#scanned.isRatio;
  }

  get numbers(): readonly number[] | undefined {
    return this.#scanned.numbers;
  }

  get isEmpty(): boolean | undefined {
    return this.#traits.isEmpty;
  }

  get isMiss(): boolean | undefined {
    return this.#traits.isMiss;
  }

  get isRunning(): boolean | undefined {
    return this.#traits.isRunning;
  }

  get failure(): number | undefined {
    return this.#traits.failure;
  }

  get kind(): string | undefined {
    return this.#traits.kind;
  }

  /** Returns the fingerprint as data, which can be stored, and no longer holds the output. */
  finish(): Fingerprint {
    const { exact, shape, bag, words, lines, lineCount, level, isRatio, numbers } = this.#scanned;
    const { failureWords, ...traits } = this.#traits;
    return {
      outcome: exact,
      shape,
      words: failureWords ?? words,
      lines,
      ...(lineCount !== undefined && { lineCount }),
      ...(bag !== undefined && { bag }),
      ...(level !== undefined && { level }),
      ...(isRatio === true && { isRatio }),
      ...(numbers !== undefined && { numbers }),
      ...traits,
    };
  }

  get #begin(): number {
    return (this.#start ??= this.#scan?.start ?? scanStart(this.#text, this.#status));
  }

  get #scanned(): Scan {
    this.#scan ??= scan(this.#text, this.#status);
    this.#text = '';
    return this.#scan;
  }
}

/** Returns a fingerprint as data, which can be stored. */
export const finished = (print: Fingerprint): Fingerprint =>
  print instanceof PendingFingerprint ? print.finish() : print;

/** Characters of outputs that are held because they were not compared yet. Most are those of the history. */
const maxHeldChars = 1_000_000;

/** Fingerprints that may hold outputs. When they hold too much, the oldest are finished. */
export class HeldFingerprints {
  readonly #chars = new Map<PendingFingerprint, number>();
  #sum = 0;

  add(print: PendingFingerprint): PendingFingerprint {
    // A short output takes memory too.
    const chars = print.chars + 100;
    this.#chars.set(print, chars);
    this.#sum += chars;
    if (this.#sum > maxHeldChars) this.#finishOldest();
    return print;
  }

  #finishOldest(): void {
    for (const [oldest, released] of this.#chars) {
      if (this.#sum <= maxHeldChars) return;
      oldest.finish();
      this.#chars.delete(oldest);
      this.#sum -= released;
    }
  }

  clear(): void {
    this.#chars.clear();
    this.#sum = 0;
  }
}

/** An output in the forms in which it is read. */
interface ReadOutput {
  readonly output: unknown;
  readonly text: string;
  readonly message: string;
  /** What a command printed; absent for other tools. */
  readonly printed: Printed | undefined;
}

const printedText = ({ text, exitCode }: Printed): string =>
  exitCode === undefined || exitCode === 0 ? text : `${text}\nExit code ${exitCode}`;

const traitsOf = (call: LoopCall, status: ToolStatus, { output, text, message, printed }: ReadOutput): Traits => {
  if (neutralStatuses.has(status) || status === 'denied') return {};
  const hasFailed = (printed?.exitCode ?? 0) !== 0 || !successStatuses.has(status);
  if (!hasFailed && !reportsError(call, output, message)) {
    const isEmpty = printed === undefined ? reportsNothing(output, text) : reportsNothing(message, message);
    const isMiss = isEmpty && reportsMiss(printed === undefined ? text : message);
    return { ...(isEmpty && { isEmpty }), ...(isMiss && { isMiss }), ...(reportsRunning(text) && { isRunning: true }) };
  }
  const failure = failureText(call, message);
  if (failure === undefined) return printed === undefined ? {} : { isEmpty: true };
  const { words, shape } = scan(failure);
  const isRunning = reportsHeld(failure);
  return { failureWords: words, failure: shape, kind: kindOf(failure, status), ...(isRunning && { isRunning }) };
};

/** Members of an input that say which part of a list to return. */
const placeMember = /^(?:page|offset|cursor|skip|start|after|from)\w*$/i;
/** Members of an input that say what to search for. */
const searchMember = /^(?:q|query|pattern|search\w*|keywords?|terms?|question)$/i;
const shortestSearch = 4;
/** Places from here on are removed from sentences too. */
const farPlace = 100;
/** Maximum length of a sentence about a place. */
const maxNotice = 400;

const isInteger = (value: unknown): value is number => Number.isSafeInteger(value);

/** Removes what a result repeats of a search: the place in a list, as in `"page":7`, and the words to search for. */
const withoutEcho = (input: unknown, text: string): string => {
  if (typeof input !== 'object' || input === null) return text;
  let rest = text;
  for (const [member, value] of Object.entries(input)) {
    if (typeof value === 'string' && value.length >= shortestSearch && searchMember.test(member)) {
      rest = rest.replaceAll(value, '');
    }
    if (!isInteger(value) || !placeMember.test(member)) continue;
    rest = rest.replaceAll(new RegExp(`"${member}": ?${String(value)}(?!\\d)`, 'g'), '');
    if (value >= farPlace && rest.length <= maxNotice) {
      rest = rest.replaceAll(new RegExp(String.raw`(?<![\w.])${value}(?![\w.])`, 'g'), '');
    }
  }
  return rest;
};

/** Whether two outcomes give the same answer; all empty answers are one. */
export const isSameAnswer = (one: Fingerprint, other: Fingerprint): boolean => {
  if (one.isEmpty === true || other.isEmpty === true) return one.isEmpty === other.isEmpty;
  return isSameOutcome(one, other);
};

/** Number of different words from which an outcome is a page and not an acknowledgement. */
export const minPageWords = 10;

/** Whether two outcomes have the same parts in any order. Outputs that cannot are not scanned. */
export const isSamePage = (one: Fingerprint, other: Fingerprint): boolean =>
  (!(one instanceof PendingFingerprint && other instanceof PendingFingerprint) || one.mayHavePartsOf(other)) &&
  one.words.length >= minPageWords &&
  hasSameParts(one, other);

/** Whether two outcomes have the same words and numbers in any order. */
export const hasSameParts = (one: Fingerprint, other: Fingerprint): boolean =>
  one.bag !== undefined && one.bag === other.bag;

/** Whether two outcomes are equal apart from volatile parts. Outputs that are the same, or that cannot be, are not scanned. */
export const isSameOutcome = (one: Fingerprint, other: Fingerprint): boolean => {
  if (!(one instanceof PendingFingerprint && other instanceof PendingFingerprint)) return one.outcome === other.outcome;
  return one.beginsLike(other) && (one.hasOutputOf(other) || one.outcome === other.outcome);
};

/** Returns the text of an output, which is an output as in `tool.result` or any value. */
const textOf = (output: unknown): string => {
  if (typeof output === 'string') return output;
  if (typeof output === 'object' && output !== null && 'value' in output && typeof output.value === 'string') {
    return output.value;
  }
  return canonicalText(output, (text) => `"${text}"`);
};

/** Minimum share of common words of two related failures. */
const sameFailure = 0.6;
const relatedFailure = 0.35;

/** Compares two failures of one tool. */
export const compareFailures = (one: Fingerprint, two: Fingerprint, isShell: boolean): 'same' | 'related' | 'other' => {
  if (one.failure === two.failure) return 'same';
  const share = similarity(one.words, two.words);
  // Outputs of different commands share a preamble, so common words are no evidence.
  if (!isShell && share >= sameFailure) return 'same';
  return (one.kind === two.kind && one.kind !== 'other') || share >= relatedFailure ? 'related' : 'other';
};
