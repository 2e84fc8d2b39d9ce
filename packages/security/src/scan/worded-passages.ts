import type { Hit, Said, Severity } from './finding.js';
import { fold, type Folded } from './fold.js';
import type { HiddenRegion } from './hiding.js';
import { languageBit, LANGUAGES } from './lexicon.js';
import { passagesOf } from './passages.js';
import { regionLookup, type Region } from './regions.js';
import { isDiscussed } from './requests.js';
import type { Sentence } from './sentences.js';
import { wordingScorer } from './wording.js';

/**
 * Scores of a passage. From `malicious`, `suspicious` and, in a hidden region, `hidden` on, its wording is a finding;
 * below `unlikely`, it refutes a request that rules find; below `ordinary` or `foreign`, it does not confirm one. A
 * passage of unknown words has -3.5. `training/measure.mjs` prints the share of ordinary files at each score.
 */
const wordingLevels = { malicious: 1.9, suspicious: 0.5, hidden: -0.8, unlikely: -3.8, ordinary: -3, foreign: -2.6 };

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

/** Whether decoded passages are worded like a request. In an encoding that only messages have, a likely one suffices. */
export const isWorded = (passages: readonly Passage[], isMeant: boolean): boolean =>
  passages.some(({ score }) => score >= (isMeant ? wordingLevels.suspicious : wordingLevels.malicious));

/** Rules for requests in words. */
const worded: ReadonlySet<string> = new Set(
  'override diversion prompt-theft persona authority secrecy theft steering sabotage skips-approval persistence regardless new-instructions forged-turn'.split(
    ' ',
  ),
);

/** Rules that find delimiters instead of words. */
const structural: ReadonlySet<string> = new Set(['forged-turn']);

/**
 * Lowers requests in passages with an ordinary wording to notes: suspicious ones and visible malicious ones. In
 * languages other than English, whose stems match more ordinary words, the wording must be less ordinary to confirm a
 * request. A visible malicious request in English remains unless the words of its passage and its own words are
 * evidence against it, so that ordinary text around it does not hide it.
 */
export const confirmed = (
  text: string,
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
  const likely = regionLookup(passages.filter(({ score }) => score >= wordingLevels.unlikely));
  const foreign = regionLookup(passages.filter(({ isForeign }) => isForeign));
  const any = regionLookup(passages);
  let wordingOf: ReturnType<typeof wordingScorer> | undefined;
  const severityOf = (hit: Hit): Severity => {
    if (hit.severity === 'note' || !worded.has(hit.rule) || any(hit) === undefined) return hit.severity;
    const isVisible = hit.severity === 'malicious' && hidden(hit) === undefined;
    if (hit.severity === 'suspicious' || (isVisible && foreign(hit) !== undefined)) {
      return other(hit) === undefined ? 'note' : hit.severity;
    }
    if (!isVisible || structural.has(hit.rule) || likely(hit) !== undefined) return hit.severity;
    wordingOf ??= wordingScorer();
    const own = wordingOf(fold(text.slice(hit.start, hit.end)).text);
    return own >= wordingLevels.unlikely ? hit.severity : 'note';
  };
  return hits.map((hit) => {
    const severity = severityOf(hit);
    return severity === hit.severity ? hit : { ...hit, severity };
  });
};
