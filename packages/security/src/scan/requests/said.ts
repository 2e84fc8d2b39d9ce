import { attempt, overlap, type Said } from '../finding.js';
import { fold, type Folded } from '../text/fold.js';
import { LANGUAGES } from '../text/lexicon.js';
import { withoutMentions } from '../about/mentions.js';
import { phraseGroups } from './phrases.js';
import { regionLookup, type Region } from '../text/regions.js';
import { requestsIn } from './requests.js';
import { sentencesOf, type Sentence } from '../text/sentences.js';

/** Rules that rarely match ordinary files. */
const about: ReadonlySet<string> = new Set(['override', 'persona', 'prompt-theft', 'new-instructions', 'secrecy']);

/** Rules that ordinary front matter and comments with data do not match. */
const telling: ReadonlySet<string> = new Set([...about, 'skips-approval', 'persistence', 'regardless']);

/** Returns requests by their grammar. In hidden regions, half of the weight is an attempt. */
export const requestHits = (
  folded: Folded,
  sentences: readonly Sentence[],
  isOrdinary?: (index: number) => boolean,
): readonly Said[] =>
  requestsIn(folded, sentences, attempt / 2, isOrdinary).map(
    ({ rule, weight, isPattern, isKnown, isDiscussed, start, end }) => ({
      rule,
      isKnown,
      isStrong: weight >= attempt,
      isHiddenStrong: true,
      isTelling: weight >= attempt - 1 || telling.has(rule),
      isDiscussed,
      isSuspicious: weight >= attempt - 1 && (isPattern || about.has(rule)),
      start,
      end,
    }),
  );

/** Maximum number of characters of a phrase before and after a sentence. */
const margin = 60;

export const phraseHits = ({ text, at }: Folded, sentences: readonly Sentence[]): readonly Said[] => {
  const hits: Said[] = [];
  /** A match may be in a window and in an opening. */
  const known = new Set<string>();
  const spoken = sentences.reduce((bits, { second }) => bits | second, 0);
  for (const [language, groupOf] of phraseGroups) {
    if ((spoken & language) === 0) continue;
    const { stems, phrases } = groupOf();
    const own = sentences.filter(({ second }) => (second & language) !== 0);
    for (const { start, end } of [...windowsOf(text, own), ...openings(text, own)]) {
      const part = text.slice(start, end);
      const bits = stems.bitsIn(part);
      for (const { rule, isStrong, pattern, needs } of phrases) {
        if ((bits & needs) !== needs) continue;
        // `matchAll` would copy the pattern for each call.
        pattern.lastIndex = 0;
        for (let found = pattern.exec(part); found !== null; found = pattern.exec(part)) {
          const first = start + found.index;
          const hit = { rule, isStrong, start: at(first), end: at(first + found[0].length - 1) + 1 };
          const key = `${rule} ${isStrong} ${hit.start}`;
          if (!known.has(key)) hits.push(hit);
          known.add(key);
        }
      }
    }
  }
  return hits;
};

/** Returns the phrases and the requests of a text. */
const saidIn = (
  folded: Folded,
  sentences: readonly Sentence[],
  isOrdinary?: (index: number) => boolean,
): readonly Said[] => [...phraseHits(folded, sentences), ...requestHits(folded, sentences, isOrdinary)];

/**
 * Marks what other languages than English say only in quotations that sentences mention: the text without them does not
 * say it. In English, words tell a mention from a request.
 */
export const withMentions = (
  text: string,
  { text: said, at }: Folded,
  sentences: readonly Sentence[],
  isOrdinary: (index: number) => boolean,
): readonly Said[] => {
  const hits = saidIn({ text: said, at }, sentences, isOrdinary);
  const foreign = regionLookup(
    sentences
      .filter(({ second }) => (second & LANGUAGES) !== 0)
      .map(({ start, end }) => ({ start: at(start), end: at(end) })),
  );
  const isForeign = (hit: Said): boolean => (hit.isStrong || hit.isSuspicious === true) && foreign(hit) !== undefined;
  const blanked = hits.some(isForeign) ? withoutMentions(text) : undefined;
  if (blanked === undefined) return hits;
  const rest = fold(blanked);
  const outside = saidIn(rest, sentencesOf(blanked, rest));
  const isMentioned = (hit: Said): boolean =>
    isForeign(hit) && !outside.some((one) => one.rule === hit.rule && overlap(one, hit));
  return hits.map((hit) => (isMentioned(hit) ? { ...hit, isMentioned: true } : hit));
};

/** Returns the regions of sentences; close sentences share a region. */
const windowsOf = (text: string, sentences: readonly Sentence[]): readonly Region[] => {
  const windows: { start: number; end: number }[] = [];
  for (const sentence of sentences) {
    const last = windows.at(-1);
    const [start, end] = [Math.max(0, sentence.start - margin), Math.min(text.length, sentence.end + margin)];
    if (last !== undefined && start <= last.end) last.end = end;
    else windows.push({ start, end });
  }
  return windows;
};

/**
 * Returns sentences that a word without a full stop precedes, such as that of a title, from their beginning: a verb
 * directly behind a word counts as a statement.
 */
const openings = (text: string, sentences: readonly Sentence[]): readonly Region[] =>
  sentences
    .filter(({ start }) => /[\p{L}\p{N}] $/u.test(text.slice(Math.max(0, start - 2), start + 1)))
    .map(({ start, end }) => ({ start, end: Math.min(text.length, end + margin) }));
