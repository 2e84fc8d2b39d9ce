import type { Folded } from './fold.js';
import { scripts } from './languages.js';
import { ADDRESS, CLAUSE, languageBit, lexicon, type WordClasses } from './lexicon.js';
import { hashWith, noHash } from './word-table.js';

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

/** Where a sentence is, and what it is about. */
interface Outline {
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

/** One sentence of a folded text. */
export interface Sentence extends Outline {
  /** Its known words. */
  readonly words: readonly Word[];
  /** All of its words by position; an address counts as one. */
  readonly all: readonly string[];
  /** Its words with a space between them. */
  readonly joined: string;
  /** Positions of the words that begin a clause. */
  readonly clauses: readonly number[];
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
/** Tags of blocks: a sentence ends before each of them. */
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

/* What a word is, and whether it begins a clause. */
const [address, link, clause] = [1, 2, 4];

/** The words of a text, without a copy of any. Rules read the words of few sentences. */
class WordList {
  readonly text: string;
  length = 0;
  /** Where a word starts and ends, where the next character is, which an address has behind it, and what it is. */
  #numbers = new Int32Array(64 * size);
  readonly #known: (WordClasses | undefined)[] = [];

  constructor(text: string) {
    this.text = text;
  }

  add(start: number, end: number, next: number, kind: number, known: WordClasses | undefined): void {
    const place = this.length * size;
    if (place === this.#numbers.length) {
      const grown = new Int32Array(place * 2);
      grown.set(this.#numbers);
      this.#numbers = grown;
    }
    this.#numbers[place] = start;
    this.#numbers[place + 1] = end;
    this.#numbers[place + 2] = next;
    this.#numbers[place + 3] = kind;
    this.#known.push(known);
    this.length += 1;
  }

  /** Returns a word as its sentence lists it. */
  listedAt(index: number): string {
    if (this.#is(index, address)) return 'http';
    return this.#is(index, link) ? 'link' : this.#textAt(index);
  }

  /** Returns a word of the lexicon or an address, `undefined` for others. */
  wordAt(index: number, position: number): Word | undefined {
    const known = this.#known[index];
    if (known === undefined && !this.#is(index, address)) return undefined;
    const [start = 0, end = 0] = [this.#numbers[index * size], this.#numbers[index * size + 2]];
    const first = known?.first ?? ADDRESS;
    return {
      text: this.#textAt(index),
      position,
      first: this.isClauseAt(index) ? first | CLAUSE : first,
      second: known?.second ?? 0,
      sign: this.text.charAt(end),
      start,
      end,
    };
  }

  isClauseAt(index: number): boolean {
    return this.#is(index, clause);
  }

  #is(index: number, kind: number): boolean {
    return ((this.#numbers[index * size + 3] ?? 0) & kind) !== 0;
  }

  #textAt(index: number): string {
    return spelled(this.text, this.#numbers[index * size] ?? 0, this.#numbers[index * size + 1] ?? 0);
  }
}

/** Numbers per word of a list. */
const size = 4;

/** A sentence that was found, whose words are copied when they are first read. */
class FoundSentence implements Sentence {
  readonly start: number;
  readonly end: number;
  readonly paragraph: number;
  readonly item: number;
  readonly first: number;
  readonly second: number;
  readonly #list: WordList;
  readonly #from: number;
  readonly #to: number;
  #words: readonly Word[] | undefined;
  #all: readonly string[] | undefined;
  #joined: string | undefined;

  constructor(list: WordList, from: number, to: number, outline: Outline) {
    this.#list = list;
    this.#from = from;
    this.#to = to;
    this.start = outline.start;
    this.end = outline.end;
    this.paragraph = outline.paragraph;
    this.item = outline.item;
    this.first = outline.first;
    this.second = outline.second;
  }

  get words(): readonly Word[] {
    if (this.#words !== undefined) return this.#words;
    const words: Word[] = [];
    for (let index = this.#from; index < this.#to; index += 1) {
      const word = this.#list.wordAt(index, index - this.#from);
      if (word !== undefined) words.push(word);
    }
    return (this.#words = words);
  }

  get all(): readonly string[] {
    if (this.#all !== undefined) return this.#all;
    const all: string[] = [];
    for (let index = this.#from; index < this.#to; index += 1) all.push(this.#list.listedAt(index));
    return (this.#all = all);
  }

  get joined(): string {
    return (this.#joined ??= this.all.join(' '));
  }

  get clauses(): readonly number[] {
    return Array.from(this.all.keys()).filter((position) => this.#list.isClauseAt(this.#from + position));
  }
}

/**
 * Splits folded text into sentences. Blank lines, items of lists, fields of data and blocks of markup
 * end a sentence, other line feeds do not.
 */
export const sentencesOf = (source: string, { text, at }: Folded): readonly Sentence[] => {
  const sentences: Sentence[] = [];
  const words = new WordList(text);
  let [first, second, paragraph, item, start, begin] = [0, 0, 0, 0, 0, 0];
  let isClause = true;
  let isKnown = false;
  let isRow = source.charCodeAt(0) === 124;
  const finish = (end: number): void => {
    if (isKnown || second !== 0) {
      sentences.push(new FoundSentence(words, begin, words.length, { start, end, paragraph, item, first, second }));
    }
    [first, second, start, begin] = [0, 0, end, words.length];
    isClause = true;
    isKnown = false;
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
    let hash = hashWith(noHash, code);
    let hashBefore = noHash;
    let hasQuote = false;
    index += 1;
    for (let next = text.charCodeAt(index); isLetter(next); next = text.charCodeAt(index)) {
      hashBefore = hash;
      hash = hashWith(hash, next);
      if (next === 0x2019) hasQuote = true;
      index += 1;
    }
    const last = text.charCodeAt(index - 1);
    const isShorter = last === 39 || last === 0x2019;
    const wordEnd = isShorter ? index - 1 : index;
    let kind = 0;
    const next = text.charCodeAt(index);
    if (
      next === 58 &&
      text.startsWith('http', from) &&
      isScheme(text, from, wordEnd) &&
      text.startsWith('://', index)
    ) {
      // The target of a Markdown link is a reference, not a destination.
      const isLink = text.charCodeAt(from - 1) === 40 && text.charCodeAt(from - 2) === 93;
      kind = isLink ? link : address;
      index = endOfAddress(text, index);
    } else if (next === 64 && isLetter(text.charCodeAt(index + 1))) {
      index = endOfAddress(text, index);
      // `package@1.2.3` is a version.
      if (/^[^@]*@[\w-]+\.[a-z]/.test(text.slice(from, index))) kind = address;
    }
    const isAddress = kind === address;
    const known = isAddress
      ? undefined
      : hasQuote
        ? lexicon.get(spelled(text, from, wordEnd))
        : lexicon.find(text, from, wordEnd, isShorter ? hashBefore : hash);
    if (
      isClause &&
      text.charCodeAt(from - 1) === 34 &&
      text.charCodeAt(from - 2) === 61 &&
      optionEnd.test(text.slice(index, index + maxAttribute))
    ) {
      isClause = false;
    }
    if (mayBeForeign(code) || mayBeForeign(text.charCodeAt(wordEnd - 1))) {
      second |= scriptsOf(spelled(text, from, wordEnd));
    }
    if (known !== undefined || isAddress) {
      first |= known?.first ?? ADDRESS;
      second |= known?.second ?? 0;
      isKnown = true;
    }
    words.add(from, wordEnd, index, isClause ? kind | clause : kind, known);
    isClause = false;
    if (words.length - begin >= maxWords) finish(index);
  }
  finish(text.length);
  return sentences;
};

/** Whether a character may be of a script other than the Latin one. */
const mayBeForeign = (code: number): boolean => code > 0x3ff && code !== 0x2019;

/** Returns a word with straight apostrophes. */
const spelled = (text: string, start: number, end: number): string => {
  const word = text.slice(start, end);
  return word.includes('\u2019') ? word.replaceAll('\u2019', "'") : word;
};

/** Whether a word that begins with `http` is the scheme of an address. */
const isScheme = (text: string, start: number, end: number): boolean =>
  end - start === 4 || (end - start === 5 && text.charCodeAt(start + 4) === 115);

const endOfAddress = (text: string, start: number): number => {
  let end = start;
  while (end < text.length && text.charCodeAt(end) > 32 && !'<>")\'`'.includes(text.charAt(end))) end += 1;
  return end;
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
