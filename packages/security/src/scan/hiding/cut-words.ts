import { isInvisible, isZeroWidth } from '../text/characters.js';
import type { MayMatch } from '../text/cues.js';
import { maxLine, type Encoded } from './encoded.js';
import type { Hit } from '../finding.js';
import { fold, foldText } from '../text/fold.js';
import { isAscii, type Region } from '../text/regions.js';
import { asksSomething } from '../requests/requests.js';
import { sentencesOf } from '../text/sentences.js';

/** Minimum number of cuts close to each other. */
const minCuts = 3;
/** Maximum number of reported cut words. */
const maxCutWords = 400;

/** Finds words that invisible characters split. */
export const cutWords = (text: string): readonly Hit[] => {
  if (isAscii(text)) return [];
  const cuts: number[] = [];
  for (let index = 1; index < text.length - 1; index += 1) {
    const code = text.charCodeAt(index);
    // Soft hyphens and direction marks are legitimate.
    if (code <= 0xad || !isZeroWidth(code)) continue;
    if (!isLetter(text.charCodeAt(index - 1)) || !isLetter(nextVisible(text, index))) continue;
    cuts.push(index);
  }
  const hits: Hit[] = [];
  for (let first = 0; first + minCuts <= cuts.length; first += minCuts) {
    const [start = 0, end = 0] = [cuts[first], cuts[first + minCuts - 1]];
    if (end - start > 400) continue;
    if (hits.length > maxCutWords) break;
    hits.push({ rule: 'hidden-text', severity: 'malicious', start, end: end + 1 });
  }
  return hits;
};

/** Whether it is a letter of a script in whose words nothing invisible is legitimate. */
const isLetter = (code: number): boolean =>
  (code >= 97 && code <= 122) ||
  (code >= 65 && code <= 90) ||
  (code >= 0xc0 && code < 0x590) ||
  (code >= 0xac00 && code <= 0xd7af);

const nextVisible = (text: string, from: number): number => {
  let index = from + 1;
  while (index < text.length && isInvisible(text.charCodeAt(index))) index += 1;
  return text.charCodeAt(index);
};

/** What a page does not show: entities without width, possible line breaks, comments, and tags of inline elements. */
const unseen =
  /&(?:shy|zwn?j|zerowidthspace|nobreak|#(?:173|820[345]|8288|65279)|#x(?:0?0?ad|200[bcd]|2060|feff));|<wbr ?\/?>|<!--[^<>]{0,80}-->|<\/?(?:b|i|u|s|a|em|strong|span|font|small|big|su[bp]|mark|code|tt|ins|del|label|bdo|bdi|q|abbr|kbd|var)(?: [^<>]{0,80})?>/gi;
/** Such markup within a word, from the sign that begins it on. */
const cut = new RegExp(`(?<=\\p{L})(?:${unseen.source})+(?=\\p{L})`, 'iuy');
const cutSign = /[&<]/g;

/** Returns such markup. An expression that looks back is slow at each character. */
const cutsIn = (text: string): readonly Region[] => {
  const cuts: Region[] = [];
  let behind = 0;
  for (const { index } of text.matchAll(cutSign)) {
    const before = text.charCodeAt(index - 1);
    if (index < behind || before === 10 || before === 32) continue;
    cut.lastIndex = index;
    if (!cut.test(text)) continue;
    behind = cut.lastIndex;
    cuts.push({ start: index, end: behind });
  }
  return cuts;
};

/** Finds lines whose words markup cuts, and reads them as a page shows them. */
export const findCutByMarkup = (text: string): readonly Encoded[] => {
  const cuts = cutsIn(text);
  const found: Encoded[] = [];
  let behind = 0;
  for (const [index, { start: first }] of cuts.entries()) {
    const last = cuts[index + minCuts - 1];
    if (first < behind || last === undefined) continue;
    const start = Math.max(first - maxLine, text.lastIndexOf('\n', first) + 1);
    const feed = text.indexOf('\n', first);
    const end = Math.min(feed === -1 ? text.length : feed, first + maxLine);
    if (last.start >= end) continue;
    behind = end;
    found.push({ start, end, decoded: text.slice(start, end).replace(unseen, '') });
  }
  return found;
};

/** Words between plus signs, hyphens or low lines, as in queries, addresses and names. */
const joined = /(?<![A-Za-z])[A-Za-z]{2,15}([+_-])[A-Za-z]{1,15}(?:\1[A-Za-z]{1,15}){1,30}(?![A-Za-z])/g;
/** Words of requests that few names contain. */
const telling = /ignore|disregard|forget|instruction|prompt|bypass|overrid|secret|password|credential|reveal/i;
/** One of them next to a sign, a faster test. */
export const joinedRequests = new RegExp(`[+_-](?:${telling.source})|(?:${telling.source})[a-z]{0,3}[+_-]`, 'i');

/** Finds words that signs join in place of spaces. */
export const findJoinedWords = (text: string, mayMatch: MayMatch): readonly Encoded[] =>
  Array.from(mayMatch(joinedRequests) && joinedRequests.test(text) ? text.matchAll(joined) : [])
    .filter(({ 0: match }) => telling.test(match))
    .map(({ 0: match, 1: sign = '', index }) => ({
      start: index,
      end: index + match.length,
      decoded: match.replaceAll(sign, ' '),
      isName: true,
    }));

/** Single letters of an alphabet with a space, a sign or a line feed between them. */
const letters = /(?<!\p{L})(?:[a-z\u00df-\u052f][ .\-_*|\n]{1,3}){11,400}[a-z\u00df-\u052f](?!\p{L})/giu;
/** Three of them, a faster test without the flags. */
const some = /[ .\-_*|\n](?:[A-Za-z\u017f\u212a\u00c0-\u052f][ .\-_*|\n]{1,3}){3}/;
/** Words of requests. Two of them among single letters are no coincidence. */
const requested =
  /ignore|disregard|forget|previous|prior|above|instruction|system|prompt|directive|rules|reveal|password|secret|delete|execute|override|bypass|user|send|agent|admin|output|print/g;

/** Letters that each follow a hyphen. */
const optionLetters = /[ \n]-{1,2}[a-z](?![a-z])/gi;

/** Whether the letters are options, which no command has twice. A sentence repeats some of its letters. */
const areOptions = (match: string): boolean => {
  const options = match.match(optionLetters) ?? [];
  return options.length * 4 >= match.length - 8 && new Set(options.map((one) => one.slice(-1))).size === options.length;
};

/** Finds requests that are spelled letter by letter. */
export const findSpelledOut = (text: string): readonly Region[] =>
  Array.from(some.test(text) ? text.matchAll(letters) : [])
    .filter(({ 0: match }) => isTelling(match) || (!areOptions(match) && isRequest(match)))
    .map(({ 0: match, index }) => ({ start: index, end: index + match.length }));

/** Whether the letters without gaps contain words of requests. */
const isTelling = (match: string): boolean =>
  (foldText(match.replace(/[^\p{L}]/gu, '')).match(requested)?.length ?? 0) > 1;

/** Whether the words, which wider gaps separate, form a request. */
const isRequest = (match: string): boolean => {
  const isJoined = (match.match(/\p{L}[.\-_*|]\p{L}/gu)?.length ?? 0) > 4;
  const said = isJoined
    ? match.replace(/[.\-_*|]/g, '')
    : match.replace(/(?<=\p{L})[ .\-_*|\n](?=\p{L}(?!\p{L}))/gu, '').replace(/[ .\-_*|\n]+/g, ' ');
  return said.split(' ').length >= 3 && asksSomething(sentencesOf(said, fold(said)));
};
