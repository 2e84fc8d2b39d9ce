import { fold, foldText } from './fold.js';
import type { Region } from './regions.js';
import { asksSomething } from './requests.js';
import { sentencesOf } from './sentences.js';

/** Single letters of an alphabet with a space, a sign or a line feed between them. */
const letters = /(?<!\p{L})(?:[a-z\u00df-\u052f][ .\-_*|\n]{1,3}){11,400}[a-z\u00df-\u052f](?!\p{L})/giu;
/** Three of them, a faster test without the flags. */
const some = /[ .\-_*|\n](?:[A-Za-z\u017f\u212a\u00c0-\u052f][ .\-_*|\n]{1,3}){3}/;
/** Words of requests. Two of them among single letters are no coincidence. */
const telling =
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
  (foldText(match.replace(/[^\p{L}]/gu, '')).match(telling)?.length ?? 0) > 1;

/** Whether the words, which wider gaps separate, form a request. */
const isRequest = (match: string): boolean => {
  const isJoined = (match.match(/\p{L}[.\-_*|]\p{L}/gu)?.length ?? 0) > 4;
  const said = isJoined
    ? match.replace(/[.\-_*|]/g, '')
    : match.replace(/(?<=\p{L})[ .\-_*|\n](?=\p{L}(?!\p{L}))/gu, '').replace(/[ .\-_*|\n]+/g, ' ');
  return said.split(' ').length >= 3 && asksSomething(sentencesOf(said, fold(said)));
};
