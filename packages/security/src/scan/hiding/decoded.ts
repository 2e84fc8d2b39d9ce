import type { MayMatch } from '../text/cues.js';
import { findCutByMarkup, findJoinedWords } from './cut-words.js';
import { findDisguised } from './disguised.js';
import { findEncoded, type Encoded } from './encoded.js';
import { findCommands } from '../requests/exfiltration.js';
import type { Hit, Severity } from '../finding.js';
import { fold } from '../text/fold.js';
import type { Region } from '../text/regions.js';
import { asksSomething, isTerseRequest } from '../requests/requests.js';
import { phraseHits, requestHits } from '../requests/said.js';
import { sentencesOf } from '../text/sentences.js';
import { isWorded, wordedPassages } from '../wording/worded-passages.js';
import type { WordingScorer } from '../wording/wording.js';

/** Returns the requests in encoded and disguised spans of a text. */
export const decodedHits = (text: string, scorer: WordingScorer, mayMatch: MayMatch): readonly Hit[] => {
  return [
    ...findEncoded(text),
    ...findDisguised(text),
    ...findCutByMarkup(text),
    ...findJoinedWords(text, mayMatch),
  ].flatMap((span): readonly Hit[] => {
    const found = severityOf(text, span, scorer);
    if (found === undefined) return [];
    return [{ rule: 'encoded', severity: found, start: span.start, end: span.end }];
  });
};

const severityOf = (text: string, span: Encoded, scorer: WordingScorer): Severity | undefined => {
  const { isMeant = false, isNeedless = false, isName = false, start, end } = span;
  const isFollowed = isToBeFollowed(text, span);
  const found = isFollowed ? 2 : attemptIn(span, scorer);
  if (isName) return found === 2 && !isFollowed ? 'suspicious' : undefined;
  if (found === 0) return isNeedless ? 'suspicious' : undefined;
  const isShown = !isFollowed && !isMeant && found <= attemptIn({ ...span, decoded: text.slice(start, end) }, scorer);
  if (isShown) return undefined;
  return isMeant || found === 2 ? 'malicious' : 'suspicious';
};

const decoding = /\b(?:decod|decrypt|unhex|deobfuscat|(?<!;)base ?64|hex|rot ?-?13|percent|url|encod)/i;
const following =
  /\b(?:follow|obey|execute|run|perform|apply|comply with|carry out|act on|do) (?:it|them|this|that|these|what|(?:the|its|their) (?:decoded|hidden|content|result|output|instruct|request|command|order|message))|\b(?:carry (?:it|them|this) out|act accordingly|and (?:then )?(?:follow|obey|execute|comply))\b/i;
const besides = 160;

/** Whether the text next to an encoded span requests to decode and follow it. */
const isToBeFollowed = (text: string, { start, end }: Region): boolean => {
  const near = `${text.slice(Math.max(0, start - besides), start)} ${text.slice(end, end + besides)}`;
  return decoding.test(near) && following.test(near);
};

/** Returns whether a decoded span contains no request (0), a possible one (1) or a certain one (2). */
const attemptIn = ({ decoded, isMeant, isData }: Encoded, scorer: WordingScorer): 0 | 1 | 2 => {
  const folded = fold(decoded);
  const sentences = sentencesOf(decoded, folded);
  const requests = requestHits(folded, sentences);
  const said = [...phraseHits(folded, sentences), ...findCommands(decoded)];
  if ([...requests, ...said].some(({ isStrong }) => isStrong)) return 2;
  if (isWorded(wordedPassages(folded, sentences, scorer), isMeant === true)) return 2;
  const isPossible =
    requests.length > 0 ||
    isTerseRequest(sentences) ||
    said.some(({ rule }) => isData === true || rule === 'secrecy') ||
    (isMeant === true && asksSomething(sentences));
  return isPossible ? 1 : 0;
};
