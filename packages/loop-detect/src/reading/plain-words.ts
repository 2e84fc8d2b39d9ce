import { classOf, digit, letter, maxRead, other } from './characters.js';
import {
  isBehindIdLabel,
  isLabelAt,
  isLabelOfId,
  isTemporary,
  shortestIdOfLetters,
  shortestTemporary,
  wordsOfNumbers,
} from './volatile.js';

const [tab, carriageReturn, blank, comma, dash, dot, slash] = [9, 13, 32, 44, 45, 46, 47];
/** Signs from here on are drawn, and count as blanks. */
const firstBar = 0x25_00;

const hashStart = 0x811c9dc5 | 0;
const withCode = (hash: number, code: number): number => Math.imul(hash ^ code, 2654435761);

/** By the first bits of its hash, whether a word may be a part of a number, such as its unit. A few others are too. */
const omitted = new Uint8Array(4096);
const bitsOf = (hash: number): number => hash >>> 20;
for (const word of wordsOfNumbers) {
  let hash = hashStart;
  for (let at = 0; at < word.length; at += 1) hash = withCode(hash, word.charCodeAt(at));
  omitted[bitsOf(hash)] = 1;
}

/** A word of which the beginning may be a part of the number before it: `1m 3s.txt`, `1,234.txt`, `3 s.txt`. */
const splitWord = new RegExp(
  String.raw`(?:\d[\d.]*(?:[a-zµμ]{1,7})?|${wordsOfNumbers.join('|')})(?:[.-](?=[^\d.-])|[^\0-\x7F])`,
  'y',
);

/**
 * Sums the words of a text that are never volatile, in any order. Texts with different sums differ in `exact` and in
 * `bag`, and this takes half the time of a scan.
 *
 * What a word adds does not depend on what is around it, because a bag has the same words in any order. Words with
 * digits, words that may be a part of a number, and those that may be a random id add nothing.
 *
 * @returns `undefined` if only a scan can tell where a word begins
 */
export const sumOfPlainWords = (text: string): number | undefined => {
  if (text.length <= maxRead) return sumOf(text, 0, text.length);
  const start = sumOf(text, 0, maxRead / 2);
  const end = sumOf(text, text.length - maxRead / 2, text.length);
  return start === undefined || end === undefined ? undefined : (start + end) | 0;
};

const sumOf = (text: string, from: number, to: number): number | undefined => {
  let sum = 0;
  /** From a number to the next sign: `12 more lines`, `3 minutes, 20 seconds`. */
  let isBehindNumber = false;
  /** The end of the word before, if it is `id`. */
  let labelEnd = -1;
  let at = from;
  while (at < to) {
    const start = at;
    let code = text.charCodeAt(at);
    let hash = hashStart;
    let bits = 0;
    while (classOf(code) === letter) {
      hash = withCode(hash, code);
      bits |= code;
      at += 1;
      if (at === to) break;
      code = text.charCodeAt(at);
    }
    if (at === start && classOf(code) === other) {
      if (isBehindNumber) isBehindNumber = isInsideNumber(code);
      at += 1;
      continue;
    }
    // Most words consist of letters.
    const lettersEnd = at;
    let hasDigit = false;
    for (; at < to; at += 1) {
      code = text.charCodeAt(at);
      const kind = classOf(code);
      if (kind === digit) hasDigit = true;
      else if (kind === other && !isJoined(text, at, code, to)) break;
      hash = withCode(hash, code);
    }
    if (isBehindNumber && (at > lettersEnd || bits > 127) && isSplit(text, start)) return undefined;
    const labelBefore = labelEnd;
    labelEnd = -1;
    if (hasDigit) {
      isBehindNumber = true;
      continue;
    }
    const length = at - start;
    if (length >= shortestIdOfLetters || (length >= shortestTemporary && isTemporary(text, start, at))) continue;
    if (labelBefore > 0 && isLabelAt(text, labelBefore, start) && isBehindIdLabel(text, start)) continue;
    if (length === 2 && isLabelOfId(text.slice(start, at))) labelEnd = at;
    // The end of a part that is read may be amid a word of a number.
    if (omitted[bitsOf(hash)] === 1 || (at === to && to < text.length)) continue;
    sum = (sum + (hash ^ (hash >>> 15))) | 0;
  }
  return sum;
};

/** Whether a dot or a dash is a part of the word around it. */
const isJoined = (text: string, at: number, code: number, to: number): boolean =>
  (code === dot || code === dash) && at + 1 < to && classOf(text.charCodeAt(at + 1)) !== other;

/** Whether a sign may be a part of a number or between it and its unit. */
const isInsideNumber = (code: number): boolean =>
  code === blank || code === tab || code === carriageReturn || code === comma || code === slash || code >= firstBar;

const isSplit = (text: string, start: number): boolean => {
  splitWord.lastIndex = start;
  return splitWord.test(text);
};
