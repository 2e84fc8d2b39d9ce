import { codeAt } from '../text/characters.js';
import { isMixed, isPassphrase, isWords } from '../values/chosen-value.js';
import { keyStrength } from '../names/key-name.js';
import type { Reader } from '../text/reader.js';
import type { Secret } from '../text/replace.js';
import { isPlaceholder, looksRandom } from '../values/value.js';

/** Matches a substitution of `sed` or `perl` up to what replaces, whose pattern is one name, with signs around it. */
const substitution = /^([/|#])[^A-Za-z\d\n]{0,8}([A-Za-z][\w.-]{1,60}?)_{0,4}[^\w\n]{0,8}?\1([^\s"'\\]{4,128}?)\1/;

/** Returns quickly whether a substitution may begin before the sign: behind a quote, a space or a semicolon. */
export const mayBeSubstitution = (text: string, index: number): boolean => {
  const before = codeAt(text, index - 2);
  return before === 34 || before === 39 || before === 32 || before === 59;
};

/** Finds the value that replaces a name, as in `sed 's/__PASSWORD__/…/g'`. Called for the sign behind the `s`. */
export const findSubstitution = (reader: Reader, index: number): Secret | undefined => {
  if (!mayBeSubstitution(reader.text, index) || index - 2 < reader.barrier) return undefined;
  const found = substitution.exec(reader.slice(index, index + 220));
  const [whole = '', sign = '', name = '', value = ''] = found ?? [];
  if (found === null || keyStrength(name) !== 'strong' || value.includes(reader.replacement)) return undefined;
  const isChosen =
    looksRandom(value) || isMixed(value, { isQuoted: false }) || isPassphrase(value) || isWords(value, name);
  if (!isChosen || isPlaceholder(value) || /[$={}]|^&|&$/.test(value)) return undefined;
  const start = index + whole.length - sign.length - value.length;
  return { kind: 'command-line', start, end: start + value.length };
};
