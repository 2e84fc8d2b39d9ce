import { readPlain } from '@h/redact/plain';
import { changedParts } from './changed-parts.js';
import { closeBy, combined } from './combinations.js';
import { CueIndex } from './cues.js';
import { cutWords } from './cut-words.js';
import { decodedHits } from './decoded.js';
import { commandPatterns, findCommands } from './exfiltration.js';
import { maxHits, overlap, severityWeight, type Hit, type Said } from './finding.js';
import { fold } from './fold.js';
import { findForeignTheft, secretFiles } from './foreign-theft.js';
import { asidesOf, asideWordings, concealed, type Asides } from './hidden-requests.js';
import { hiddenRegions, hidingPatterns, judgeHidden } from './hiding.js';
import { findInvisible } from './invisible.js';
import { joinedRequests } from './joined-words.js';
import { judgeOf } from './judged.js';
import { ordinarySentences } from './ordinary-sentences.js';
import { regionLookup, type Region } from './regions.js';
import { withMentions } from './said.js';
import { findSeams, speaker } from './seams.js';
import { sentencesOf } from './sentences.js';
import { findSpelledOut } from './spelled-out.js';
import { isAboutAttacks } from './talk.js';
import { confirmed, wordedPassages, wordingHits, type Passage, type ScoredPlace } from './worded-passages.js';
import { WordingScorer } from './wording.js';

/** Maximum number of evaluated attempts; several can merge into one finding. */
const maxJudged = 400;

/** Returns the hits in a text as it is, and in its lines without escapes and without what is printed before them. */
export const hitsOf = (text: string): readonly Hit[] => {
  let isAbout: boolean | undefined;
  const memory: Memory = {
    scorer: new WordingScorer(),
    isAbout: () => (isAbout ??= isAboutAttacks(text)),
  };
  const { hits, passages } = hitsIn(text, memory, []);
  const plain = readPlain(text);
  if (plain === undefined) return limited(hits);
  const parts = changedParts(text, plain);
  if (parts.text === '') return limited(hits);
  const others = passages.flatMap((passage) => {
    const start = parts.behindPart(passage);
    return start === undefined ? [] : [{ score: passage.score, start }];
  });
  const inLines = hitsIn(parts.text, memory, others).hits.map((hit) => ({
    ...hit,
    start: parts.original(hit.start),
    end: parts.original(hit.end),
  }));
  return limited(merged([...hits, ...inLines]));
};

/** Returns the worst hits, in order; one more than the maximum if the text is flooded with attempts. */
const limited = (hits: readonly Hit[]): readonly Hit[] => {
  const worstFirst = hits.toSorted((one, other) => severityWeight[other.severity] - severityWeight[one.severity]);
  const isFlooded = (worstFirst[maxHits]?.severity ?? 'note') === 'malicious';
  return worstFirst.slice(0, isFlooded ? maxHits + 1 : maxHits).toSorted((one, other) => one.start - other.start);
};

/** The patterns of the whole text, whose literals one pass finds. */
const cues = new CueIndex([...hidingPatterns, ...commandPatterns, joinedRequests, secretFiles, speaker]);

/** What a scan knows of the sentences that it has read. */
interface Memory {
  readonly scorer: WordingScorer;
  /** Whether the text discusses attacks. */
  readonly isAbout: () => boolean;
}

interface Read {
  readonly hits: readonly Hit[];
  readonly passages: readonly Passage[];
}

/** @param rest - the scores of the passages between the parts that are read */
const hitsIn = (text: string, memory: Memory, rest: readonly ScoredPlace[]): Read => {
  const mayMatch = cues.in(text);
  const { scorer, isAbout } = memory;
  const invisible = findInvisible(text.startsWith('\ufeff') ? ` ${text.slice(1)}` : text);
  const regions = hiddenRegions(text, mayMatch);
  // A request next to an attribute or a comment is not in it.
  const hidden = regionLookup(regions, 1 / 3);
  const folded = fold(text);
  const sentences = sentencesOf(text, folded);
  const passages = wordedPassages(folded, sentences, scorer, rest);
  const others = [
    ...findCommands(text, mayMatch),
    ...findForeignTheft(text, mayMatch),
    ...findSeams(text, folded, mayMatch),
  ];
  const isOrdinary = ordinarySentences(folded, sentences, passages, [...regions, ...others.map(around)]);
  const said = judgedUntilFlooded(
    [...withMentions(text, folded, sentences, isOrdinary), ...wordingHits(passages), ...others],
    judgeOf(text, hidden, isAbout),
  ).filter(({ rule, severity }) => rule !== 'wording' || severity !== 'note');
  const spelled = findSpelledOut(text).map((region): Hit => ({
    rule: 'spelled-out',
    severity: 'malicious',
    ...region,
  }));
  const all = [
    ...invisible,
    ...cutWords(text),
    ...judgeHidden(text, regions, (part, its, isToggled) => concealed(part, its, isToggled, scorer)),
    ...said,
    ...decodedHits(text, scorer, isAbout, mayMatch),
    ...spelled,
  ];
  const hits = merged([...confirmed(combined(all), passages, hidden), ...asideHits(asidesOf(text, regions), memory)]);
  return { hits, passages };
};

/** Returns the hits in the contents of comments and attributes, at the whole comment or element. */
const asideHits = ({ text, regionOf }: Asides, { scorer }: Memory): readonly Hit[] => {
  if (text === '') return [];
  const folded = fold(text);
  const sentences = sentencesOf(text, folded);
  const passages = wordedPassages(folded, sentences, scorer);
  const commands = findCommands(text);
  const isOrdinary = ordinarySentences(folded, sentences, passages, commands.map(around));
  const said = judgedUntilFlooded(
    [...withMentions(text, folded, sentences, isOrdinary), ...commands],
    judgeOf(
      text,
      () => undefined,
      () => isAboutAttacks(text),
    ),
  );
  return [...asideWordings(passages), ...confirmed(combined(said), passages, () => undefined)].flatMap((hit) => {
    const region = regionOf(hit);
    return region === undefined || hit.severity === 'note' ? [] : [{ ...hit, ...region }];
  });
};

/** Returns the place of a match with the text around it, whose requests are evaluated together with it. */
const around = ({ start, end }: Said): Region => ({ start: start - closeBy, end: end + closeBy });

/** Evaluates matches until the number of attempts is high enough to block the whole text. */
const judgedUntilFlooded = (said: readonly Said[], judge: (said: Said) => Hit): readonly Hit[] => {
  const hits: Hit[] = [];
  let attempts = 0;
  for (const one of said) {
    const hit = judge(one);
    hits.push(hit);
    if (hit.severity === 'malicious') attempts += 1;
    if (attempts > maxJudged) break;
  }
  return hits;
};

/** Merges overlapping findings of one rule into their union with the worse severity. */
const merged = (hits: readonly Hit[]): readonly Hit[] => {
  const lastOf = new Map<string, Hit>();
  const kept = new Set<Hit>();
  for (const hit of hits.toSorted((one, other) => one.start - other.start)) {
    const last = lastOf.get(hit.rule);
    const isSame = last !== undefined && overlap(last, hit);
    const severity =
      isSame && severityWeight[last.severity] > severityWeight[hit.severity] ? last.severity : hit.severity;
    const one = isSame ? { ...hit, severity, start: last.start, end: Math.max(last.end, hit.end) } : hit;
    if (isSame) kept.delete(last);
    lastOf.set(hit.rule, one);
    kept.add(one);
  }
  return [...kept];
};
