import type { DescribedCall } from '../reading/call.js';
import { isSameAnswer, isSamePage, minPageWords, type Fingerprint } from '../reading/outcome.js';

/** The last answer of a tool, and the call that it answered. */
export interface Answer {
  readonly print: Fingerprint;
  readonly call: DescribedCall;
  /** Whether calls with different inputs had this answer. */
  readonly isShared: boolean;
  /** Number of changes of the run so far, and of pages that the tool has returned since the last one. */
  readonly writes: number;
  readonly pages: number;
  /** The lines and records of those pages, latest first. */
  readonly lines: readonly number[];
}

/** Number of pages in which the lines begin to count. Reading them takes time, and most runs have fewer. */
const minPages = 5;
/** Maximum number of lines stored per tool. */
const maxLines = 256;

/** Returns the answer to store. Pages about other files and records are not compared, and neither are those of writers. */
export const nextAnswer = (
  before: Answer | undefined,
  call: DescribedCall,
  print: Fingerprint,
  { isAnswered, isSame, writes }: { readonly isAnswered: boolean; readonly isSame: boolean; readonly writes: number },
): Answer => {
  const isShared = isAnswered && isOfOther(before, call);
  const { pages, lines } = isComparable(call)
    ? pagesWith(before, print, { isKnown: isSame || isAnswered, writes })
    : none;
  return { print, call, isShared, writes, pages, lines };
};

type Pages = Pick<Answer, 'pages' | 'lines'>;
const none: Pages = { pages: 0, lines: [] };

/** @param isKnown whether the page is one of those before; its parts are not read, because that takes time */
const pagesWith = (
  before: Answer | undefined,
  print: Fingerprint,
  { isKnown, writes }: { readonly isKnown: boolean; readonly writes: number },
): Pages => {
  const isFirst = before?.writes !== writes;
  if (!isFirst && isKnown) return before;
  const pages = (isFirst ? 0 : before.pages) + 1;
  if (pages < minPages) return { pages, lines: [] };
  const seen = isFirst ? [] : before.pages < minPages ? (before.print.lines ?? []) : before.lines;
  const added = (print.lines ?? []).filter((line) => !seen.includes(line));
  return { pages, lines: added.length === 0 ? seen : [...added, ...seen].slice(0, maxLines) };
};

const isComparable = (call: DescribedCall): boolean =>
  (call.isLookup || call.isPoll) && (call.subject === undefined || siteOf(call.subject) !== undefined);

/**
 * Whether each line and record of a page was on earlier pages of the tool, so that another input found nothing new.
 *
 * @param isNewInput whether no call had this input before
 */
export const isKnownPage = (
  before: Answer | undefined,
  call: DescribedCall,
  print: Fingerprint,
  { isNewInput, writes }: { readonly isNewInput: boolean; readonly writes: number },
): boolean => {
  if (before === undefined || before.writes !== writes || before.pages < minPages || !isComparable(call)) return false;
  if (call.isPoll ? !isNewInput || print.isRunning === true : !call.isLookup) return false;
  const { lines = [] } = print;
  if (print.words.length < minPageWords || lines.length === 0) return false;
  if (isAboutOther(before.call, call) && !isOfSite(before.call, call)) return false;
  return lines.every((line) => before.lines.includes(line));
};

/** Whether the answer was given for another input too. */
export const isOfOther = (answer: Answer | undefined, { key }: DescribedCall): boolean =>
  answer !== undefined && (answer.call.key !== key || answer.isShared);

/** Whether the call before it of this tool was answered the same way. */
export const hasAnswered = (before: Answer | undefined, call: DescribedCall, print: Fingerprint): boolean => {
  if (before === undefined) return false;
  const isOther = isAboutOther(before.call, call);
  // Other files and records may have the same content, as may other sites.
  if (isOther && print.isEmpty !== true && !call.isPause && !isOfSite(before.call, call)) return false;
  const isShuffled = call.isLookup && before.call.key !== call.key && isSamePage(before.print, print);
  if (!isShuffled && !isSameAnswer(before.print, print)) return false;
  if (call.isPause) return true;
  const isPage = print.words.length >= minPageWords;
  if (isOther && print.isEmpty !== true && !isPage) return false;
  // The same page after another input. An acknowledgement of a few words is equal for all inputs.
  const isPageAgain = isPage && isOfOther(before, call);
  if (call.isPoll) return isPageAgain && !call.writes();
  if (call.isLookup || (print.isMiss === true && !call.writes())) return true;
  const isAsked = isPageAgain && call.hasSentence && !call.isShell && !call.writes();
  return isAsked && before.call.withoutSentences === call.withoutSentences;
};

const isAboutOther = (before: DescribedCall, { subject }: DescribedCall): boolean =>
  subject !== undefined && before.subject !== subject;

/** Whether both calls are about pages of the same site. */
const isOfSite = (before: DescribedCall, call: DescribedCall): boolean => {
  const site = siteOf(call.subject);
  return site !== undefined && site === siteOf(before.subject);
};

const siteOf = (subject = ''): string | undefined => /^https?:\/\/[^/?#]{1,300}/i.exec(subject)?.[0];
