import type { Region } from './regions.js';

/** Letters one by one, with a space or a sign between them. */
const letters = /(?:[a-z][ .\-_*|]{1,2}){11,400}[a-z]/giu;
const attempts =
  /(?:ignore|disregard|forget)(?:all)?(?:of)?(?:the|your)?(?:previous|prior|above|earlier|system)?(?:instruction|prompt|rule|directive)/;

/** Phrases that are spelled letter by letter. */
export const findSpelledOut = (text: string): readonly Region[] =>
  Array.from(text.matchAll(letters))
    .filter(({ 0: match }) => attempts.test(match.replace(/[^a-z]/gi, '').toLowerCase()))
    .map(({ 0: match, index }) => ({ start: index, end: index + match.length }));
