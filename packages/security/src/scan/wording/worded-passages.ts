import { keepsSecrets } from '../requests/deeds.js';
import type { Said, Severity } from '../finding.js';
import type { Folded } from '../text/fold.js';
import { isHandedOn } from '../about/handed-on.js';
import { LetterScorer } from './letters.js';
import { languageBit, LANGUAGES } from '../text/lexicon.js';
import { passagesOf, type Span } from './passages.js';
import { withoutReports } from '../about/report.js';
import type { Region } from '../text/regions.js';
import { isDiscussed } from '../requests/requests.js';
import type { Sentence } from '../text/sentences.js';
import { WordingScorer, type Wording } from './wording.js';

/**
 * Scores of a passage. From `malicious`, `suspicious` and, in a hidden region, `hidden` on, its wording is a finding, and
 * a suspicious one is malicious in a hidden region; from `aside` on, the content of a comment or an attribute is
 * suspicious, and from `told` on malicious, because templates address agents in comments. Below `certain`, a malicious request that
 * rules find is only suspicious; below `ordinary` or, in another language, `confirming`, it is not reported. Hidden
 * text in another language is likely a request from `foreign` on. The margin of a passage raises these levels, and
 * `doubt` that of a malicious wording in another language, of which the training data has fewer ordinary instructions. A
 * passage of unknown words has -4.5. `training/measure.mjs` prints the share of ordinary files at each.
 */
export const wordingLevels = {
  malicious: 2.4,
  doubt: 1.8,
  suspicious: 0.25,
  hidden: -0.3,
  aside: -1.2,
  told: 2.4,
  certain: -1.7,
  ordinary: -3.25,
  foreign: -4.1,
  confirming: -3,
};

/** Passages on each side that belong to the same request or the same topic. */
const neighbors = 4;
/** Rank of the passage elsewhere whose score is usual for the text. Fewer requests in other places do not raise it. */
const usualRank = 3;
/** Difference between the usual score and that of a request. */
const prominence = 4;
/** Limit of the addition, so that a text of many requests does not hide all of them. */
const maxMargin = 2.5;
/** How much less of it a suspicion needs, which removes nothing from a text. */
const leniency = 1;

/**
 * Returns the additions to the levels of the passages. A request differs from the rest of its text. A manual or a skill
 * has high scores in many places, since all of its passages resemble requests, and a long text has them by chance.
 */
const marginsOf = (scores: readonly number[]): readonly number[] => {
  const highest = Array.from(scores.keys())
    .toSorted((one, other) => (scores[other] ?? 0) - (scores[one] ?? 0))
    .slice(0, usualRank + 2 * neighbors + 1);
  return scores.map((_, index) => {
    let rank = 0;
    const usual = highest.find((one) => Math.abs(one - index) > neighbors && (rank += 1) === usualRank);
    return usual === undefined ? 0 : Math.min(maxMargin, Math.max(0, (scores[usual] ?? 0) + prominence));
  });
};

/** The score of a passage, and where it begins. */
export interface ScoredPlace {
  readonly score: number;
  readonly start: number;
}

/** Number of passages of a short text, and what a suspicion needs more for each power of e of it, at most `maxChance`. */
const [fewPassages, chance, maxChance] = [20, 0.5, 1];

/**
 * Returns what a suspicion needs more in a long text, which has high scores by chance: in ordinary files, each half point
 * halves the number of passages above a score. What is malicious needs no more.
 */
const chanceIn = (count: number): number => Math.min(maxChance, chance * Math.log(Math.max(1, count / fewPassages)));

/** Returns how much more evidence a suspicion needs for a margin. */
export const lenient = (margin: number): number => Math.max(0, margin - leniency);

/** Languages of the training data, besides English. Ukrainian shares its script with Russian. */
export const scoredLanguages = ['de', 'es', 'fr', 'pt', 'it', 'nl', 'pl', 'tr', 'ru', 'zh', 'ja', 'ko'].reduce(
  (bits, name) => bits | languageBit(name),
  0,
);

/** A passage in the original text, and the score of its wording. */
export interface Passage extends Region {
  /** The highest score of the passage and of its sentences. */
  readonly score: number;
  /** Added to the levels, because the rest of the text has high scores, too. */
  readonly margin: number;
  /** Added to the level of a suspicion, because the text is long. */
  readonly chance: number;
  /** The sentence with this score, or the whole passage. */
  readonly part: Region;
  /** Whether the part discusses attacks. Only determined for a score that is a finding. */
  readonly isDiscussed: boolean;
  /** Whether the part tells a person what to give to an assistant. Only determined for a score that is malicious. */
  readonly isHandedOn: boolean;
  /** Whether the part forbids showing secrets. Only determined for a score that is a finding. */
  readonly keepsSecrets: boolean;
  /**
   * What the part says besides reports of what a person did or how a program behaves, or `undefined` if it has none or
   * the rest is no ordinary text. Only determined for a score that is a finding.
   */
  readonly besidesReports: string | undefined;
  /** Whether the passage contains words of a language other than English. */
  readonly isForeign: boolean;
  /** Whether the passage contains words of a language that the wording is not scored for. */
  readonly isUnscored: boolean;
  /** Returns the highest score of a clause of the passage, which ordinary text around a request does not lower. */
  readonly clauseScore: () => number;
  /** The places of its sentences. */
  readonly span: Span;
}

/** Maximum number of characters of a sentence that is scored. */
const maxSaid = 600;

/** Ends a clause of a sentence. */
const clauseEnd = /[,;:()|\u2013\u2014\u3001\uff0c\uff1a\uff1b]/;
/** Maximum length of a clause that is scored as a whole; of longer ones, overlapping parts are scored. */
const maxClause = 100;

const clausesOf = (sentence: string): readonly string[] =>
  sentence.split(clauseEnd).flatMap((clause) => {
    const parts: string[] = [];
    for (let start = 0; start === 0 || start + maxClause / 2 < clause.length; start += maxClause / 2) {
      parts.push(clause.slice(start, start + maxClause));
    }
    return parts;
  });

/** A passage whose margin is not known yet: its sentences, and those with its score. */
interface ScoredSpan extends ScoredPlace, Span {
  readonly second: number;
  readonly from: number;
  readonly to: number;
}

/** Returns the margins of passages among those that a text leaves out. */
const marginsAmong = (scored: readonly ScoredPlace[], rest: readonly ScoredPlace[]): readonly number[] => {
  if (rest.length === 0) return marginsOf(scored.map(({ score }) => score));
  const all = [...rest, ...scored].toSorted((one, other) => one.start - other.start);
  const margins = marginsOf(all.map(({ score }) => score));
  const marginOf = new Map(all.map((one, index) => [one, margins[index] ?? 0]));
  return scored.map((one) => marginOf.get(one) ?? 0);
};

/**
 * Scores the passages of a text, and their sentences alone, so that ordinary text around a request does not hide it.
 *
 * @param rest - the scores of passages that the text leaves out, and their places in it
 */
export const wordedPassages = (
  { text, at }: Folded,
  sentences: readonly Sentence[],
  scorer = new WordingScorer(),
  rest: readonly ScoredPlace[] = [],
): readonly Passage[] => {
  const endOf = ({ start, end }: Region): number => Math.min(end, text.length, start + maxSaid);
  const wordings: Wording[] = [];
  let letters: LetterScorer | undefined;
  const ofLetters: number[] = [];
  const lettersOf = (said: string): number => (letters ??= new LetterScorer()).scoreOf(said);
  const startAt = (index: number): number => {
    const place = sentences[index]?.start ?? 0;
    return text.charCodeAt(place) === 32 ? place + 1 : place;
  };
  const scored = passagesOf(sentences).map(({ first, last }): ScoredSpan => {
    let score = -Infinity;
    let second = 0;
    let sum = 0;
    let [from, to] = [first, last];
    for (let index = first; index <= last; index += 1) {
      const one = sentences[index];
      if (one === undefined) break;
      second |= one.second;
      const said = text.slice(one.start, endOf(one));
      const added = (ofLetters[index] ??= (one.second & scoredLanguages) === 0 ? 0 : lettersOf(said));
      sum += added;
      const own = scorer.scoreOf((wordings[index] ??= scorer.wordingOf(said))) + added;
      if (own > score) [score, from, to] = [own, index, index];
    }
    if (last > first) {
      const whole = scorer.scoreOfAll(wordings.slice(first, last + 1)) + sum / (last - first + 1);
      if (whole >= score) [score, from, to] = [whole, first, last];
    }
    return { score, second, from, to, first, last, start: at(startAt(first)) };
  });
  const endAt = (index: number): number => endOf(sentences[index] ?? { start: 0, end: 1 });
  const margins = marginsAmong(scored, rest);
  const rise = chanceIn(scored.length + rest.length);
  return scored.map(({ score, second, from, to, first, last, start }, index): Passage => {
    const [partStart, partEnd] = [startAt(from), endAt(to)];
    return {
      score,
      margin: margins[index] ?? 0,
      chance: rise,
      isDiscussed: score >= wordingLevels.hidden && isDiscussed(text.slice(partStart, partEnd)),
      keepsSecrets: score >= wordingLevels.hidden && sentences.slice(from, to + 1).some(keepsSecrets),
      isHandedOn: score >= wordingLevels.malicious && isHandedOn(text.slice(partStart, partEnd)),
      besidesReports:
        score >= wordingLevels.hidden ? ordinaryBesidesReports(text.slice(partStart, partEnd), scorer) : undefined,
      isForeign: (second & LANGUAGES) !== 0,
      isUnscored: (second & LANGUAGES & ~scoredLanguages) !== 0,
      clauseScore: () => {
        const scoreOf = (clause: string): number => scorer.scoreOf(scorer.wordingOf(clause)) + lettersOf(clause);
        const clauses = clausesOf(text.slice(startAt(first), sentences[last]?.end));
        return clauses.reduce((highest, clause) => Math.max(highest, scoreOf(clause)), -Infinity);
      },
      span: { first, last },
      part: { start: at(partStart), end: at(partEnd - 1) + 1 },
      start,
      end: at(endAt(last) - 1) + 1,
    };
  });
};

/** Returns a text without the clauses that report, if that is worded like no request. */
const ordinaryBesidesReports = (said: string, scorer: WordingScorer): string | undefined => {
  const rest = withoutReports(said);
  const isOrdinary =
    rest === '' || (rest !== undefined && scorer.scoreOf(scorer.wordingOf(rest)) < wordingLevels.aside);
  return isOrdinary ? rest : undefined;
};

/** Returns passages that are worded like requests that redirect a model. */
export const wordingHits = (passages: readonly Passage[]): readonly Said[] =>
  passages
    .filter(({ score }) => score >= wordingLevels.hidden)
    .map(
      ({
        score,
        margin,
        chance: rise,
        isForeign,
        isDiscussed: isAbout,
        isHandedOn: isForReader,
        keepsSecrets: isKept,
        besidesReports,
        part: { start, end },
      }) => ({
        rule: 'wording',
        isStrong:
          !isForReader &&
          !isKept &&
          besidesReports === undefined &&
          score >= wordingLevels.malicious + margin + (isForeign ? wordingLevels.doubt : 0),
        // Few ordinary comments in other languages are in the training data.
        isHiddenStrong: score >= (isForeign ? wordingLevels.told : wordingLevels.suspicious),
        isTelling: score >= wordingLevels.malicious,
        isDiscussed: isAbout,
        isSuspicious:
          besidesReports !== '' &&
          (score >= wordingLevels.malicious + margin ||
            (!isKept && score >= wordingLevels.suspicious + lenient(margin) + rise)),
        start,
        end,
      }),
    );

/** Returns the severity of a passage in a comment or an attribute. */
export const asideSeverity = ({ score, margin }: Passage): Severity | undefined => {
  if (score >= wordingLevels.told + margin) return 'malicious';
  return score >= wordingLevels.aside + lenient(margin) ? 'suspicious' : undefined;
};

/**
 * Whether passages in a language other than English may contain a request, which most ordinary ones do not resemble.
 */
export const isLikely = (passages: readonly Passage[]): boolean =>
  passages.some(({ score, isForeign, isUnscored }) => isUnscored || (isForeign && score >= wordingLevels.foreign));

/** Returns the severity of hidden text that an ordinary page may have, by its wording. */
export const concealedSeverity = (passages: readonly Passage[]): Severity => {
  if (passages.some(({ score }) => score >= wordingLevels.suspicious)) return 'malicious';
  return isLikely(passages) || passages.some(({ score }) => score >= wordingLevels.ordinary) ? 'suspicious' : 'note';
};

/**
 * Whether decoded passages are worded like a request. In an encoding that only messages have, a likely one suffices.
 */
export const isWorded = (passages: readonly Passage[], isMeant: boolean): boolean =>
  passages.some(({ score }) => score >= (isMeant ? wordingLevels.suspicious : wordingLevels.malicious));
