import { fold } from './fold.js';
import type { Region } from './regions.js';
import { asksSomething } from './requests.js';
import { sentencesOf } from './sentences.js';

/** Single letters with a space, a sign or a line feed between them. */
const letters = /(?:[a-z][ .\-_*|\n]{1,3}){11,400}[a-z]/giu;
/** Three of them, a faster test without the flags. */
const some = /[ .\-_*|\n](?:[A-Za-z\u017f\u212a][ .\-_*|\n]{1,3}){3}/;
const attempts =
  /(?:ignore|disregard|forget)(?:all)?(?:of)?(?:the|your)?(?:previous|prior|above|earlier|system)?(?:instruction|prompt|rule|directive)/;

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
    .filter(
      ({ 0: match }) =>
        attempts.test(match.replace(/[^a-z]/gi, '').toLowerCase()) || (!areOptions(match) && isRequest(match)),
    )
    .map(({ 0: match, index }) => ({ start: index, end: index + match.length }));

/** Whether the words, which wider gaps separate, form a request. */
const isRequest = (match: string): boolean => {
  const isJoined = (match.match(/[a-z][.\-_*|][a-z]/gi)?.length ?? 0) > 4;
  const said = isJoined
    ? match.replace(/[.\-_*|]/g, '')
    : match.replace(/(?<=[a-z])[ .\-_*|\n](?=[a-z](?![a-z]))/gi, '').replace(/[ .\-_*|\n]+/g, ' ');
  return said.split(' ').length >= 3 && asksSomething(sentencesOf(said, fold(said)));
};
