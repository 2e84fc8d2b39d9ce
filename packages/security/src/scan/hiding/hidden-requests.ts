import type { Hit, Severity } from '../finding.js';
import type { Folded } from '../text/fold.js';
import type { HiddenRegion } from './hiding.js';
import { regionLookup, type Region } from '../text/regions.js';
import { asksInEnglish, asksSomething, isTerseRequest } from '../requests/requests.js';
import { phraseHits, requestHits } from '../requests/said.js';
import type { Sentence } from '../text/sentences.js';
import {
  asideSeverity,
  concealedSeverity,
  isLikely,
  wordedPassages,
  type Passage,
} from '../wording/worded-passages.js';
import type { WordingScorer } from '../wording/wording.js';

/**
 * Returns the severity of concealed text. Scripts show and hide elements of ordinary pages, whose text needs a second
 * sign: the wording of a request, or a rule. No ordinary page has white or tiny text, or text behind blanks.
 */
export const concealed = (
  folded: Folded,
  sentences: readonly Sentence[],
  isToggled: boolean,
  scorer: WordingScorer,
): Severity => {
  const passages = wordedPassages(folded, sentences, scorer);
  if (!isToggled) {
    return asksInEnglish(sentences) || (asksSomething(sentences) && isLikely(passages)) ? 'malicious' : 'suspicious';
  }
  const requests = requestHits(folded, sentences);
  const isRequest = [...requests, ...phraseHits(folded, sentences)].some(({ isStrong }) => isStrong);
  if (isRequest) return 'malicious';
  const severity = concealedSeverity(passages);
  return severity === 'note' && (requests.length > 0 || isTerseRequest(sentences)) ? 'suspicious' : severity;
};

/** Minimum number of characters of a request in a comment or an attribute. */
const minAside = 16;

/** The contents of comments and attributes as one text, one paragraph each. */
export interface Asides {
  readonly text: string;
  /** Returns the comment or the element of a place in the text. */
  readonly regionOf: (place: Region) => Region | undefined;
}

/**
 * Returns the contents of comments and attributes, which the scan reads alone: their markup and the text around them
 * would dilute the score and break the sentences of a request.
 */
export const asidesOf = (text: string, regions: readonly HiddenRegion[]): Asides => {
  const asides: { readonly region: Region; readonly start: number; readonly end: number }[] = [];
  let contents = '';
  for (const { kind, said, start, end } of regions) {
    if (kind !== 'comment' || said === undefined || said.end - said.start < minAside) continue;
    const from = contents.length;
    contents += `${text.slice(said.start, said.end)}\n\n`;
    asides.push({ region: { start, end }, start: from, end: contents.length });
  }
  const lookup = regionLookup(asides);
  return { text: contents, regionOf: (place) => lookup(place)?.region };
};

/** Returns comments and attributes that are worded like requests. */
export const asideWordings = (passages: readonly Passage[]): readonly Hit[] =>
  passages.flatMap((passage): readonly Hit[] => {
    const severity = asideSeverity(passage);
    return severity === undefined ? [] : [{ rule: 'wording', severity, start: passage.start, end: passage.end }];
  });
