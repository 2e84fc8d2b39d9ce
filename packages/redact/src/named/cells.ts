import { isOfNames, isOfUnion, isUnlike } from './behind-signs.js';
import { findCredentialArgument, mayBeCredential } from './calls.js';
import { findCertainLiteral } from '../values/certain-literal.js';
import { codeAt, is, key as keyClass } from '../text/characters.js';
import {
  isMixed,
  isNumbered,
  isPassphrase,
  isPasswordLike,
  isWords,
  passphraseName,
  snakeName,
} from '../values/chosen-value.js';
import { findBarColumns, findSeparatedColumns, mayEndColumn } from './columns.js';
import { keyStrength, maxKeyLength, mayEndKey } from '../names/key-name.js';
import { quoteAt } from '../text/quotes.js';
import { isRandomLetters } from '../values/random-letters.js';
import type { Reader } from '../text/reader.js';
import type { Secret } from '../text/replace.js';
import { maxSpaces, readKey, type Key } from '../names/key.js';
import { bars } from '../values/value-extent.js';
import { valueOf } from '../values/value-of-name.js';
import { isPlaceholder, isPublicIdentifier, looksRandom } from '../values/value.js';

const opening = 40;
const closing = 41;
const comma = 44;
const closingBracket = 93;
const brace = 123;
const doubleQuote = 34;
const letterD = 100;
const letterH = 104;

/** Returns the end of the name before a separator: before spaces, quotes and the brackets of a selector. */
const endOfCell = (text: string, separator: number, barrier: number): number => {
  let end = separator;
  while (end > barrier && separator - end < maxSpaces && codeAt(text, end - 1) === 32) end -= 1;
  // The name is in quotes, or in the brackets of a selector such as `'input[name="password"]'`.
  while (end > barrier && separator - end < maxSpaces && isClosing(codeAt(text, end - 1))) end -= 1;
  return end;
};

/** Returns quickly whether a value may be in the next table cell or the next argument. */
export const mayBeNeighbor = (text: string, index: number): boolean => {
  const isTight = is(codeAt(text, index - 1), keyClass);
  if (isTight && codeAt(text, index + 1) !== 32 && index + 1 < text.length) return false;
  if (mayEndKey(text, endOfCell(text, index, 0))) return true;
  return codeAt(text, index) === comma && (mayEndColumn(text, index) || mayBeCredential(text, index));
};

/** Finds the value in the next table cell or the next argument. Called for `|`, or for a comma after a quote. */
export const findNeighbor = (reader: Reader, index: number): Secret | undefined => {
  const isTight = is(codeAt(reader.text, index - 1), keyClass);
  if (isTight && !(reader.code(index + 1) === 32 && startsWithBar(reader, index))) return undefined;
  const found = findNext(reader, index, index + 1);
  if (found !== undefined || reader.starved || codeAt(reader.text, index) !== comma) return found;
  const below = findSeparatedColumns(reader, index);
  return below !== undefined || reader.starved ? below : findCredentialArgument(reader, index);
};

/** Whether the line begins with a bar, so that one behind a word ends a cell. */
const startsWithBar = (reader: Reader, index: number): boolean =>
  /(?:^|\n)\|[^\n]*$/.test(reader.text.slice(reader.floor(index), index));

/** Finds the value in the next cell of a table with box characters. Called for the character after one. */
export const findCell = (reader: Reader, index: number): Secret | undefined =>
  index > reader.barrier && bars.has(codeAt(reader.text, index - 1)) ? findNext(reader, index - 1, index) : undefined;

/** Matches the command of Redis that authenticates, as its logs print it. */
const login = /(?:\]|\d|^|\n) ?"auth$/i;

/** Matches the user before the password. */
const quotedUser = /^"[\w.@-]{1,62}" (?=")/;

/** Finds the value in `"requirepass" "…"` and `"auth" "…"`, as logs of Redis print commands. Called for the space. */
export const findQuotedPair = (reader: Reader, index: number): Secret | undefined => {
  const { text } = reader;
  const end = index - 1;
  if (reader.code(index + 1) !== doubleQuote || reader.code(index + 2) === doubleQuote) return undefined;
  const isLogin = (codeAt(text, end - 1) | 32) === letterH && login.test(text.slice(reader.floor(end), end));
  const key = isLogin || !mayEndKey(text, end) ? undefined : readKey(reader, end, end);
  // The name may be that of a registry with the name of its token behind it.
  const isName =
    key?.strength === 'strong' && (codeAt(text, key.start - 1) === doubleQuote || text.startsWith(':_', key.start - 1));
  if (!isLogin && !isName) return undefined;
  const name = key?.name ?? 'password';
  const start = key?.start ?? end - 4;
  const user = isLogin ? quotedUser.exec(reader.slice(index + 1, index + 68))?.[0].length : undefined;
  const found: Key = { name, strength: 'strong', start, isQuoted: true, isTight: false };
  return valueOf(reader, found, index + 1 + (user ?? 0), { isColon: true });
};

/** Finds the value behind a separator. @param from the first character after it */
const findNext = (reader: Reader, separator: number, from: number): Secret | undefined => {
  const { text, barrier } = reader;
  const end = endOfCell(text, separator, barrier);
  if ((codeAt(text, end - 1) | 32) === letterD && text.endsWith('tokenid', end)) return findTokenOf(reader, from);
  if (!mayEndKey(text, end)) return undefined;
  const floor = Math.max(barrier, end - maxKeyLength - 1);
  let start = end;
  while (start > floor && is(codeAt(text, start - 1), keyClass)) start -= 1;
  const name = text.slice(start, end);
  const strength = keyStrength(name);
  const isCell = codeAt(text, separator) !== comma;
  // A title may have several words.
  const below = isCell ? findBarColumns(reader, from) : undefined;
  if (below !== undefined || reader.starved || strength === undefined) return below;
  const valueStart = reader.skipSpaces(isCell ? afterTypeCell(reader, from) : from, maxSpaces);
  if (!isCell && quoteAt(reader, valueStart) === undefined) return undefined;
  const preset = !isCell && strength === 'strong' && isOfEnvironment(reader, start, name);
  const certain = preset ? findCertainLiteral(reader, valueStart) : undefined;
  if (certain !== undefined || reader.starved) return certain;
  // A cell has no variables, so that a UUID is a token there.
  const key: Key = {
    name: isCell ? name.replace(/^t(?=oken$)/, 'T') : name,
    strength,
    start,
    isQuoted: true,
    isTight: false,
  };
  const found = valueOf(reader, key, valueStart, { isColon: true, isCell });
  if (found === undefined) return undefined;
  const value = text.slice(found.start, found.end);
  if (isCell ? isSibling(name, value) : address.test(value) || isOfNames(reader, key, value)) return undefined;
  if (looksRandom(value) && !(isCell ? typeName : snakeName).test(value)) return found;
  const next = reader.code(isCell ? reader.skipSpaces(found.end, maxSpaces) : afterQuotes(reader, found.end));
  const closes = isCell
    ? next === 124 || next === 96 || bars.has(next)
    : next === 41 ||
      next === 93 ||
      next === 125 ||
      (next === comma && (isSelector(text, start, end) || rowId.test(text.slice(reader.floor(start), start)))) ||
      overwrites.test(reader.slice(afterQuotes(reader, found.end), found.end + 12));
  const isLast = (isCell ? isRow(text.slice(reader.floor(start), start)) : isFirst(reader, start)) && isEnd(next);
  const isWord =
    (/^[a-z]+\d{0,2}$/i.test(value) && !isNumbered(value) && !isRandomLetters(value)) ||
    model.test(value) ||
    snakeName.test(value) ||
    value.includes('.*');
  const isChosen =
    (isMixed(value, { isQuoted: false }) && !isWord) ||
    (isPassphrase(value) && passphraseName.test(name)) ||
    ((isCell ? closes || isFirst(reader, start + 1) : environmentName.test(name)) && isWords(value, name));
  return (closes || isLast || (isCell && isFirst(reader, start + 1) && isEnd(next))) && isChosen ? found : undefined;
};

/** Matches the rest of the row with the id of a token, other rows, and the row with its value. */
const tokenRow = /^[^\n]{1,160}\r?\n(?:[^\n]{0,160}\n){0,4}?[│|┃] ?value {1,40}[│|┃] {1,4}(?=[\w.-]{16,})/;

/** Finds the value of a token that has its id in a row above. */
const findTokenOf = (reader: Reader, from: number): Secret | undefined => {
  const head = tokenRow.exec(reader.slice(from, from + 900));
  if (head === null) return undefined;
  const start = from + head[0].length;
  const end = reader.endOfRun(start, keyClass, 256);
  const secret: Secret = { kind: 'assignment', start, end };
  return reader.text.slice(start, end).includes(reader.replacement) ? undefined : { ...secret, more: [secret] };
};

/** Matches a call that reads a variable of the environment, as `getenv(` and `ENV.fetch(`, up to the name. */
const readsEnvironment = /(?<!set|put)env(?:iron)?(?:\(\))?(?:(?:\.|::|->)\w{1,16})?\(\s{0,8}\\{0,15}["']$/i;

/** Whether a name is that of a variable of the environment with a default behind it. */
const isOfEnvironment = (reader: Reader, start: number, name: string): boolean =>
  /^[A-Z][A-Z\d_]*$/.test(name) && readsEnvironment.test(reader.text.slice(reader.floor(start), start));

/** Matches the number of a row, up to the separator or the quote before its second cell. */
const rowId = /(?:^|\n)\(?["']?\d{1,9}["']?[,;|] ?["']?$/;

/** Finds the value in the cell behind a name in a row that begins with a number, as in `3,smtp_password,…,yes`. */
const findBehindId = (reader: Reader, key: Key, index: number): Secret | undefined => {
  if (!rowId.test(reader.text.slice(reader.floor(key.start), key.start))) return undefined;
  const found = valueOf(reader, { ...key, isTight: false }, index + 1, { isColon: true });
  if (found === undefined || !isPasswordLike(reader.text.slice(found.start, found.end))) return undefined;
  const next = reader.code(found.end);
  return next === reader.code(index) || isEnd(next) ? found : undefined;
};

/** Finds the value behind a name in the second cell of a row, at a semicolon or a bar without spaces. */
export const findRowValue = (reader: Reader, index: number): Secret | undefined => {
  const key = reader.code(index + 1) === 32 ? undefined : readKey(reader, index, index);
  return key?.strength === 'strong' && reader.before(key.start) === reader.code(index)
    ? findBehindId(reader, key, index)
    : undefined;
};

/** Whether a name is that of a field in a selector, as in `input[name=password]` and `#password`. */
const isSelector = (text: string, start: number, end: number): boolean =>
  text.charAt(start - 1) === '#' ||
  (codeAt(text, end) === closingBracket && /=["'\\]{0,2}$/.test(text.slice(start - 3, start)));

/** Matches the last argument of `setenv`. */
const overwrites = /^, ?(?:[01]|true)\)/;
/** Matches the names of variables of the environment. */
const environmentName = /^[A-Z][A-Z\d]*(?:_[A-Z\d]+)+$/;
/** Matches a host with a port. */
const address = /^(?:localhost|[\w-]+(?:\.[\w-]+)+):\d{2,5}$/;

/** Matches names of types, as in a union. */
const typeName = /^[A-Z][A-Za-z\d]*[a-z]{3}$/;

/** Whether a name and a value are types of a union: they begin and end with the same word, or have the same digits. */
const isSibling = (name: string, value: string): boolean =>
  (/^[A-Z][a-z]{4}/.test(value) && name.startsWith(value.slice(0, 5)) && name.endsWith(value.slice(-5))) ||
  isOfUnion(name, value);

/** Matches names of models and packages. */
const model = /^[a-z]+(?:-[a-z\d.]+)+$/;

const isClosing = (code: number): boolean => code === 34 || code === 39 || code === 96 || code === 93;

/** Matches a cell with the type of the value in the cell behind it. */
const typeCell = /^ {0,24}[A-Z][A-Za-z]{2,15} {0,24}[|│┃║]/;

/** Returns the start of the cell with the value, which may be behind one with its type. */
const afterTypeCell = (reader: Reader, from: number): number =>
  from + (typeCell.exec(reader.slice(from, from + 66))?.[0].length ?? 0);

/** Returns the offset behind the quotes and spaces after an argument. */
const afterQuotes = (reader: Reader, end: number): number => {
  let index = end;
  while (index < end + 8 && quotes.has(reader.code(index))) index += 1;
  return reader.skipSpaces(index, 4);
};

const quotes: ReadonlySet<number> = new Set(Array.from('"\'`\\', (character) => character.charCodeAt(0)));

/** Finds the value in a line `name,value`, or below a name in a file with columns. Called for the comma. */
export const findField = (reader: Reader, index: number): Secret | undefined => {
  const below = findSeparatedColumns(reader, index);
  if (below !== undefined || reader.starved) return below;
  if (!mayEndKey(reader.text, index)) return undefined;
  const key = readKey(reader, index, index);
  if (key === undefined) return undefined;
  const before = reader.before(key.start);
  const afterSpaces = reader.skipSpaces(index + 1, 2);
  // A binary in Erlang.
  const valueStart = reader.matches('<<', afterSpaces) ? afterSpaces + 2 : afterSpaces;
  const isTuple = before === brace && quoteAt(reader, valueStart) !== undefined;
  const isPair = before === opening;
  if (key.strength !== 'strong') return undefined;
  if (before === reader.code(index)) return findBehindId(reader, key, index);
  if (!(Number.isNaN(before) || before === 10 || isTuple || isPair)) return undefined;
  const found = valueOf(reader, { ...key, isTight: false }, isTuple || isPair ? valueStart : index + 1);
  // A pair that Java or Scala prints. In code, it may be two arguments.
  if (found !== undefined && isPair) {
    return reader.code(found.end) === closing && isUnlike(reader.text.slice(found.start, found.end))
      ? found
      : undefined;
  }
  return found !== undefined && (isTuple || isEnd(reader.code(found.end))) ? found : undefined;
};

/** Whether a row of a table begins here, with a cell before. */
const isRow = (before: string): boolean => before.lastIndexOf('|') > before.lastIndexOf('\n');

/** Whether the quote before the offset begins the line. */
const isFirst = (reader: Reader, start: number): boolean => {
  const before = reader.before(start - 1);
  return Number.isNaN(before) || before === 10;
};

const isEnd = (code: number): boolean => Number.isNaN(code) || code === 10 || code === 13;

/** Returns the end of the expression before the sign of a fallback. */
const endOfExpression = (text: string, index: number, barrier: number): number => {
  let end = index - 1;
  while (end > barrier && index - end < 8 && isBracket(codeAt(text, end - 1))) end -= 1;
  return end;
};

/** Returns quickly whether the name of a secret may be before the sign of a fallback. */
export const mayBeFallback = (text: string, index: number): boolean => mayEndKey(text, endOfExpression(text, index, 0));

/** Finds the value of `process.env.PASSWORD || "…"` and `?? "…"`. Called for the second character of the sign. */
export const findFallback = (reader: Reader, index: number): Secret | undefined => {
  const { text } = reader;
  const end = endOfExpression(text, index, reader.barrier);
  if (!mayEndKey(text, end)) return undefined;
  const start = reader.skipSpaces(index + 1, maxSpaces);
  const key = quoteAt(reader, start) === undefined ? undefined : readKey(reader, end, index);
  return key === undefined ? undefined : valueOf(reader, key, start);
};

/** Whether the code is a space or closes a subscript or a call. */
const isBracket = (code: number): boolean => code === 32 || code === 34 || code === 39 || code === 41 || code === 93;

/** Matches the binaries of a user and a password in Erlang, up to the sign between them. */
const userBinary = /<<"[\w.@-]{1,48}">>$/;
const passwordBinary = /^,\s?(?:\{\w{1,16},\s?)?<<"([^"\n]{8,64})">>/;

/** Returns quickly whether two binaries of Erlang may be around a comma. */
export const mayBeBinaryPair = (text: string, index: number): boolean =>
  text.endsWith('">>', index) &&
  (text.startsWith('<<"', index + 1) || text.startsWith('{', index + 1) || index + 4 > text.length);

/** Finds the password in `<<"joe">>,<<"…">>`. Called for the comma. */
export const findBinaryPair = (reader: Reader, index: number): Secret | undefined => {
  const value = passwordBinary.exec(reader.slice(index, index + 90))?.[1] ?? '';
  if (!isPasswordLike(value) || !userBinary.test(reader.text.slice(reader.floor(index), index))) return undefined;
  if (isPlaceholder(value) || isPublicIdentifier(value) || value.includes(reader.replacement)) return undefined;
  const start = reader.text.indexOf(value, index);
  return { kind: 'user-password', start, end: start + value.length };
};
