import { codeAt } from '../text/characters.js';
import { isChosen, isUnlikeWord, isWords, maxChosen, type Style } from './chosen-value.js';
import { endsLine } from '../text/gaps.js';
import { maxKeyLength } from '../names/key-name.js';
import type { Key } from '../names/key.js';
import type { Reader } from '../text/reader.js';
import { isHash, isPlaceholder, isPublicIdentifier } from './value.js';

/** Matches weak names whose values may be a UUID, which does not look random. */
const mayBeUuid = /(?:secret[\s_-]?id|device[\s_-]?code|auth[\s_-]?string|token|password)$/i;

/** Matches the id or the fingerprint of a key of OpenPGP, and what precedes it in text. */
const fingerprint = /^(?:0x)?(?:[\dA-F]{16}|[\dA-F]{40})$/;

const publicKey = /^(?:signing key|(?:(?:open|gnu)?pgp|gpg) key:?) $/i;

/** Matches the path of a file that holds a secret, or of an image. */
const filePath = /^(?:[A-Za-z]:)?[\w .@~-]*(?:[/\\]+[\w .@~-]+)+\.(?:json|pem|key|p12|pfx|jks|crt|png|svg)(?:\?\w+)?$/;

interface Candidate {
  readonly start: number;
  readonly end: number;
  readonly key: Key;
  readonly style: Style;
}

/** Matches text in scripts that have no spaces between words. */
const sentence = /[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]{2}/;

/** Matches the name of the token with which a client of AWS repeats a request. */
const requestToken = /^client-?token$/i;

/** Minimum number of letters and digits of a name that values refer to. */
const minReferred = 10;

/** Minimum number of letters and digits of a value of several words with which its name begins. */
const minShared = 14;

/** Matches names of types with a secret in them, as `V1SecretProjection`. */
const secretType =
  /^(?:[A-Z][A-Za-z]*\d?)?Secret(?:[A-Z][a-z]{3,})*(?:Source|Projection|Reference|Ref|List|Spec|Status|Type|Provider|Store)$/;

/** Whether a name begins with all words of its value, as in `FILE_STORE_V1_KEY = 'file_store_v1'`. */
const sharesStart = (value: string, name: string): boolean => {
  const letters = lettersOf(value);
  return /[-_]/.test(value) && letters.length >= minShared && lettersOf(name).startsWith(letters);
};

const notPlain = /[^A-Za-z\d]/g;

const lettersOf = (text: string): string => text.replaceAll(notPlain, '').toLowerCase();

/** Matches names and members. */
const reference = /^[A-Za-z_$][\w$?.-]*$/;

/** Whether a value is a part of its name or, as names in code, has the name of several words in it. */
export const isReference = (value: string, name: string, { isLiteral }: Pick<Style, 'isLiteral'>): boolean => {
  if (name.endsWith(value)) return true;
  if (isLiteral || value.length > maxKeyLength * 2 || !reference.test(value)) return false;
  if (name.length >= minReferred && value.startsWith(`${name}_`)) return !isUnlikeWord(value.slice(name.length + 1));
  // A password that people make of the name has a number behind it, which names of code rarely have.
  if (/\d$/.test(value) && !/\d$/.test(name)) return false;
  if (sharesStart(value, name) || (/^secret$/i.test(name) && secretType.test(value))) return true;
  const letters = lettersOf(name);
  // The name may say what the value is, as in `['ANTHROPIC_API_KEY', 'anthropic']`.
  if (/^[A-Za-z]{4,}$/.test(value) && letters.startsWith(value.toLowerCase())) return true;
  if (letters.length < minReferred) return false;
  const plain = value.replaceAll(notPlain, '');
  const at = plain.toLowerCase().indexOf(letters);
  // Behind the name, a password is unlike a word.
  return at !== -1 && !isUnlikeWord(plain.slice(at + letters.length));
};

export const isSecret = (reader: Reader, { start, end, key, style }: Candidate): boolean => {
  // The beginning of a value whose rest is replaced: as a whole, it was no secret.
  if (reader.matches(reader.replacement, end)) return false;
  const isRandom = reader.isRandom(start, end);
  if (!isRandom && ((key.strength === 'weak' && !mayBeUuid.test(key.name)) || end - start > maxChosen)) return false;
  const value = reader.text.slice(start, end);
  if (isReference(value, key.name, style) || isPlaceholder(value) || (!isRandom && sentence.test(value))) return false;
  if (requestToken.test(key.name) && isPublicIdentifier(value) && !isHash(value)) return false;
  const isFound =
    isChosen(value, { key, style, isRandom }) ||
    (isWords(value, key.name) && isApart(reader, { start, end, key, style }));
  if (!isFound) return false;
  if ((!isRandom && filePath.test(value)) || value.includes(reader.replacement)) return false;
  return !(fingerprint.test(value) && publicKey.test(reader.text.slice(key.start, start)));
};

/** Matches the name of a user with its value, before another name. */
const userBefore =
  /(?:^|[\s"'({[,;:&.])(?:user|username|user_name|login|uid|userid|user id)["']?\s{0,8}(?:=>?|:)\s{0,4}["']?(?!\$|user|login)[\w.@\\-]{1,64}["']?[,;&\s]{1,4}["']?(?:[\w.-]{1,24}[=:]\S{1,24}[,;&\s]{1,3}){0,2}$/i;

/** Whether a value of letters only is apart from code and prose: in quotes, at the end of its line, or after a user. */
const isApart = (reader: Reader, { start, end, key, style }: Candidate): boolean => {
  if (key.strength !== 'strong') return false;
  if (style.isQuoted) {
    return codeAt(reader.text, end) !== 96 && !/[\w-]/.test(String.fromCharCode(reader.code(end + 1)));
  }
  if (codeAt(reader.text, start) < 97) return false;
  const isLast = endsLine(reader, end);
  if (isLast && (!style.isCode || isDumped(reader, key.start, start))) return true;
  const next = reader.code(end);
  if (isArgument(reader, key.start, next) || isWhole(reader, key.start, next)) return true;
  const isBetween = Number.isNaN(next) || /[\s,;)\]}"'&]/.test(String.fromCharCode(next));
  const isMember = reader.slice(key.start, start).includes('.');
  return isBetween && !isMember && userBefore.test(reader.text.slice(reader.floor(key.start), key.start));
};

/** Matches the name with its sign in an array that PHP prints, or in a makefile. */
const dumped = /^(?:[\w.-]+\] => |[A-Z][A-Z\d_]* [?:]= ?)$/;

/** Whether the notation has data on the right, and never a variable. */
const isDumped = (reader: Reader, from: number, start: number): boolean =>
  start - from <= maxKeyLength + 4 && dumped.test(reader.text.slice(from, start));

/** Whether the name and the value are all of a text in quotes, or a variable with its default as in `${NAME:-value}`. */
export const isWhole = ({ text }: Reader, start: number, next: number): boolean => {
  const before = codeAt(text, start - 1);
  return before === next
    ? next === 34 || next === 39
    : before === 123 && next === 125 && codeAt(text, start - 2) === 36;
};

/** Whether the name is that of a flag, or of a parameter with others around it. */
const isArgument = ({ text }: Reader, start: number, next: number): boolean =>
  (next === 32 && text.endsWith(' --', start)) || (next === 38 && codeAt(text, start - 1) === 38);
