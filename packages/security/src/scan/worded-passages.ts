import type { Hit, Said, Severity } from './finding.js';
import type { Folded } from './fold.js';
import type { HiddenRegion } from './hiding.js';
import { languageBit, LANGUAGES } from './lexicon.js';
import { passagesOf } from './passages.js';
import { regionLookup, type Region } from './regions.js';
import { isDiscussed } from './requests.js';
import type { Sentence } from './sentences.js';
import { WordingScorer, type Wording } from './wording.js';

/**
 * Scores of a passage. From `malicious`, `suspicious` and, in a hidden region, `hidden` on, its wording is a finding;
 * from `aside` on, the content of a comment or an attribute is suspicious. Below `certain`, a malicious request that rules
 * find is only suspicious; below `ordinary` or `foreign`, it is not reported. A passage of unknown words has -4.5.
 * `training/measure.mjs` prints the share of ordinary files at each score.
 */
const wordingLevels = {
  malicious: 2.2,
  suspicious: 0,
  hidden: -0.3,
  aside: -1.2,
  certain: -1.7,
  ordinary: -3.8,
  foreign: -4.1,
};

/** Number of passages up to which the levels of visible text apply. */
const usualCount = 128;
/** Added to the levels for each doubling of the number, since a longer text has more chances to exceed them. */
const perDoubling = 0.25;
/** Limit of the addition, so that a long text does not hide a plain request. */
const maxMargin = 1.5;

/** Returns the addition to the levels of a text by the number of its passages. */
export const marginOf = (count: number): number =>
  Math.min(maxMargin, perDoubling * Math.max(0, Math.log2(Math.max(1, count) / usualCount)));

/** Languages of the training data, besides English. */
const scoredLanguages = ['de', 'es', 'fr', 'pt', 'it', 'ru', 'zh', 'ja', 'ko'].reduce(
  (bits, name) => bits | languageBit(name),
  0,
);

/** A passage in the original text, and the score of its wording. */
export interface Passage extends Region {
  /** The highest score of the passage and of its sentences. */
  readonly score: number;
  /** The sentence with this score, or the whole passage. */
  readonly part: Region;
  /** Whether the part discusses attacks. Only determined for a score that is a finding. */
  readonly isDiscussed: boolean;
  /** Whether the passage contains words of a language other than English. */
  readonly isForeign: boolean;
  /** Whether the passage contains words of a language that the wording is not scored for. */
  readonly isUnscored: boolean;
}

/** Maximum number of characters of a sentence that is scored. */
const maxSaid = 600;

/** Scores the passages of a text, and their sentences alone, so that ordinary text around a request does not hide it. */
export const wordedPassages = (
  { text, at }: Folded,
  sentences: readonly Sentence[],
  scorer = new WordingScorer(),
): readonly Passage[] => {
  const endOf = ({ start, end }: Region): number => Math.min(end, text.length, start + maxSaid);
  const wordings: Wording[] = [];
  return passagesOf(sentences).map(({ first, last }) => {
    let score = -Infinity;
    let second = 0;
    let [from, to] = [first, last];
    for (let index = first; index <= last; index += 1) {
      const one = sentences[index];
      if (one === undefined) break;
      second |= one.second;
      const own = scorer.scoreOf((wordings[index] ??= scorer.wordingOf(text.slice(one.start, endOf(one)))));
      if (own > score) [score, from, to] = [own, index, index];
    }
    const [begin, end] = [wordings[first], wordings[last]];
    if (last > first && begin !== undefined && end !== undefined) {
      const whole = scorer.scoreOfAll(begin, end);
      if (whole >= score) [score, from, to] = [whole, first, last];
    }
    const startAt = (index: number): number => {
      const place = sentences[index]?.start ?? 0;
      return text.charCodeAt(place) === 32 ? place + 1 : place;
    };
    const endAt = (index: number): number => endOf(sentences[index] ?? { start: 0, end: 1 });
    const [partStart, partEnd] = [startAt(from), endAt(to)];
    return {
      score,
      isDiscussed: score >= wordingLevels.hidden && isDiscussed(text.slice(partStart, partEnd)),
      isForeign: (second & LANGUAGES) !== 0,
      isUnscored: (second & LANGUAGES & ~scoredLanguages) !== 0,
      part: { start: at(partStart), end: at(partEnd - 1) + 1 },
      start: at(startAt(first)),
      end: at(endAt(last) - 1) + 1,
    };
  });
};

/** Returns passages that are worded like requests that redirect a model. */
export const wordingHits = (passages: readonly Passage[]): readonly Said[] => {
  const margin = marginOf(passages.length);
  return passages
    .filter(({ score }) => score >= wordingLevels.hidden)
    .map(({ score, isDiscussed: isAbout, part: { start, end } }) => ({
      rule: 'wording',
      isStrong: score >= wordingLevels.malicious + margin,
      isHiddenStrong: true,
      isTelling: score >= wordingLevels.malicious,
      isDiscussed: isAbout,
      isSuspicious: score >= wordingLevels.suspicious + margin,
      start,
      end,
    }));
};

/** Returns the severity of a passage in a comment or an attribute. */
export const asideSeverity = ({ score }: Passage): Severity | undefined => {
  if (score >= wordingLevels.hidden) return 'malicious';
  return score >= wordingLevels.aside ? 'suspicious' : undefined;
};

/** Whether passages in a language other than English may contain a request, which most ordinary ones do not resemble. */
export const isLikely = (passages: readonly Passage[]): boolean =>
  passages.some(({ score, isUnscored }) => isUnscored || score >= wordingLevels.foreign);

/** Whether decoded passages are worded like a request. In an encoding that only messages have, a likely one suffices. */
export const isWorded = (passages: readonly Passage[], isMeant: boolean): boolean =>
  passages.some(({ score }) => score >= (isMeant ? wordingLevels.suspicious : wordingLevels.malicious));

/** Rules for requests in words. */
const worded: ReadonlySet<string> = new Set(
  'override diversion prompt-theft persona authority secrecy theft steering sabotage skips-approval persistence regardless new-instructions forged-turn'.split(
    ' ',
  ),
);

const isConfirmable = ({ rule, severity }: Hit): boolean => severity !== 'note' && worded.has(rule);

/** Rules that name the instructions of the reader, which ordinary passages rarely do. */
const telling: ReadonlySet<string> = new Set(['override', 'prompt-theft']);

/** Rules that find delimiters instead of words. */
const structural: ReadonlySet<string> = new Set(['forged-turn']);

/**
 * Lowers requests whose passages have an ordinary wording. Rules match a few words; the wording of the passage is the
 * evidence for a change of the verdict: without it, a visible malicious request is suspicious, and a request in an
 * ordinary passage, a comment or an attribute is a note, unless it is concealed. In languages other than English, whose
 * stems match more ordinary words, the wording must be less ordinary.
 */
export const confirmed = (
  hits: readonly Hit[],
  passages: readonly Passage[],
  hidden: (place: Region) => HiddenRegion | undefined,
): readonly Hit[] => {
  if (!hits.some(isConfirmable)) return hits;
  const margin = marginOf(passages.length);
  const passagesFrom = (level: (passage: Passage) => number): ((place: Region) => Region | undefined) =>
    regionLookup(passages.filter((passage) => passage.isUnscored || passage.score >= level(passage)));
  const certain = passagesFrom(() => wordingLevels.certain + margin);
  const possible = passagesFrom(({ isForeign }) => (isForeign ? wordingLevels.foreign : wordingLevels.ordinary));
  const likely = passagesFrom(() => wordingLevels.ordinary + margin);
  const asides = passagesFrom(() => wordingLevels.certain);
  const any = regionLookup(passages);
  const severityOf = (hit: Hit): Severity => {
    if (!isConfirmable(hit) || any(hit) === undefined) return hit.severity;
    const isMalicious = hit.severity === 'malicious';
    const region = hidden(hit);
    if (isMalicious && (structural.has(hit.rule) || region?.kind === 'concealed')) return hit.severity;
    if (region !== undefined) return telling.has(hit.rule) || asides(hit) !== undefined ? hit.severity : 'note';
    if (possible(hit) === undefined) return 'note';
    const isCertain = (telling.has(hit.rule) ? likely(hit) : certain(hit)) !== undefined;
    return isMalicious && !isCertain ? 'suspicious' : hit.severity;
  };
  return hits.map((hit) => {
    const severity = severityOf(hit);
    return severity === hit.severity ? hit : { ...hit, severity };
  });
};
