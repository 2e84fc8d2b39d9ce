import { isInvisible, isZeroWidth } from './characters.js';
import { maxLine, type Encoded } from './encoded.js';
import type { Hit } from './finding.js';
import { isAscii, type Region } from './regions.js';

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
