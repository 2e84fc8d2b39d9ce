import { base64, codeAt, is, kindOf, tokenClass, word } from '../text/characters.js';
import type { Reader } from '../text/reader.js';
import { maxReach } from '../text/reader.js';
import type { Secret } from '../text/replace.js';
import { tokenForms, type TokenForm } from './token-forms.js';
import { isPublished } from '../values/published.js';
import { distinctOf, isPlaceholder, looksRandom, looksRandomBase64 } from '../values/value.js';

/** Characters in order of rarity, rarest first. The rarest character of a prefix is its anchor. */
const rarest = 'KJXZQG9876543210PSAENOIM_-.';
/** Maximum offset of the anchor in a prefix. */
const maxOffset = 12;
/** Number of characters that distinguish a token from words. */
const maxLooked = 96;
/** Number of first characters whose variety is measured. */
const maxVaried = 40;
const minDistinct = 8;
const blobLength = 16;
const percent = 37;
const backslash = 92;

interface Anchored {
  readonly form: TokenForm;
  /** Class of the characters after the prefix. */
  readonly alphabet: number;
  /** Position of the anchor in the prefix. */
  readonly offset: number;
  /** Code of the first character of the prefix. */
  readonly first: number;
  /** Code of the character after the anchor; `NaN` if the prefix ends there. */
  readonly next: number;
}

const anchor = (form: TokenForm): Anchored => {
  const rank = (character: string): number => (rarest.includes(character) ? rarest.indexOf(character) : rarest.length);
  const reach = form.prefix.slice(1, maxOffset);
  const best = Array.from(reach).reduce((chosen, character) => (rank(character) < rank(chosen) ? character : chosen));
  const offset = reach.indexOf(best) + 1;
  return {
    form,
    alphabet: tokenClass(form.extra ?? ''),
    offset,
    first: form.prefix.charCodeAt(0),
    next: form.prefix.charCodeAt(offset + 1),
  };
};

/** The forms by the anchor of their prefix and the character before it, longer prefixes first. */
const buckets: readonly (readonly Anchored[])[] = ((): Anchored[][] => {
  const grouped: Record<string, Anchored[]> = {};
  for (const form of tokenForms.toSorted((one, other) => other.prefix.length - one.prefix.length)) {
    const found = anchor(form);
    (grouped[form.prefix.slice(found.offset - 1, found.offset + 1)] ??= []).push(found);
  }
  return Object.values(grouped);
})();

/** Position of the bucket, from 1, by the two codes. */
const bucketOf = new Uint8Array(128 * 128);
for (const [index, [first]] of buckets.entries()) {
  if (first === undefined) continue;
  const { form, offset } = first;
  bucketOf[form.prefix.charCodeAt(offset - 1) * 128 + form.prefix.charCodeAt(offset)] = index + 1;
}

/** Whether a prefix of a bucket continues with a code behind its anchor, by the position of the bucket and the code. */
const continues = new Uint8Array((buckets.length + 1) * 128);
for (const [index, bucket] of buckets.entries()) {
  for (const { next } of bucket) {
    if (Number.isNaN(next)) continues.fill(1, (index + 1) * 128, (index + 2) * 128);
    else continues[(index + 1) * 128 + next] = 1;
  }
}

/** Whether a prefix of a bucket has a code before its two characters, by the position of the bucket and the code. */
const precedes = new Uint8Array((buckets.length + 1) * 128);
for (const [index, bucket] of buckets.entries()) {
  for (const { form, offset } of bucket) {
    if (offset === 1) precedes.fill(1, (index + 1) * 128, (index + 2) * 128);
    else precedes[(index + 1) * 128 + form.prefix.charCodeAt(offset - 2)] = 1;
  }
}

/** Returns whether these two characters are the anchor of a prefix. */
export const isAnchor = (before: number, code: number): boolean => (bucketOf[before * 128 + code] ?? 0) > 0;

/** Returns quickly whether a prefix has its anchor here. The characters beside the anchor rule out most of them. */
export const mayBeToken = (text: string, index: number): boolean => {
  const place = bucketOf[codeAt(text, index - 1) * 128 + codeAt(text, index)] ?? 0;
  const before = codeAt(text, index - 2);
  if (before < 128 && precedes[place * 128 + before] === 0) return false;
  const behind = codeAt(text, index + 1);
  if (behind < 128 && continues[place * 128 + behind] === 0) return false;
  for (const { form, offset, first, alphabet } of buckets[place - 1] ?? []) {
    const start = index - offset;
    if (codeAt(text, start) !== first) continue;
    const body = start + form.prefix.length;
    if (body > text.length) return true;
    // Of the characters that the token has at least, the middle and the last one rule out words.
    const last = body + form.min - 1;
    const isLong =
      form.min === 0 ||
      last >= text.length ||
      (is(codeAt(text, last), alphabet) && is(codeAt(text, body + (form.min >> 1)), alphabet));
    if (isLong && text.startsWith(form.prefix, start)) return true;
  }
  return false;
};

/** Finds the token whose prefix has its anchor here. */
export const findToken = (reader: Reader, index: number): Secret | undefined => {
  const { text } = reader;
  const place = bucketOf[codeAt(text, index - 1) * 128 + codeAt(text, index)] ?? 0;
  const behind = codeAt(text, index + 1);
  const isLast = index + 1 === text.length;
  for (const anchored of buckets[place - 1] ?? []) {
    const { form, offset, first, next } = anchored;
    const start = index - offset;
    // Two characters rule out most prefixes without a string comparison.
    if (codeAt(text, start) !== first || !(isLast || next === behind || Number.isNaN(next))) continue;
    if (start < reader.barrier || !reader.matches(form.prefix, start)) continue;
    if (!isBoundary(reader, start, form)) continue;
    if (form.isWeak === true && (isInBlob(reader, start, form.prefix) || isEncrypted(reader, start))) continue;
    const found = verify(reader, anchored, start);
    if (found !== undefined || reader.starved) return found;
  }
  return undefined;
};

/** Whether a token may begin here: not within a word, unless the word is a percent encoding or an escape. */
const isBoundary = (reader: Reader, start: number, { isInner }: TokenForm): boolean => {
  const before = reader.before(start);
  if (isInner === true) return is(before, word);
  if (!is(before, word)) return true;
  const second = codeAt(reader.text, start - 2);
  const third = codeAt(reader.text, start - 3);
  return (
    (third === percent && start - 3 >= reader.barrier) || (second === backslash && [110, 114, 116].includes(before))
  );
};

/** Matches the name of encrypted data, as providers return reasoning. */
const encryptedName = /(?:encrypted[-_]?[a-z]{0,16}|cipher_?text)\\{0,3}["']?\s{0,2}[:=]\s{0,2}\\{0,3}["']?$/i;

/** Whether the token is the value of such a name. */
const isEncrypted = (reader: Reader, start: number): boolean =>
  encryptedName.test(reader.text.slice(Math.max(reader.barrier, start - 40), start));

/** Whether the prefix is inside a hash or other encoded data, which contains any prefix by chance. */
const isInBlob = (reader: Reader, start: number, prefix: string): boolean => {
  const { text } = reader;
  const joint = codeAt(text, start - 1);
  if (start - 2 < reader.barrier || (joint !== 45 && joint !== 43 && joint !== 47)) return false;
  if (!is(codeAt(text, start - 2), word)) return false;
  if (prefix.length <= 3 && prefix.endsWith('_')) return true;
  // Random data has 12 consecutive letters and digits, so the middle of the 16 characters contains no others.
  for (let index = start - 12; index < start - 4; index += 1) if (kindOf(codeAt(text, index)) === 0) return false;
  const before = text.slice(Math.max(reader.barrier, start - blobLength), start);
  return before.length === blobLength && /^[\w+/-]+$/.test(before) && looksRandom(before);
};

const verify = (reader: Reader, { form, alphabet }: Anchored, start: number): Secret | undefined => {
  const bodyStart = start + form.prefix.length;
  const runEnd = reader.endOfRun(bodyStart, alphabet, form.max);
  // A full stop ends a sentence, not a token.
  const isSentence = runEnd > bodyStart && codeAt(reader.text, runEnd - 1) === 46;
  const bodyEnd = isSentence ? runEnd - 1 : runEnd;
  if (bodyEnd - bodyStart < form.min) return undefined;
  // A longer word than a token of known length is not a token, even if its end was a secret and is replaced.
  if (form.max - form.min < 8 && reader.matches(reader.replacement, runEnd)) return undefined;
  if (form.max - form.min < 8 && bodyEnd === bodyStart + form.max && is(reader.code(bodyEnd), word)) return undefined;
  const wordStart = form.isInner === true ? startOfHead(reader, start, form) : start;
  if (form.head !== undefined && !form.head.test(reader.text.slice(wordStart, start))) return undefined;
  if (form.isWeak === true && !reader.hasLongRun(bodyStart, Math.min(bodyEnd, bodyStart + maxLooked))) return undefined;
  if (!isPlausible(reader.text.slice(bodyStart, bodyEnd), form)) return undefined;
  const found: Secret = {
    kind: form.kind,
    start: form.keepsPrefix === true ? bodyStart : wordStart,
    end: bodyEnd,
  };
  return form.kind === 'aws-access-key' ? withKeyPair(reader, found) : found;
};

const startOfHead = (reader: Reader, end: number, { extra }: TokenForm): number => {
  const floor = Math.max(reader.barrier, end - maxReach + maxOffset);
  const alphabet = extra === '+/=' ? base64 : word;
  let start = end;
  while (start > floor && is(codeAt(reader.text, start - 1), alphabet)) start -= 1;
  return start;
};

const isPlausible = (body: string, form: TokenForm): boolean => {
  if (form.head !== undefined) return form.body?.test(body) ?? true;
  const looked = body.slice(0, maxLooked);
  if (form.isWeak === true ? !looksRandom(looked) : distinctOf(looked, 0, maxVaried) < minDistinct || isWords(looked)) {
    return false;
  }
  if (form.body !== undefined && !form.body.test(body)) return false;
  if (form.kind === 'jwt' && (!isJwt(body) || isPublished(form.prefix + body))) return false;
  return !isPlaceholder(looked) && !body.endsWith('EXAMPLE');
};

/** Whether the body has three parts, of which the second begins like an object or is long enough to be encrypted. */
const isJwt = (body: string): boolean => {
  const second = body.indexOf('.') + 1;
  const third = body.indexOf('.', second) + 1;
  if (second <= 8 || third === 0 || third - second < 9) return false;
  if (body.startsWith('eyJ', second)) return true;
  const end = body.indexOf('.', third);
  return (end === -1 ? body.length : end) - third >= 16;
};

/** Whether the body consists of words, so that it is an identifier with the prefix of a token. */
const isWords = (body: string): boolean => !/\d/.test(body) && !/[a-z][A-Z]|[A-Z]{2}/.test(body);

/**
 * Matches a secret key behind its id: in the next column or argument, or behind a date or a state; and a session token
 * behind it.
 */
const keyPair =
  /^(?:["']?(?:\\t|[,\t ]{1,4})["']?[\w:.+-]{1,30})?["']?(?:\\t|[,:\t ]{1,4})["']?([A-Za-z0-9+/]{40})(?![\w+/=])(?:["']?[,\t ]{1,2}["']?([A-Za-z0-9+/=]{100,2048}))?/;

/** Returns the id of a key with the secret key and the session token that command-line tools and downloads print behind it. */
export const withKeyPair = (reader: Reader, id: Secret): Secret => {
  const { end, kind } = id;
  if (!mayPair.has(reader.code(end))) return id;
  const pair = keyPair.exec(reader.slice(end, end + 2200));
  const [whole = '', secret = '', session = ''] = pair ?? [];
  if (pair === null || !looksRandomBase64(secret)) return id;
  const start = end + whole.indexOf(secret);
  const more: Secret[] = [id, { kind, start, end: start + secret.length }];
  if (session !== '') more.push({ kind, start: end + whole.length - session.length, end: end + whole.length });
  return { ...id, more };
};

/** What may be between an id and its key. */
const mayPair: ReadonlySet<number> = new Set(Array.from(' \t,:"\'\\', (character) => character.charCodeAt(0)));
