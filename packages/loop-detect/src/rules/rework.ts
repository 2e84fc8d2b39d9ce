import type { DescribedCall } from '../reading/call.js';
import type { LimitsOf } from '../options.js';
import type { Fingerprint } from '../reading/outcome.js';
import type { RunCounts } from './progress.js';
import { reworked, type LoopVerdict } from '../verdict.js';

/** Number of words from which on only those of the last text are stored. */
const maxWords = 1_000;
/** Characters of a text that are read. */
const maxRead = 16_000;
/** A text that is longer than all before it by this many characters has another part. */
const shortestPart = 100;
/** Share of words that a text says for the first time, below which it says nothing new. */
const newShare = 0.05;

/** Texts that replace each other, with no other call in between. */
interface Redone {
  readonly site: string;
  /** What the last call was answered with. */
  readonly print: Fingerprint;
  /** Number of batches whose text said nothing new. */
  readonly count: number;
  /** The first text, before there was a second one. */
  readonly text: string;
  /** Length of the longest text. */
  readonly longest: number;
  /** The words of all of them. */
  readonly words: ReadonlySet<string> | undefined;
  readonly batch: number;
}

/**
 * Detects calls that say the same in other words: a file that is rewritten, a message or a report that is sent again. Their
 * inputs differ in one text, which has hardly a word that the texts before it did not have, and no other call is in
 * between.
 */
export class Rework {
  readonly #counts: RunCounts;
  readonly #limits: LimitsOf;
  #redone: Redone | undefined;

  constructor(counts: RunCounts, limits: LimitsOf, redone?: Redone) {
    this.#counts = counts;
    this.#limits = limits;
    this.#redone = redone;
  }

  fork(counts: RunCounts): Rework {
    return new Rework(counts, this.#limits, this.#redone);
  }

  /** Whether a call may say what the call before it said. */
  isRedone(call: DescribedCall): boolean {
    return this.#redone !== undefined && call.statement?.site === this.#redone.site;
  }

  judge(call: DescribedCall): LoopVerdict | undefined {
    const redone = this.#redone;
    if (redone?.words === undefined || redone.count + 1 < this.#limits('rework', call.tool).block) return undefined;
    const { statement } = call;
    if (statement?.site !== redone.site || isLonger(statement.text, redone)) return undefined;
    const said = wordsIn(statement.text);
    return saysNothingNew(freshIn(said, redone.words), said) ? reworked('block', call.tool, redone.count) : undefined;
  }

  record(call: DescribedCall, print: Fingerprint): LoopVerdict | undefined {
    if (call.isNote) return undefined;
    const { statement } = call;
    if (statement === undefined || print.failure !== undefined) {
      this.#redone = undefined;
      return undefined;
    }
    const { site, text } = statement;
    const { batch } = this.#counts;
    const before = this.#redone;
    if (before?.site !== site || before.print.shape !== print.shape) {
      this.#redone = { site, print, count: 1, text, longest: text.length, words: undefined, batch };
      return undefined;
    }
    const known = before.words ?? wordsIn(before.text);
    const said = wordsIn(text);
    const fresh = freshIn(said, known);
    const isAgain = !isLonger(text, before) && saysNothingNew(fresh, said);
    const count = isAgain ? before.count + (before.batch === batch ? 0 : 1) : 1;
    const words = known.size > maxWords ? said : fresh.length === 0 ? known : new Set([...known, ...fresh]);
    this.#redone = { site, print, count, text: '', longest: Math.max(before.longest, text.length), words, batch };
    return count >= this.#limits('rework', call.tool).warn ? reworked('warn', call.tool, count) : undefined;
  }

  reset(): void {
    this.#redone = undefined;
  }
}

const wordsIn = (text: string): ReadonlySet<string> =>
  new Set(
    text
      .slice(0, maxRead)
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu),
  );

/** Whether a text has another part than those before it. */
const isLonger = (text: string, { longest }: Redone): boolean => text.length >= longest + shortestPart;

/** Returns the words that were not said before. */
const freshIn = (said: ReadonlySet<string>, known: ReadonlySet<string>): readonly string[] =>
  Array.from(said).filter((word) => !known.has(word));

const saysNothingNew = (fresh: readonly string[], said: ReadonlySet<string>): boolean =>
  fresh.length <= said.size * newShare;
