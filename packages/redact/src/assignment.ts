import { headerStop, is, key as keyClass, lineStop, pairStop, quotedStop, stop } from './characters.js';
import { keyStrength, maxKeyLength, mayEndKey, type KeyStrength } from './key-name.js';
import { endOfQuoted, quoteAt, quoteBefore } from './quotes.js';
import type { Reader } from './reader.js';
import type { Secret } from './replace.js';
import { isPlaceholder, isPublicIdentifier, looksRandom } from './value.js';

const equals = 61;
const colon = 58;
const above = 62;
const star = 42;
const percent = 37;
const maxSpaces = 8;
const maxQuoted = 1024;
const maxUnquoted = 512;
const maxHeader = 4096;
/** Maximum length of the text that identifies a header. */
const maxHead = 256;

/** The name on the left of a sign. */
export interface Key {
  readonly name: string;
  readonly strength: KeyStrength;
  readonly start: number;
  readonly isQuoted: boolean;
  /** Whether the sign directly follows the name. */
  readonly isTight: boolean;
}

/** The notation of a value, which determines how it is judged. */
interface Style {
  readonly isQuoted: boolean;
  /** Whether the value is in code, where a name may be a variable: a list continues or a call follows. */
  readonly isCode: boolean;
  /** Whether the notation is `NAME=value`, as in environments and command lines. */
  readonly isLiteral: boolean;
}

/** A sign between a name and a value. */
interface Sign {
  readonly start: number;
  readonly end: number;
  readonly isColon: boolean;
}

/**
 * Finds the value of `API_KEY=…`, `"password": "…"`, `x-api-key: …`, `password%22%3A%22…` and similar notations. Called
 * for the sign, or for the last character of an encoded sign.
 */
export const findAssignment = (reader: Reader, index: number): Secret | undefined => {
  const sign = signAt(reader, index);
  if (sign === undefined) return undefined;
  const nameEnd = endOfName(reader, sign.start);
  if (nameEnd === undefined) return undefined;
  if (isValueName(reader, nameEnd)) return findNamedValue(reader, sign, nameEnd);
  if (!mayEndKey(reader.text, nameEnd)) return undefined;
  const key = readKey(reader, nameEnd, sign.start);
  if (key === undefined) return findPassArgument(reader, sign, nameEnd);
  const start = startOfValue(reader, sign, key);
  if (start === undefined) return undefined;
  const last = key.name.charCodeAt(key.name.length - 1) | 32;
  if (last === 101 && /cookie$/i.test(key.name)) return findCookies(reader, start);
  if (last === 110 && /authorization$/i.test(key.name)) return findAuthorization(reader, start);
  return valueOf(reader, key, start, { isColon: sign.isColon });
};

const signAt = (reader: Reader, index: number): Sign | undefined => {
  const { text } = reader;
  const code = text.charCodeAt(index);
  if (code === colon || code === equals) return { start: index, end: index + 1, isColon: code === colon };
  const start = index - 2;
  if (text.charCodeAt(start) === percent && start >= reader.barrier) {
    return { start, end: index + 1, isColon: (code | 32) === 97 };
  }
  const escape = /\\+u003[ad]$/i.exec(text.slice(Math.max(reader.barrier, index - 12), index + 1));
  return escape === null
    ? undefined
    : { start: index + 1 - escape[0].length, end: index + 1, isColon: (code | 32) === 97 };
};

/** Returns the end of the name of a sign: before `:=` and `?:`, closing brackets, emphasis, spaces and a quote. */
const endOfName = (reader: Reader, index: number): number | undefined => {
  const { text, barrier } = reader;
  let end = index;
  const before = text.charCodeAt(end - 1);
  if (text.charCodeAt(index) === equals && (before === colon || before === 63 || before === 43)) end -= 1;
  while (end > barrier && index - end < maxSpaces && isGap(text.charCodeAt(end - 1))) end -= 1;
  end = quoteBefore(reader, end);
  return end > barrier ? end : undefined;
};

/** Whether the code is a space, `*` of emphasis or `]` of a subscript. */
const isGap = (code: number): boolean => code === 32 || code === 9 || code === star || code === 93;

/** Reads the name that ends here, of up to three words, if it may be the name of a secret. */
export const readKey = (reader: Reader, end: number, index: number): Key | undefined => {
  const { text, barrier } = reader;
  const floor = Math.max(barrier, end - maxKeyLength - 1);
  let start = end;
  while (start > floor && is(text.charCodeAt(start - 1), keyClass)) start -= 1;
  if (end - start > maxKeyLength || start === end) return undefined;
  let nameStart = start;
  while (nameStart < end && isLead(text.charCodeAt(nameStart))) nameStart += 1;
  let name = text.slice(nameStart, end);
  // Skips the end of an encoded quote or sign before the name.
  if (text.charCodeAt(start - 1) === percent) name = name.replace(/^(?:22|27|2C|20|26|7B|0A)/i, '');
  let strength = reader.remember(name, keyStrength);
  for (let words = 1; strength !== 'strong' && words < 3 && text.charCodeAt(start - 1) === 32; words += 1) {
    const space = start - 1;
    let wordStart = space;
    while (wordStart > floor && is(text.charCodeAt(wordStart - 1), keyClass)) wordStart -= 1;
    if (wordStart === space) break;
    start = wordStart;
    strength = reader.remember(text.slice(start, end), keyStrength) ?? strength;
  }
  if (strength === undefined) return undefined;
  return { name, strength, start, isQuoted: end < index && !isGap(text.charCodeAt(end)), isTight: end === index };
};

/** Whether the code is `-`, `.` or `$`, which may precede a name. */
const isLead = (code: number): boolean => code === 45 || code === 46 || code === 36;

const startOfValue = (reader: Reader, sign: Sign, key: Key): number | undefined => {
  const next = reader.code(sign.end);
  const isArrow = next === above && !sign.isColon;
  if (!isArrow && (next === equals || next === colon || next === above)) return undefined;
  if (isArrow && !key.isQuoted && !isHash(reader, key, sign)) return undefined;
  return skipGap(reader, sign.end + (isArrow ? 1 : 0));
};

/** Whether `=>` is the sign of a hash, as in `password => "…"`, not of an arrow function. */
const isHash = (reader: Reader, key: Key, sign: Sign): boolean => {
  const start = reader.skipSpaces(sign.end + 1, maxSpaces);
  return reader.before(key.start) === colon || quoteAt(reader, start) !== undefined;
};

const skipGap = (reader: Reader, from: number): number => {
  let index = from;
  while (index < from + maxSpaces && (isGapAfter(reader.code(index)) || reader.matches('%20', index))) {
    index += reader.code(index) === percent ? 3 : 1;
  }
  return index;
};

const isGapAfter = (code: number): boolean => code === 32 || code === 9 || code === star;

/** Reads the value of a name, from its first character or quote, if it is a secret. */
export const valueOf = (
  reader: Reader,
  key: Key,
  from: number,
  { isColon = false, isLiteral = false } = {},
): Secret | undefined => {
  const { text } = reader;
  const isEnvironment = !isColon && key.isTight && key.name.charCodeAt(0) < 91 && environmentName.test(key.name);
  const quote = quoteAt(reader, from);
  let start = from;
  let end: number | undefined;
  let style: Style = { isQuoted: false, isCode: false, isLiteral: isEnvironment || isLiteral };
  if (quote !== undefined) {
    start = quote.end;
    end = endOfQuoted(reader, start, quote.literal, maxQuoted);
    style = { ...style, isQuoted: true };
  } else {
    const isLine = isEnvironment && isLineStart(reader, key.start);
    const isPair =
      text.charCodeAt(key.start - 1) === 59 ||
      (text.charCodeAt(key.start - 2) === 59 && text.charCodeAt(key.start - 1) === 32);
    end = reader.endOfRun(start, isLine ? lineStop : isPair && !isColon ? pairStop : stop, maxUnquoted, false);
    if (isPair && /[)}]$/.test(text.slice(start, end))) end -= 1;
    end = endAfterAmpersands(reader, key, start, end);
    const next = reader.code(end);
    if (end === start || ((next === 40 || next === 91 || next === 60) && !isColon)) return undefined;
    // A comma without a space separates settings, not arguments.
    const isList = next === 44 ? isGapAfter(reader.code(end + 1)) : next === 59 || next === 41 || next === 125;
    style = { ...style, isCode: !isLine && !isPair && (isList || (!isColon && !key.isTight)) };
  }
  if (end === undefined || end === start || !isSecret(reader, { start, end, key, style })) return undefined;
  return { kind: 'assignment', start, end };
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

const identifier = /^[A-Za-z_$][\w$]*$/;
const path = /^[A-Za-z_$][\w$]*(?:(?:\.|\?\.|!\.|::|->)[A-Za-z_$][\w$]*)+[!?]?$/;
const environmentName = /^[A-Z][A-Z\d_]*$/;
const phrase = /^[a-z]+(?:[-_. ][a-z]+){3,24}$/;
/** Maximum length of a value that does not look random; a longer one is text. */
const maxChosen = 128;
/** Minimum length of the value of a weak name. */
const minWeak = 16;

interface Candidate {
  readonly start: number;
  readonly end: number;
  readonly key: Key;
  readonly style: Style;
}

const isSecret = (reader: Reader, { start, end, key, style }: Candidate): boolean => {
  const isRandom = reader.isRandom(start, end);
  if (!isRandom && (key.strength === 'weak' || end - start > maxChosen)) return false;
  const value = reader.text.slice(start, end);
  return isChosen(value, { key, style, isRandom }) && !isPlaceholder(value) && !value.includes(reader.replacement);
};

/** Whether the value is not a name, a call or a sentence. */
const isChosen = (
  value: string,
  { key: { name, strength }, style, isRandom }: Pick<Candidate, 'key' | 'style'> & { readonly isRandom: boolean },
): boolean => {
  const isPath = !style.isQuoted && path.test(value.slice(0, maxChosen));
  if (strength === 'weak') return value.length >= minWeak && !isPublicIdentifier(value) && !isPath && !/\s/.test(value);
  if (isRandom) return !(isPath && style.isCode) && !isCall(value);
  if (/phrase|mnemonic|passw|secret/i.test(name) && phrase.test(value) && !mentions(value, name)) {
    return /phrase|mnemonic/i.test(name) || !value.includes(' ');
  }
  if (isPath || isCall(value) || /\s/.test(value)) return false;
  if (style.isLiteral && !style.isCode) return !/^[A-Z_]+$/.test(value);
  return value.length >= 6 && !isName(value, style) && !mentions(value, name) && isMixed(value, style);
};

const isCall = (value: string): boolean => /^[A-Za-z_$][\w$.]*[([]/.test(value);

/** Whether the value is a variable or a type. */
const isName = (value: string, { isQuoted, isCode }: Style): boolean =>
  !isQuoted && (isCode ? identifier.test(value) && !isUnlikeCode(value) : typeName.test(value));

/** Names in code rarely have digits before letters, or three of them, except for a few words. */
const isUnlikeCode = (value: string): boolean => /\d[A-Za-z]|\d{3}/.test(value) && !codeWord.test(value);

const codeWord = /_|base64|b64|utf\d|sha\d|md5|oauth\d|s3|ec2|k8s|x509|p12|h26\d|int\d|2to|to\d|argon2|bcrypt/i;
const typeName =
  /^(?:[A-Z][A-Za-z]+\d?|(?:[Uu]?[Ii]nt|[Ff]loat|[Bb]ase|[Uu]tf|UTF|[Ss]ha|SHA|[Bb]ig|[Vv]ector)\w{0,6}\d+)$/;

/** Whether the value has the form of a chosen password: letters with digits or signs, but not a version or a path. */
export const isMixed = (value: string, { isQuoted }: Pick<Style, 'isQuoted'>): boolean => {
  if (/^v?\d+(?:\.\d+)*$/.test(value)) return isQuoted && !value.includes('.');
  return /\d/.test(value) ? /[a-z]/i.test(value) : /[a-z]/i.test(value) && /[!@$%^&#*]/.test(value);
};

/** Whether the value repeats its name, as in `password2` and `my-secret-1`. */
const mentions = (value: string, name: string): boolean => {
  const lower = value.toLowerCase();
  return ['password', 'passwd', 'secret', 'token', 'key', 'credential', 'auth', name.toLowerCase()].some((one) =>
    lower.includes(one),
  );
};

const cookieHead = /^[\w!#$%&*+.^|~-]{1,80}=[^\s;"'`\\]{6,}/;

/** Finds the whole value of a cookie header, because each cookie may be a secret. */
const findCookies = (reader: Reader, start: number): Secret | undefined => {
  const from = quoteAt(reader, start)?.end ?? start;
  if (!cookieHead.test(reader.slice(from, from + 100))) return undefined;
  const end = reader.endOfRun(from, quotedStop, maxHeader, false);
  return reader.text.slice(from, end).includes(reader.replacement) ? undefined : { kind: 'cookie', start: from, end };
};

const scheme = /^[A-Za-z][\w-]{1,30}(?: +|%20|\+)(?=\S)/;

/** Finds the credential of an authorization header, without its scheme. */
const findAuthorization = (reader: Reader, start: number): Secret | undefined => {
  const quote = quoteAt(reader, start);
  const from = quote?.end ?? start;
  const isInQuotes = quote !== undefined || isQuotedBefore(reader, start);
  const end = reader.endOfRun(from, isInQuotes ? quotedStop : headerStop, maxHeader, false);
  const head = reader.text.slice(from, Math.min(end, from + maxHead)).trimEnd();
  const named = scheme.exec(head)?.[0] ?? '';
  const credential = head.slice(named.length);
  const isParameters = named !== '' && /^[\w-]+\s?[=:]\s?\S/.test(credential) && /["',]|=\S{8}/.test(credential);
  if (!isParameters && /\s/.test(credential)) return undefined;
  const isKnown =
    isParameters ||
    looksRandom(credential) ||
    (credential.length >= 8 && /\d/.test(credential) && !path.test(credential));
  const credentialStart = from + named.length;
  if (!isKnown || isPlaceholder(credential) || isCall(credential)) return undefined;
  if (reader.text.slice(from, end).includes(reader.replacement)) return undefined;
  const credentialEnd = head.length < maxHead ? credentialStart + credential.length : end;
  return { kind: 'authorization', start: credentialStart, end: credentialEnd };
};

/** Whether a quote was opened or closed shortly before on this line. */
const isQuotedBefore = (reader: Reader, index: number): boolean => {
  const floor = Math.max(reader.barrier, index - 40);
  for (let at = index - 1; at >= floor; at -= 1) {
    const code = reader.text.charCodeAt(at);
    if (code === 34 || code === 39) return true;
    if (code === 10) return false;
  }
  return false;
};

/** Whether the name is `value`, so that the actual name is in another member. */
const isValueName = (reader: Reader, end: number): boolean =>
  (reader.text.charCodeAt(end - 1) | 32) === 101 &&
  /(?:^|[^\w])value$/i.test(reader.text.slice(Math.max(0, end - 6), end));

const nameBefore =
  /(?:\bname|\bkey|\bvariable|\bheader|\bfield|\bparameter)["'\\]{0,8}\s{0,4}[:=]\s{0,4}["'\\]{0,8}([\w.$/-]{2,80})["'\\]{0,8}[\s,;]{0,40}(?:["'\\]{0,8}\w{1,20}["'\\]{0,8}\s{0,4}[:=]\s{0,4}["'\\]{0,8}\w{0,24}["'\\]{0,8}[\s,;]{1,40})?["'\\]{0,8}$/i;
const nameAfter =
  /^["'\\]{0,8}[\s,;]{0,20}["'\\]{0,8}(?:name|key)["'\\]{0,8}\s{0,4}[:=]\s{0,4}["'\\]{0,8}([\w.$/-]{2,64})/i;

/** Finds the value in `{"name": "DB_PASSWORD", "value": "…"}`, in either order, and in `key="ApiKey" value="…"`. */
const findNamedValue = (reader: Reader, sign: Sign, nameEnd: number): Secret | undefined => {
  const before = reader.text.slice(reader.floor(nameEnd), nameEnd - 5);
  const named = nameBefore.exec(before)?.[1];
  const start = skipGap(reader, sign.end);
  const key = (name: string): Key => ({
    name: name.replace(/^.*\//, ''),
    strength: keyStrength(name.replace(/^.*\//, '')),
    start: nameEnd - 5,
    isQuoted: true,
    isTight: false,
  });
  if (named !== undefined) {
    const known = key(named);
    return known.strength === undefined ? undefined : valueOf(reader, known, start, { isColon: true, isLiteral: true });
  }
  const quote = quoteAt(reader, start);
  if (quote === undefined) return undefined;
  const end = endOfQuoted(reader, quote.end, quote.literal, 128);
  if (end === undefined || end - quote.end < 4) return undefined;
  const after = nameAfter.exec(reader.slice(end, end + 96))?.[1];
  const known = after === undefined ? undefined : key(after);
  return known?.strength === undefined ? undefined : valueOf(reader, known, start, { isColon: true, isLiteral: true });
};

/** Finds the password of an openssl argument such as `-passin pass:…`. */
const findPassArgument = (reader: Reader, sign: Sign, nameEnd: number): Secret | undefined => {
  if (
    !sign.isColon ||
    !/ -pass(?:in|out)? ["']?pass$/.test(reader.text.slice(Math.max(reader.barrier, nameEnd - 16), nameEnd))
  ) {
    return undefined;
  }
  const key: Key = { name: 'pass', strength: 'strong', start: nameEnd - 4, isQuoted: false, isTight: true };
  return valueOf(reader, key, sign.end, { isLiteral: true });
};
