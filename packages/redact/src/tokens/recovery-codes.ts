import type { Reader } from '../text/reader.js';
import type { Secret } from '../text/replace.js';

/** Matches what announces the codes for a second factor. */
const announcement = /(?:recovery|backup|scratch|emergency)[ _-]?(?:scratch[ _-]?)?codes?\b[^\n]{0,60}$/i;
/** Matches the next code in a list, a line or an array. Codes have digits; other words end the list. */
const code =
  /^(?:[\s,["'`]|\d{1,2}[.)] |[-*•] ){1,24}(?=[a-z-]*\d)([a-z\d]{4,12}(?:-[a-z\d]{4,12}){0,5})(?=[\s,"'`\]]|$)/i;
const maxCodes = 20;
const maxCode = 120;

/** Finds the codes behind `Recovery codes:`, on the same line or below. @param from offset behind the sign */
export const findRecoveryCodes = (reader: Reader, nameEnd: number, from: number): Secret | undefined => {
  const near = reader.text.slice(Math.max(reader.barrier, nameEnd - 100), nameEnd);
  if (!near.includes('ode') || !announcement.test(near)) return undefined;
  const found: Secret[] = [];
  let end = from;
  for (let codes = 0; codes < maxCodes; codes += 1) {
    const next = code.exec(reader.slice(end, end + maxCode));
    const value = next?.[1];
    if (next === null || value === undefined) break;
    end += next[0].length;
    found.push({ kind: 'recovery-code', start: end - value.length, end });
  }
  return found[0] === undefined ? undefined : { ...found[0], more: found };
};

const phraseName =
  /(?:(?:seed|recovery|secret|backup)[ _-]phrase|phrase$|mnemonic|seed words|recovery words)[^\n]{0,80}$/i;
/** Matches the next word of a phrase, which may have a number. BIP 39 has words of three to eight letters. */
const phraseWord = /^\s{0,8}(?:\d{1,2}[.):]\s{0,4})?([a-z]{3,8})(?=\s|$)/;
/** Minimum and maximum number of words of a phrase in BIP 39. */
const phraseLength = { min: 12, max: 24 };

/** Finds the words, with or without numbers, below `Recovery phrase:`. @param from offset behind the sign */
export const findRecoveryWords = (reader: Reader, nameEnd: number, from: number): Secret | undefined => {
  if (!phraseName.test(reader.text.slice(Math.max(reader.barrier, nameEnd - 100), nameEnd))) return undefined;
  const found: Secret[] = [];
  let end = from;
  while (found.length < phraseLength.max) {
    const next = phraseWord.exec(reader.slice(end, end + 32));
    const value = next?.[1];
    if (next === null || value === undefined) break;
    end += next[0].length;
    found.push({ kind: 'recovery-code', start: end - value.length, end });
  }
  return found.length < phraseLength.min || found[0] === undefined ? undefined : { ...found[0], more: found };
};

/** Matches the words of a phrase on one line, and in quotes. */
const phrase = /^(["']?)([a-z]{3,8}(?: [a-z]{3,8}){11,23})\1(?=["',\]}\s]|$)/;

/** Finds the words in `"seed": "…"`. @param from offset of the value */
export const findSeed = (reader: Reader, from: number): Secret | undefined => {
  const value = phrase.exec(reader.slice(from, from + 220))?.[2];
  if (value === undefined || value.split(' ').length % 3 !== 0) return undefined;
  const start = reader.text.indexOf(value, from);
  return { kind: 'recovery-code', start, end: start + value.length };
};
