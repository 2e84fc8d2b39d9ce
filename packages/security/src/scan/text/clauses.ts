import * as is from './lexicon.js';
import type { Sentence, Word } from './sentences.js';

export type View = Pick<Sentence, 'words' | 'all' | 'joined'>;

export const has = (word: Word | undefined, first: number, second = 0): boolean =>
  word !== undefined && ((word.first & first) !== 0 || (word.second & second) !== 0);

/** Returns words of these classes at most `distance` words before (or after, if negative) the word. */
export const near = (
  words: readonly Word[],
  at: number,
  before: number,
  after: number,
  first: number,
  second = 0,
): number => {
  const here = words[at]?.position ?? 0;
  for (let index = at - 1; index >= 0; index -= 1) {
    const word = words[index];
    if (word === undefined || here - word.position > before) break;
    if (has(word, first, second)) return index;
  }
  for (let index = at + 1; index < words.length; index += 1) {
    const word = words[index];
    if (word === undefined || word.position - here > after) break;
    if (has(word, first, second)) return index;
  }
  return -1;
};

export const isNegated = (words: readonly Word[], at: number): boolean => {
  const by = near(words, at, 3, 0, is.NOT);
  if (by !== -1) return true;
  return near(words, at, 2, 0, 0, is.STOP) !== -1;
};

/** Whether a verb expresses a request: it begins a clause, or follows a word that introduces a request. */
export const isAsked = (words: readonly Word[], at: number): boolean => {
  const word = words[at];
  if (word === undefined || (word.first & is.BASE) === 0) return false;
  if ((word.first & is.CLAUSE) !== 0) return true;
  const last = words[at - 1];
  if (last === undefined) return false;
  const distance = word.position - last.position;
  if (last.text === 'now' && has(words[at - 2], 0, is.AUXILIARY)) return false;
  if (distance === 1 && has(last, is.MUST | is.NOT | is.COVERT | is.EMPHASIS, is.LEAD)) return true;
  if (last.text === 'now' && distance === 2) return true;
  // `have to`, `are required to`; `could you`
  return (distance === 2 && has(last, is.MUST)) || (distance === 1 && has(last, is.YOU) && words[at - 2] === undefined);
};

export const hasAsk = (words: readonly Word[]): boolean => words.some((_, at) => isAsked(words, at));

/** Whether the request begins with a stop or a negation just before this word. */
export const opensAsRequest = (words: readonly Word[], at: number): boolean => {
  const here = words[at]?.position ?? 0;
  return words.some(
    (word, index) =>
      index < at &&
      here - word.position <= 4 &&
      (isAsked(words, index) || ((word.first & is.CLAUSE) !== 0 && has(word, is.NOT, is.STOP))),
  );
};

/** Whether a request is reported (`a page asks you to …`), unless the speaker makes the request. */
export const isReported = (all: readonly string[], word: Word | undefined): boolean => {
  const before = all.slice(Math.max(0, (word?.position ?? 0) - 5), word?.position);
  // `a user tries to make you ignore …`
  if (
    /^(?:tr(?:y|ies|ied|ying)|attempt(?:s|ed|ing)?|wants|seeks) to (?:make|get|have) you$/.test(
      before.slice(-4).join(' '),
    )
  ) {
    return true;
  }
  if (before.at(-1) !== 'to') return false;
  return !before.some((one) => /^(?:i|we|must|should|need|required|order|want|have|please)$/.test(one));
};

export const lastVerb = (words: readonly Word[], at: number, first: number, second = 0): number => {
  const here = words[at]?.position ?? 0;
  for (let index = at - 1; index >= 0; index -= 1) {
    const word = words[index];
    if (word === undefined || here - word.position > 8) break;
    if (has(word, first, second)) return index;
  }
  return -1;
};
