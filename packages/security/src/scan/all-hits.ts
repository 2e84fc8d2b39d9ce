import { readPlain } from '@h/redact/plain';
import { changedParts } from './text/changed-parts.js';
import { CueIndex } from './text/cues.js';
import { cutWords, joinedRequests, findSpelledOut } from './hiding/cut-words.js';
import { decodedHits } from './hiding/decoded.js';
import { Discussion } from './about/discussion.js';
import { commandPatterns, findCommands } from './requests/exfiltration.js';
import { maxHits, overlap, severityWeight, type Hit, type Said } from './finding.js';
import { fold } from './text/fold.js';
import { findForeignTheft, secretFiles } from './requests/foreign-theft.js';
import { asidesOf, asideWordings, concealed, type Asides } from './hiding/hidden-requests.js';
import { hiddenRegions, hidingPatterns, judgeHidden } from './hiding/hiding.js';
import { findInvisible } from './hiding/invisible.js';
import { ordinarySentences } from './requests/ordinary-sentences.js';
import { all, regionLookup, type Region } from './text/regions.js';
import { withMentions } from './requests/said.js';
import { findSeams, speaker } from './requests/seams.js';
import { sentencesOf } from './text/sentences.js';
import { closeBy, combined, confirmed, discussedIn, judged } from './severity.js';
import { wordedPassages, wordingHits, type Passage, type ScoredPlace } from './wording/worded-passages.js';
import { WordingScorer } from './wording/wording.js';

/** Returns the hits in a text as it is, and in its lines without escapes and without what is printed before them. */
export const hitsOf = (text: string): readonly Hit[] => {
  const scorer = new WordingScorer();
  const discussion = new Discussion(text);
  const { hits, passages } = hitsIn(discussion, scorer, []);
  const plain = readPlain(text);
  if (plain === undefined) return limited(hits);
  const parts = changedParts(text, plain);
  if (parts.text === '') return limited(hits);
  const others = passages.flatMap((passage) => {
    const start = parts.behindPart(passage);
    return start === undefined ? [] : [{ score: passage.score, start }];
  });
  const placeOf = <Place extends Region>(place: Place): Place => ({
    ...place,
    start: parts.original(place.start),
    end: parts.original(place.end),
  });
  const inLines = hitsIn(new Discussion(parts.text, { discussion, placeOf }), scorer, others).hits.map(placeOf);
  return limited(merged([...hits, ...inLines]));
};

/** Returns the worst hits, in order; one more than the maximum if the text is flooded with attempts. */
const limited = (hits: readonly Hit[]): readonly Hit[] => {
  const worstFirst = hits.toSorted((one, other) => severityWeight[other.severity] - severityWeight[one.severity]);
  const isFlooded = (worstFirst[maxHits]?.severity ?? 'note') === 'malicious';
  return worstFirst.slice(0, isFlooded ? maxHits + 1 : maxHits).toSorted((one, other) => one.start - other.start);
};

/** The patterns of the whole text. One pass finds the literals of all of them. */
const cues = new CueIndex([...hidingPatterns, ...commandPatterns, joinedRequests, secretFiles, speaker]);

interface Read {
  readonly hits: readonly Hit[];
  readonly passages: readonly Passage[];
}

/** @param rest - the scores of the passages between the parts that are read */
const hitsIn = (discussion: Discussion, scorer: WordingScorer, rest: readonly ScoredPlace[]): Read => {
  const { text } = discussion;
  const mayMatch = cues.in(text);
  const regions = hiddenRegions(text, mayMatch);
  // A request next to an attribute or a comment is not in it.
  const hidden = regionLookup(regions, 1 / 3);
  const { passages, said } = reading(text, scorer, mayMatch, regions, rest);
  const all = [...said, ...wordingHits(passages)];
  const found = [
    ...findInvisible(text.startsWith('\ufeff') ? ` ${text.slice(1)}` : text),
    ...cutWords(text),
    ...judgeHidden(text, regions, (part, its, isToggled) => concealed(part, its, isToggled, scorer)),
    ...judged(all, discussion, hidden).filter(({ rule, severity }) => rule !== 'wording' || severity !== 'note'),
    ...decodedHits(text, scorer, mayMatch),
    ...findSpelledOut(text).map((region): Hit => ({ rule: 'spelled-out', severity: 'malicious', ...region })),
  ];
  const isDiscussed = discussedIn(discussion, hidden, all, () => {
    const own = reading(discussion.ownText(), scorer);
    return [...own.said, ...wordingHits(own.passages)];
  });
  const hits = [...confirmed(combined(found), passages, hidden), ...asideHits(asidesOf(text, regions), scorer)].map(
    (hit): Hit => (isDiscussed(hit) ? { ...hit, severity: 'suspicious' } : hit),
  );
  return { hits: merged(hits), passages };
};

interface Reading {
  readonly passages: readonly Passage[];
  readonly said: readonly Said[];
}

/** Returns the passages of a text with their scores, and what rules and patterns find in it. */
const reading = (
  text: string,
  scorer: WordingScorer,
  mayMatch = cues.in(text),
  regions: readonly Region[] = [],
  rest: readonly ScoredPlace[] = [],
): Reading => {
  const folded = fold(text);
  const sentences = sentencesOf(text, folded);
  const passages = wordedPassages(folded, sentences, scorer, rest);
  const others = [
    ...findCommands(text, mayMatch),
    ...findForeignTheft(text, mayMatch),
    ...findSeams(text, folded, mayMatch),
  ];
  // A request for a file of secrets may be as plain as one for any other file.
  const files = mayMatch(secretFiles) ? all(text, secretFiles) : [];
  const isOrdinary = ordinarySentences(folded, sentences, passages, [...regions, ...files, ...others.map(around)]);
  return { passages, said: [...withMentions(text, folded, sentences, isOrdinary), ...others] };
};

/** Returns the hits in the contents of comments and attributes, at the whole comment or element. */
const asideHits = ({ text, regionOf }: Asides, scorer: WordingScorer): readonly Hit[] => {
  if (text === '') return [];
  const { passages, said } = reading(text, scorer);
  // The scan of the whole text has judged delimiters.
  const requests = said.filter(({ rule }) => rule !== 'forged-turn');
  const found = judged(requests, new Discussion(text));
  return [...asideWordings(passages), ...confirmed(combined(found), passages)].flatMap((hit) => {
    const region = regionOf(hit);
    return region === undefined || hit.severity === 'note' ? [] : [{ ...hit, ...region }];
  });
};

/** Returns the place of a match with the text around it. Requests in that text are evaluated together with the match. */
const around = ({ start, end }: Said): Region => ({ start: start - closeBy, end: end + closeBy });

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
