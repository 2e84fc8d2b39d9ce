import type { DescribedCall } from './call.js';
import { isSameAnswer, isSamePage, minPageWords, type Fingerprint } from './outcome.js';

/** The last answer of a tool, and the call that it answered. */
export interface Answer {
  readonly print: Fingerprint;
  readonly call: DescribedCall;
  /** Whether calls with different inputs had this answer. */
  readonly isShared: boolean;
}

/** Whether the answer was given for another input too. */
export const isOfOther = (answer: Answer | undefined, { key }: DescribedCall): boolean =>
  answer !== undefined && (answer.call.key !== key || answer.isShared);

/** Whether the call before it of this tool was answered the same way. */
export const hasAnswered = (before: Answer | undefined, call: DescribedCall, print: Fingerprint): boolean => {
  if (before === undefined) return false;
  const isShuffled = call.isLookup && before.call.key !== call.key && isSamePage(before.print, print);
  if (!isShuffled && !isSameAnswer(before.print, print)) return false;
  if (call.isPause) return true;
  const isPage = print.words.length >= minPageWords;
  // Other files and records may have the same content, as may other sites.
  const mayBeEqual = isAboutOther(before.call, call) && !(isPage && isOfSite(before.call, call));
  if (print.isEmpty !== true && mayBeEqual) return false;
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
