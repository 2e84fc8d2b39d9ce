import type { Hit, Said } from './finding.js';
import type { Folded } from './fold.js';
import type { HiddenRegion } from './hiding.js';
import { languageBit, LANGUAGES } from './lexicon.js';
import { passagesOf } from './passages.js';
import { regionLookup, type Region } from './regions.js';
import { isDiscussed } from './requests.js';
import type { Sentence } from './sentences.js';
import { wordingScorer } from './wording.js';

/**
 * Scores of a passage at which its wording is malicious, suspicious, or malicious in a hidden region, and below which
 * it is ordinary. `training/train.mjs` prints the share of ordinary files at each score.
 */
const wordingLevels = { malicious: 2.1, suspicious: 0.75, hidden: -0.3, ordinary: -3, foreign: -2.6 };

/** Languages of the training data, besides English. */
const scoredLanguages = ['de', 'es', 'fr', 'pt', 'it', 'ru', 'zh', 'ja', 'ko'].reduce(
  (bits, name) => bits | languageBit(name),
  0,
);

/** A passage in the original text, and the score of its wording. */
export interface Passage extends Region {
  readonly score: number;
  /** Whether the passage contains words of a language other than English. */
  readonly isForeign: boolean;
  /** Whether the passage contains words of a language that the wording is not scored for. */
  readonly isUnscored: boolean;
  /** Its place in the folded text. */
  readonly foldedStart: number;
  readonly foldedEnd: number;
}

/** Scores each passage of a text. */
export const wordedPassages = (folded: Folded, sentences: readonly Sentence[]): readonly Passage[] => {
  const wordingOf = wordingScorer();
  return passagesOf(folded, sentences).map(({ start, end, second }) => ({
    score: wordingOf(folded.text.slice(start, end)),
    foldedStart: start,
    foldedEnd: end,
    isForeign: (second & LANGUAGES) !== 0,
    isUnscored: (second & LANGUAGES & ~scoredLanguages) !== 0,
    start: folded.at(start),
    end: folded.at(end - 1) + 1,
  }));
};

/** Returns passages that are worded like requests that redirect a model. */
export const wordingHits = ({ text }: Folded, passages: readonly Passage[]): readonly Said[] =>
  passages
    .filter(({ score }) => score >= wordingLevels.hidden)
    .map(({ score, foldedStart, foldedEnd, start, end }) => ({
      rule: 'wording',
      isStrong: score >= wordingLevels.malicious,
      isHiddenStrong: true,
      isTelling: score >= wordingLevels.malicious,
      isDiscussed: isDiscussed(text.slice(foldedStart, foldedEnd)),
      isSuspicious: score >= wordingLevels.suspicious,
      start,
      end,
    }));

/** Rules for requests in words. */
const worded: ReadonlySet<string> = new Set(
  'override diversion prompt-theft persona authority secrecy theft steering sabotage skips-approval persistence regardless new-instructions forged-turn'.split(
    ' ',
  ),
);

/**
 * Lowers requests in passages with an ordinary wording to notes: suspicious ones, and in languages other than English,
 * whose stems match more ordinary words, also malicious ones that are visible.
 */
export const confirmed = (
  hits: readonly Hit[],
  passages: readonly Passage[],
  hidden: (place: Region) => HiddenRegion | undefined,
): readonly Hit[] => {
  const other = regionLookup(
    passages.filter(
      ({ score, isForeign, isUnscored }) =>
        isUnscored || score >= (isForeign ? wordingLevels.foreign : wordingLevels.ordinary),
    ),
  );
  const foreign = regionLookup(passages.filter(({ isForeign }) => isForeign));
  const any = regionLookup(passages);
  const isDoubtful = (hit: Hit): boolean =>
    hit.severity === 'suspicious' ||
    (hit.severity === 'malicious' && hidden(hit) === undefined && foreign(hit) !== undefined);
  return hits.map((hit) =>
    worded.has(hit.rule) && isDoubtful(hit) && other(hit) === undefined && any(hit) !== undefined
      ? { ...hit, severity: 'note' }
      : hit,
  );
};
