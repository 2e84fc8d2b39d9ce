import type { Folded } from './fold.js';
import { scripts } from './languages.js';
import { ADDRESS, CLAUSE, languageBit, lexicon } from './lexicon.js';

/** A word of the lexicon, or an address, in its sentence. */
export interface Word {
  readonly text: string;
  /** Number of words before this one in the sentence. */
  readonly position: number;
  /** Classes of the lexicon; `CLAUSE` is set if the word begins a clause. */
  readonly first: number;
  readonly second: number;
  /** The sign that follows the word directly, or an empty string. */
  readonly sign: string;
  readonly start: number;
  readonly end: number;
}

/** The known words of one sentence of a folded text. */
export interface Sentence {
  readonly words: readonly Word[];
  /** All of its words by position; an address counts as one. */
  readonly all: readonly string[];
  /** Its words with a space between them. */
  readonly joined: string;
  /** Positions of the words that begin a clause. */
  readonly clauses: readonly number[];
  readonly start: number;
  readonly end: number;
  /** Number of the paragraph in the text. */
  readonly paragraph: number;
  /** Number of the paragraph or the item of a list. */
  readonly item: number;
  /** All classes of its words. */
  readonly first: number;
  readonly second: number;
}

const maxWords = 60;
const shortLine = 50;
const isLetter = (code: number): boolean =>
  (code >= 97 && code <= 122) ||
  (code >= 48 && code <= 57) ||
  code === 39 ||
  code === 0x2019 ||
  (code > 0xbf && (code < 0x2000 || code > 0x206f));
/**
 * `.`, `!`, `?` and `;` end a sentence before a space or a quote; their full-width forms are folded to them, `。` is
 * not.
 */
const isEnd = (code: number): boolean => code === 46 || code === 33 || code === 63 || code === 59;
/** `,`, `:`, `]` and `}` after a quote end a field. */
const isFieldEnd = (code: number): boolean => code === 44 || code === 58 || code === 93 || code === 125;
/** Tags of blocks, in which the text begins anew. */
const block = /^\/?(?:p\b|div|li\b|t[drh]\b|h[1-6]\b|br\b)/;
/** A tag without attributes. */
const bare = /^<\/?[a-z]\w{0,3} ?\/?>/;
const isClauseSign = (code: number): boolean =>
  code === 44 ||
  code === 58 ||
  code === 40 ||
  code === 91 ||
  code === 34 ||
  code === 62 ||
  code === 0x2014 ||
  code === 0x2013 ||
  code === 39 ||
  code === 0x2019 ||
  code === 123 ||
  code === 96 ||
  code === 125;

/** What follows an attribute whose value is one word, an option: the end of the tag, or another such attribute. */
const optionEnd = /^" ?(?:\/?>|[\w:-]{1,40}="[^\s"]{0,200}")/;
const maxAttribute = 250;

/**
 * Splits folded text into sentences. Blank lines, items of lists, fields of data and blocks of markup
 * end a sentence, other line feeds do not.
 */
export const sentencesOf = (source: string, { text, at }: Folded): readonly Sentence[] => {
  const sentences: Sentence[] = [];
  let words: Word[] = [];
  let all: string[] = [];
  let clauses: number[] = [];
  let [first, second, position, paragraph, item, start] = [0, 0, 0, 0, 0, 0];
  let isClause = true;
  let isRow = source.charCodeAt(0) === 124;
  const finish = (end: number): void => {
    if (words.length > 0 || second !== 0) {
      sentences.push({ words, all, joined: all.join(' '), clauses, start, end, paragraph, item, first, second });
    }
    words = [];
    all = [];
    clauses = [];
    [first, second, position, start] = [0, 0, 0, end];
    isClause = true;
  };
  let index = 0;
  while (index < text.length) {
    const code = text.charCodeAt(index);
    if (code === 32) {
      const from = at(index);
      // A single space separates words only.
      if (source.charCodeAt(from) !== 32 || at(index + 1) - from > 1) {
        const gap = source.slice(from, at(index + 1));
        const kind = breakOf(source, gap, at(index + 1));
        if (kind > 0) {
          finish(index);
          item += 1;
        }
        if (kind > 1) paragraph += 1;
        if (gap.includes('\n')) isRow = source.charCodeAt(at(index + 1)) === 124;
        // After a short line, a line begins a clause; text that is wrapped has long ones.
        const feed = from + gap.indexOf('\n');
        if (feed >= from && feed - source.lastIndexOf('\n', feed - 1) < shortLine) isClause = true;
      }
      index += 1;
      continue;
    }
    const isQuote = code === 39 || code === 0x2019;
    if (isQuote || (!isLetter(code) && !(code === 46 && isLetter(text.charCodeAt(index + 1))))) {
      if (isEnd(code) && !isLetter(text.charCodeAt(index + 1))) finish(index + 1);
      // The fields of data are separate, and so are the blocks of markup.
      else if (code === 34 && isFieldEnd(text.charCodeAt(index + 1))) finish(index + 1);
      else if (code === 60 && block.test(text.slice(index + 1, index + 4))) {
        finish(index);
        item += 1;
        start += bare.exec(text.slice(index, index + 8))?.[0].length ?? 0;
        if (start > index) {
          index = start;
          continue;
        }
      }
      // The cells of a table are separate.
      else if (code === 124 && isRow) finish(index);
      else if (isClauseSign(code) || (code === 45 && text.charCodeAt(index + 1) === 32)) isClause = true;
      index += 1;
      continue;
    }
    const from = index;
    index += 1;
    while (index < text.length && isLetter(text.charCodeAt(index))) index += 1;
    let word = text.slice(from, index);
    if (word.endsWith("'") || word.endsWith('\u2019')) word = word.slice(0, -1);
    if (word.includes('\u2019')) word = word.replaceAll('\u2019', "'");
    let isAddress = false;
    let isLink = false;
    if ((word === 'http' || word === 'https') && text.startsWith('://', index)) {
      // The target of a Markdown link is a reference, not a destination.
      isLink = text.charCodeAt(from - 1) === 40 && text.charCodeAt(from - 2) === 93;
      isAddress = !isLink;
      while (index < text.length && text.charCodeAt(index) > 32 && !'<>")\'`'.includes(text.charAt(index))) index += 1;
    } else if (text.charCodeAt(index) === 64 && isLetter(text.charCodeAt(index + 1))) {
      while (index < text.length && text.charCodeAt(index) > 32 && !'<>")\'`'.includes(text.charAt(index))) index += 1;
      // `package@1.2.3` is a version.
      isAddress = /^[^@]*@[\w-]+\.[a-z]/.test(text.slice(from, index));
    }
    const known = isAddress ? undefined : lexicon.get(word);
    if (isClause && text.startsWith('="', from - 2) && optionEnd.test(text.slice(index, index + maxAttribute))) {
      isClause = false;
    }
    if (word.charCodeAt(0) > 0x3ff || word.charCodeAt(word.length - 1) > 0x3ff) second |= scriptsOf(word);
    if (known !== undefined || isAddress) {
      const one = (known?.first ?? 0) | (isAddress ? ADDRESS : 0);
      first |= one;
      second |= known?.second ?? 0;
      words.push({
        text: word,
        position,
        first: isClause ? one | CLAUSE : one,
        second: known?.second ?? 0,
        sign: text.charAt(index),
        start: from,
        end: index,
      });
    }
    if (isClause) clauses.push(position);
    all.push(isAddress ? 'http' : isLink ? 'link' : word);
    position += 1;
    isClause = false;
    if (position >= maxWords) finish(index);
  }
  finish(text.length);
  return sentences;
};

/** Returns 0 within a sentence, 1 between items or separate lines, 2 between paragraphs. */
const breakOf = (source: string, gap: string, next: number): number => {
  const feed = gap.indexOf('\n');
  if (feed === -1) return 0;
  if (gap.indexOf('\n', feed + 1) !== -1) return 2;
  const code = source.charCodeAt(next);
  // A list item, a heading, a quotation, a table row or a code comment.
  if (code === 35) return 2;
  return code === 45 || code === 42 || code === 43 || code === 124 || (code >= 48 && code <= 57) ? 1 : 0;
};

const bitsOfScripts = scripts.map(([first, last, names]) => ({
  first,
  last,
  bits: names.reduce((bits, name) => bits | languageBit(name), 0),
}));

/** Returns the bits of the languages whose script contains this character. */
const scriptOf = (code: number): number =>
  bitsOfScripts.find(({ first, last }) => code >= first && code <= last)?.bits ?? 0;

/**
 * Returns the bits of the scripts at both ends of a word. Where no spaces separate words, one may begin with a name.
 */
const scriptsOf = (word: string): number => {
  let last = 0;
  for (let index = word.length - 1; index >= 0 && last === 0; index -= 1) last = scriptOf(word.charCodeAt(index));
  return scriptOf(word.charCodeAt(0)) | last;
};
