import { codeAt } from '../text/characters.js';
import { foreignNames } from './key-name.js';
import type { Reader } from '../text/reader.js';
import type { Secret } from '../text/replace.js';
import { skipGap } from '../text/gaps.js';
import type { Key } from './key.js';
import { isForeignLetter } from './mentions.js';
import { valueOf } from '../values/value-of-name.js';

const wideColon = 0xff1a;

const foreignName = new RegExp(`(?:${foreignNames})$`, 'i');
const maxName = 32;

/** Whether a letter beyond ASCII is where the words for a password have one, from their end. */
export const mayBeForeign = (text: string, end: number): boolean =>
  isForeignLetter(codeAt(text, end - 1)) ||
  isForeignLetter(codeAt(text, end - 2)) ||
  isForeignLetter(codeAt(text, end - 5)) ||
  isForeignLetter(codeAt(text, end - 7)) ||
  isForeignLetter(codeAt(text, end - 8)) ||
  isForeignLetter(codeAt(text, end - 11));

/** Returns the key of a word for a password that ends here, if it has letters beyond ASCII. */
export const foreignKey = ({ text, barrier }: Reader, end: number): Key | undefined => {
  if (!mayBeForeign(text, end)) return undefined;
  if (!foreignName.test(text.slice(Math.max(barrier, end - maxName), end))) return undefined;
  return { name: 'password', strength: 'strong', start: end, isQuoted: false, isTight: false };
};

/** Finds the value behind the wide colon of `密码：…`. Called for the character behind it. */
export const findBehindWideColon = (reader: Reader, index: number): Secret | undefined => {
  const start = index - 1;
  if (start < reader.barrier || codeAt(reader.text, start) !== wideColon) return undefined;
  const key = foreignKey(reader, start);
  return key === undefined ? undefined : valueOf(reader, key, skipGap(reader, index), { isColon: true });
};
