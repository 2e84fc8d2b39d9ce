import { is, key as keyClass, lineStop, pairStop, space, stop, valueStop } from './characters.js';
import {
  appPassword,
  groupsOfFour,
  isChosen,
  isNoisy,
  isUnlikeCode,
  isWords,
  maxChosen,
  type Style,
} from './chosen-value.js';
import { maxKeyLength, type KeyStrength } from './key-name.js';
import { endOfQuoted, quoteAt, type Quote } from './quotes.js';
import type { Reader } from './reader.js';
import type { Secret } from './replace.js';
import { isHash, isPlaceholder, isPublicIdentifier } from './value.js';

const percent = 37;
const star = 42;
const below = 60;
/** Maximum number of spaces that align a name or a value. */
export const maxSpaces = 64;
const maxQuoted = 1024;
const maxUnquoted = 512;
/** Maximum length of the arguments of a call behind its first one. */
const maxArguments = 128;

/** The name on the left of a sign. */
export interface Key {
  readonly name: string;
  readonly strength: KeyStrength;
  readonly start: number;
  readonly isQuoted: boolean;
  /** Whether the sign directly follows the name. */
  readonly isTight: boolean;
}

/** Reads the name that ends here, of up to three words, if it may be the name of a secret. */
export const readKey = (reader: Reader, end: number, index: number): Key | undefined => {
  const { text, barrier } = reader;
  const floor = Math.max(barrier, end - maxKeyLength - 1);
  let start = end;
  while (start > floor && is(text.charCodeAt(start - 1), keyClass)) start -= 1;
  if (end - start > maxKeyLength || start === end) return undefined;
  let nameStart = start;
  while (nameStart < end && isLead(text.charCodeAt(nameStart))) nameStart += 1;
  // The option `-D` of Java has the name of a property behind it.
  if (nameStart > start && text.charCodeAt(nameStart) === 68) nameStart += 1;
  let name = text.slice(nameStart, end);
  // Skips the end of an encoded quote or sign before the name.
  if (text.charCodeAt(start - 1) === percent) name = name.replace(/^(?:22|27|2C|20|26|7B|0A)/i, '');
  let strength = reader.strengthOf(name);
  // A flag has no words before it.
  const maxWords = text.charCodeAt(start) === 45 ? 1 : 3;
  for (let words = 1; strength !== 'strong' && words < maxWords && text.charCodeAt(start - 1) === 32; words += 1) {
    const space = start - 1;
    let wordStart = space;
    while (wordStart > floor && is(text.charCodeAt(wordStart - 1), keyClass)) wordStart -= 1;
    if (wordStart === space) break;
    const joined = reader.strengthOf(text.slice(wordStart, end));
    if (strength === undefined && joined !== undefined) name = text.slice(wordStart, end);
    if (joined === 'strong' || strength === undefined) nameStart = wordStart;
    start = wordStart;
    strength = joined ?? strength;
  }
  if (strength === undefined) return undefined;
  return {
    name,
    strength,
    start: Math.min(nameStart, end),
    isQuoted: end < index && !isGap(text.charCodeAt(end)),
    isTight: end === index,
  };
};

/** Whether the code is a space, `*` of emphasis or `]` of a subscript. */
export const isGap = (code: number): boolean => code === 32 || code === 9 || code === star || code === 93;

/** Whether the code is `-`, `.` or `$`, which may precede a name. */
const isLead = (code: number): boolean => code === 45 || code === 46 || code === 36;

/** Returns the end of the spaces and emphasis before a value. */
export const skipGap = (reader: Reader, from: number): number => {
  let index = from;
  while (index < from + maxSpaces && (isGapAfter(reader.code(index)) || reader.matches('%20', index))) {
    index += reader.code(index) === percent ? 3 : 1;
  }
  return index;
};

/** Matches the end of the element around a name, and the elements around its value on the same line. */
const elements =
  /^(?:<\/?(?:b|strong|em|i|u|code|kbd|samp|pre|span|tt|font|td|th|dd|dt|p|label)(?:\s[^<>\n]{0,48})?>[ \t]{0,4}){1,5}/i;
const maxElements = 160;

/** Returns the offset behind the elements of HTML before a value. */
export const afterElements = (reader: Reader, from: number): number =>
  reader.code(from) === below ? from + (elements.exec(reader.slice(from, from + maxElements))?.[0].length ?? 0) : from;

const isGapAfter = (code: number): boolean => code === 32 || code === 9 || code === star;

/** Reads the value of a name, from its first character or quote, if it is a secret. */
export const valueOf = (
  reader: Reader,
  key: Key,
  from: number,
  { isColon = false, isLiteral = false, isCell = false } = {},
): Secret | undefined => {
  const { text } = reader;
  const isEnvironment = !isColon && key.isTight && key.name.charCodeAt(0) < 91 && environmentName.test(key.name);
  const quote = openingQuote(reader, from);
  const block = isColon && quote === undefined ? startOfBlock(reader, from) : undefined;
  let start = block ?? from;
  let end: number | undefined;
  let isCode = false;
  let isLine = false;
  if (quote !== undefined) {
    start = quote.end;
    end = endOfQuoted(reader, start, quote.literal, maxQuoted);
  } else {
    const isFirst = isEnvironment && isLineStart(reader, key.start);
    const isPair =
      text.charCodeAt(key.start - 1) === 59 ||
      (text.charCodeAt(key.start - 2) === 59 && text.charCodeAt(key.start - 1) === 32);
    end = reader.endOfRun(start, isFirst ? lineStop : isPair && !isColon ? pairStop : stop, maxUnquoted, false);
    if (isPair && /[)}]$/.test(text.slice(start, end))) end -= 1;
    end = endAfterAmpersands(reader, key, start, end);
    if (reader.code(end) === 32) end = endOfWords(reader, key, start, end);
    if (isCell) end = startOfBar(text, start, end);
    if (end > start) end = endPastSign(reader, key, start, endPastBracket(reader, start, end), isCell);
    const next = reader.code(end);
    if (next === 40 && end > start) return findWrapped(reader, key, start, end);
    if (end === start) {
      // A slice in Go has its type before.
      if (next === 91 && reader.matches('[]byte(', start)) return valueOf(reader, key, start + 2);
      return findListed(reader, key, start) ?? (isColon ? undefined : findBracketed(reader, key, start));
    }
    // A subscript or a generic type, unless an element ends there.
    if ((next === 91 || (next === 60 && reader.code(end + 1) !== 47)) && !isColon) return undefined;
    // A comma without a space separates settings, not arguments.
    const isList = next === 44 ? isGapAfter(reader.code(end + 1)) : next === 59 || next === 41 || next === 125;
    isCode = !isFirst && !isPair && (isList || (!isColon && !key.isTight));
    const hasDot = !isColon && key.isTight && text.slice(start, end).includes('.');
    isLine = hasDot && isSetting(reader, key.start, start);
  }
  if (end === undefined || end === start) return undefined;
  const style = {
    isQuoted: quote !== undefined,
    isCode,
    isLiteral: isEnvironment || isLiteral,
    isSetting: isLine,
  };
  return isSecret(reader, { start, end, key, style }) ? { kind: 'assignment', start, end } : undefined;
};

/** Matches the words of a recovery phrase. */
const recoveryPhrase = /^[a-z]{3,8}(?: [a-z]{3,8}){11,23}(?![\w ])/;

/** Returns the end of a value of several words. */
const endOfWords = (reader: Reader, { name }: Key, start: number, end: number): number => {
  if (end - start < 3 || end - start > 8) return end;
  if (/phrase|mnemonic/i.test(name)) {
    return start + (recoveryPhrase.exec(reader.slice(start, start + 220))?.[0].length ?? end - start);
  }
  const groups = end - start === 4 ? groupsOfFour.exec(reader.slice(start, start + 64)) : null;
  if (groups !== null) return start + groups[0].length;
  return end - start === 4 && /pass/i.test(name)
    ? start + (appPassword.exec(reader.slice(start, start + 21))?.[0].length ?? 4)
    : end;
};

/** The letters of `b"…"`, `N'…'` and similar strings. */
const quotePrefixes: ReadonlySet<number> = new Set(Array.from('bruenl', (letter) => letter.charCodeAt(0)));

/** Reads the innermost quote of `"…"`, `N'…'`, `@"…"`, `"""…` and `"\"…\""`. */
const openingQuote = (reader: Reader, index: number): Quote | undefined => {
  const code = reader.code(index);
  const isPrefix = code === 64 || quotePrefixes.has(code | 32);
  const outer = quoteAt(reader, isPrefix ? index + 1 : index);
  if (outer === undefined) return undefined;
  const { end, literal } = outer;
  if (reader.matches(`${literal}${literal}`, end)) {
    const start = end + 2 * literal.length;
    return { end: reader.code(start) === 10 ? start + 1 : start, literal };
  }
  const inner = quoteAt(reader, end);
  return inner === undefined || inner.literal === literal ? outer : inner;
};

/** Returns the start of the text behind `>-` or `|`, which begin a block in YAML. */
const startOfBlock = (reader: Reader, from: number): number | undefined => {
  const first = reader.code(from);
  if (first !== 62 && first !== 124) return undefined;
  const head = /^[>|][-+]?\r?\n[ ]{1,40}(?=\S)/.exec(reader.slice(from, from + 46));
  return head === null ? undefined : from + head[0].length;
};

/** Matches functions and types whose argument is a secret. */
const wrapper = /(?:secret|password|sensitive|redact|hidden)\w*$|(?:^|[.:])(?:some|string|str|bytes?|from|of|just)$/i;

/** Finds the value in `SecretStr("…")`, or a random one in any call. */
const findWrapped = (reader: Reader, key: Key, start: number, end: number): Secret | undefined => {
  const quote = quoteAt(reader, end + 1);
  const name = reader.text.slice(start, end);
  if (quote === undefined || name === 'ENC' || !/^[\w.:]{1,40}$/.test(name)) return undefined;
  const close = endOfQuoted(reader, quote.end, quote.literal, maxQuoted);
  if (close === undefined || reader.code(close + quote.literal.length) !== 41) return undefined;
  const style = { isQuoted: true, isCode: true, isLiteral: false };
  if (!wrapper.test(name) && !reader.isRandom(quote.end, close)) return undefined;
  const isFound = isSecret(reader, { start: quote.end, end: close, key, style });
  return isFound ? { kind: 'assignment', start: quote.end, end: close } : undefined;
};

const maxItems = 8;
const maxList = 320;

/** Finds the values in `passwords: ["…", "…"]`. */
const findListed = (reader: Reader, key: Key, open: number): Secret | undefined => {
  if (reader.code(open) !== 91 || !/s$/i.test(key.name)) return undefined;
  const found: Secret[] = [];
  let at = open + 1;
  for (let items = 0; items < maxItems && at - open < maxList; items += 1) {
    const quote = quoteAt(reader, skipWhiteSpace(reader, at));
    const end = quote === undefined ? undefined : endOfQuoted(reader, quote.end, quote.literal, maxList);
    if (quote === undefined || end === undefined) break;
    const style = { isQuoted: true, isCode: false, isLiteral: false };
    if (isSecret(reader, { start: quote.end, end, key, style })) {
      found.push({ kind: 'assignment', start: quote.end, end });
    }
    at = end + quote.literal.length;
    if (reader.code(at) !== 44) break;
    at += 1;
  }
  return found[0] === undefined ? undefined : { ...found[0], more: found };
};

/** Returns the end of the spaces and line feeds at an offset. */
export const skipWhiteSpace = (reader: Reader, from: number): number => {
  let index = from;
  while (index < from + maxSpaces && (reader.code(index) === 10 || is(reader.code(index), space))) index += 1;
  return index;
};

/** Finds the value in `password=[…]`. */
const findBracketed = (reader: Reader, key: Key, open: number): Secret | undefined => {
  if (!key.isTight || reader.code(open) !== 91) return undefined;
  const start = open + 1;
  const end = endAfterAmpersands(reader, key, start, reader.endOfRun(start, stop, maxUnquoted, false));
  const style = { isQuoted: false, isCode: true, isLiteral: false };
  if (end === start || reader.code(end) !== 93 || !isSecret(reader, { start, end, key, style })) return undefined;
  return { kind: 'assignment', start, end };
};

/** The vertical lines of tables, besides `|`. */
export const bars: ReadonlySet<number> = new Set(Array.from('│┃║', (bar) => bar.charCodeAt(0)));

/** Returns the offset of the first bar of a table in a range, or its end. */
const startOfBar = (text: string, start: number, end: number): number => {
  for (let index = start; index < end; index += 1) if (bars.has(text.charCodeAt(index))) return index;
  return end;
};

/** Whether only spaces follow on the line, or in the string of an object or a list in JSON. */
export const endsLine = (reader: Reader, index: number): boolean => {
  const end = reader.skipSpaces(index, 4);
  const next = reader.code(end);
  if (next === 34 && end === index) return isMemberEnd(reader.code(index + 1));
  return Number.isNaN(next) || next === 10 || next === 13 || next === 92;
};

/** Whether the code is `,`, `}` or `]`. */
const isMemberEnd = (code: number): boolean => code === 44 || code === 125 || code === 93;

/** Extends a value past a bracket in it, unless the bracket is that of a call, a subscript or a condition. */
const endPastBracket = (reader: Reader, start: number, from: number): number => {
  const bracket = reader.code(from);
  if (bracket !== 40 && bracket !== 91) return from;
  const end = reader.endOfRun(start, lineStop, maxUnquoted, false);
  const [rest = ''] = reader.slice(from, end + maxArguments).split('\n', 1);
  const inner = rest.slice(1, end - from);
  // A replacement has brackets, too.
  if (reader.slice(from, end).includes(reader.replacement)) return from;
  const closing = Math.max(inner.lastIndexOf(')'), inner.lastIndexOf(']'));
  if (closing !== -1) return /\w/.test(inner.charAt(closing + 1)) ? end : from;
  return inner === '' || /[,)\]]/.test(rest) ? from : end;
};

/** Matches the signs that end a value in code and may be part of a chosen password. */
const signInValue = /[)\],;{}|<>]/;
/** Matches what belongs to code and markup: settings, calls, arrows, operators, templates, generic types and elements. */
const ofCode =
  /[,;|&{[][\w.-]+[=:]|\w=\w[^,;|&]*$|\(|[-=]>|&&|\|\||[$#]\{|\{\{|\{\d*\}|<\/|<[a-z]+>|^[\w.]+<[\w<>,.|[\]]+>/i;
const minSigned = 8;
const maxSigned = 64;

/**
 * Extends a value past signs in it, as in `aB3)dE9xQ`, if it is a word of a line or the rest of a line, has digits between
 * its letters, and nothing of code.
 */
const endPastSign = (reader: Reader, key: Key, start: number, from: number, isCell: boolean): number => {
  const { text } = reader;
  if (key.strength !== 'strong' || !signInValue.test(text.charAt(from))) return from;
  const before = key.start > reader.floor(key.start) ? text.charAt(key.start - 1) : ' ';
  if (!/[\s"']/.test(before) || (key.isQuoted && !isCell)) return from;
  const run = reader.endOfRun(start, valueStop, maxSigned + 1, false);
  const value = text.slice(start, run).replace(/[),;\]}]+$/, '');
  const end = start + value.length;
  if (end <= from || value.length < minSigned || value.length > maxSigned || ofCode.test(value)) return from;
  if (value.includes(reader.replacement)) return from;
  const behind = text.charAt(run);
  const isWhole = Number.isNaN(reader.code(run)) || (/["']/.test(before) ? behind === before : /\s/.test(behind));
  return isWhole && (isNoisy(value) || value.split(/[^A-Za-z\d]+/).some(isUnlikeCode)) ? end : from;
};

/** Extends a value past ampersands, unless one begins another parameter, an entity or a command. */
const endAfterAmpersands = (reader: Reader, key: Key, start: number, from: number): number => {
  const before = reader.before(key.start);
  let end = from;
  if (before === 38 || before === 63) return end;
  while (end > start && end < start + maxUnquoted && reader.code(end) === 38) {
    if (/^&(?:$|[&\s;]|[\w.%-]{1,40}=|amp;|quot;|apos;|lt;|gt;|#)/.test(reader.slice(end, end + 44))) break;
    end = reader.endOfRun(end + 1, stop, maxUnquoted, false);
  }
  return end;
};

/** Whether the name is at the beginning of a line, including an escaped line, or after `export`. */
const isLineStart = (reader: Reader, start: number): boolean => {
  const before = reader.before(start);
  if (Number.isNaN(before) || before === 10 || before === 13) return true;
  // Each form below ends with a space or the letter of an escaped line feed.
  if (before !== 32 && before !== 9 && before !== 110) return false;
  return /(?:\\n|\n\s{0,12}|(?:^|\s)(?:export|env|-e|--env|ENV|ARG) {1,2})$/.test(
    reader.text.slice(Math.max(reader.barrier, start - 20), start),
  );
};

/** Whether a name begins a line that ends with its value. */
export const isSetting = (reader: Reader, nameStart: number, start: number): boolean =>
  isLineStart(reader, nameStart) && endsLine(reader, reader.endOfRun(start, stop, maxUnquoted, false));

const environmentName = /^[A-Z][A-Z\d_]*$/;
/** Matches weak names whose values may be a UUID, which does not look random. */
const mayBeUuid = /(?:secret[\s_-]?id|device[\s_-]?code|token|password)$/i;
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
const lettersOf = (text: string): string => text.replaceAll(/[^A-Za-z\d]/g, '').toLowerCase();

/** Whether a value is a part of its name or, as names in code, has the name of several words in it. */
export const isReference = (value: string, name: string, { isLiteral }: Pick<Style, 'isLiteral'>): boolean => {
  if (name.endsWith(value)) return true;
  if (isLiteral || value.length > maxKeyLength * 2 || !reference.test(value)) return false;
  // A password that people make of the name has a number behind it, which names of code rarely have.
  if (/\d$/.test(value) && !/\d$/.test(name)) return false;
  const letters = lettersOf(name);
  return letters.length >= minReferred && lettersOf(value).includes(letters);
};
/** Matches names and members. */
const reference = /^[A-Za-z_$][\w$?.]*$/;

const isSecret = (reader: Reader, { start, end, key, style }: Candidate): boolean => {
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
    return reader.text.charCodeAt(end) !== 96 && !/[\w-]/.test(String.fromCharCode(reader.code(end + 1)));
  }
  if (reader.text.charCodeAt(start) < 97) return false;
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
const isWhole = ({ text }: Reader, start: number, next: number): boolean => {
  const before = text.charCodeAt(start - 1);
  return before === next
    ? next === 34 || next === 39
    : before === 123 && next === 125 && text.charCodeAt(start - 2) === 36;
};

/** Whether the name is that of a flag, or of a parameter with others around it. */
const isArgument = ({ text }: Reader, start: number, next: number): boolean =>
  (next === 32 && text.endsWith(' --', start)) || (next === 38 && text.charCodeAt(start - 1) === 38);
