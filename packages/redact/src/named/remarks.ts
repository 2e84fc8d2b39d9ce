import { codeAt, valueStop } from '../text/characters.js';
import { isMixed, isPassphrase } from '../values/chosen-value.js';
import { keyStrength, mayEndKey } from '../names/key-name.js';
import type { Reader } from '../text/reader.js';
import type { Secret } from '../text/replace.js';
import { isPlaceholder, isPublicIdentifier, looksRandom } from '../values/value.js';

const space = 32;
const slash = 47;
const hash = 35;
const minValue = 8;
const maxValue = 80;
const maxRemark = 56;
/** Matches a remark of a few words behind a string. */
const remark = /^[;,)]{0,2}[ \t]{1,4}(?:\/\/|#)[ \t]?((?:[\w'-]{1,16} ){0,3}[\w-]{2,24})[ \t]*(?=\r?\n|$)/;

/** Returns quickly whether a remark may follow behind a quote. */
export const mayBeRemarked = (text: string, index: number): boolean => {
  let at = index;
  while (at < index + 7 && isBetween(codeAt(text, at))) at += 1;
  return at >= text.length || codeAt(text, at) === slash || codeAt(text, at) === hash;
};

/** Whether the code is a space, a tab or a sign that may follow a string. */
const isBetween = (code: number): boolean => code === 32 || code === 9 || code === 59 || code === 44 || code === 41;

/** Finds the string that a remark behind it names, as in `"…"; // api key`. Called for the character behind the quote. */
export const findRemarked = (reader: Reader, index: number): Secret | undefined => {
  const { text } = reader;
  if (!mayBeRemarked(text, index)) return undefined;
  const behind = remark.exec(reader.slice(index, index + maxRemark));
  if (behind === null) return undefined;
  const end = index - 1;
  const floor = Math.max(reader.barrier, end - maxValue - 1);
  const start = text.lastIndexOf(text.charAt(end), end - 1) + 1;
  if (start <= floor) return undefined;
  return isNamed(reader, text.slice(start, end), behind[1] ?? '') ? { kind: 'assignment', start, end } : undefined;
};

/** Finds the value in `- … # deploy token`. Called for the hyphen that begins the line. */
export const findRemarkedItem = (reader: Reader, index: number): Secret | undefined => {
  const start = index + 2;
  if (reader.code(index + 1) !== space) return undefined;
  const end = reader.endOfRun(start, valueStop, maxValue, false);
  // Most items are sentences.
  if (end - start < minValue || reader.code(end) !== space || reader.code(end + 1) !== hash) return undefined;
  const behind = remark.exec(reader.slice(end, end + maxRemark));
  const isSecret = behind !== null && isNamed(reader, reader.text.slice(start, end), behind[1] ?? '');
  return isSecret ? { kind: 'assignment', start, end } : undefined;
};

/** Matches what a secret is for, behind its name. */
const purpose = / (?:for|of|in|on|from|to) .*$/;

/** Whether a value is chosen or random, and the last words of a remark are the name of a secret. */
const isNamed = ({ replacement }: Reader, value: string, name: string): boolean => {
  const named = name.replace(purpose, '');
  if (value.length < minValue || /[\s/(=\\[\]{}^]/.test(value) || !mayEndKey(named, named.length)) return false;
  const words = named.split(' ');
  const strength = keyStrength(words.slice(-2).join(' ')) ?? keyStrength(words.at(-1) ?? '');
  const isChosen =
    looksRandom(value) || (strength === 'strong' && (isMixed(value, { isQuoted: false }) || isPassphrase(value)));
  return (
    strength !== undefined &&
    isChosen &&
    !isPublicIdentifier(value) &&
    !isPlaceholder(value) &&
    !value.includes(replacement)
  );
};
