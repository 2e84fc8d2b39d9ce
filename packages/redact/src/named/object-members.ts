import { codeAt, is, key as keyClass, stop } from '../text/characters.js';
import { skipGap } from '../text/gaps.js';
import { keyStrength } from '../names/key-name.js';
import { endOfQuoted, quoteAt } from '../text/quotes.js';
import { isRandomMixed } from '../values/random-letters.js';
import type { Reader } from '../text/reader.js';
import { findRecoveryCodes, findSeed } from '../tokens/recovery-codes.js';
import type { Secret } from '../text/replace.js';
import type { Sign } from '../names/sign.js';
import { isPlaceholder, looksRandom } from '../values/value.js';
import { valueOf } from '../values/value-of-name.js';

const maxQuoted = 4096;

/** Minimum length of a member of a JSON web key, which has 32 bytes. */
const minKeyMember = 42;

/** Whether the name is that of a private member of a JSON web key, in quotes. */
export const isKeyMember = (text: string, end: number): boolean =>
  (isQuote(codeAt(text, end - 2)) || isQuote(codeAt(text, end - 3))) &&
  /["'](?:d|k|p|q|dp|dq|qi)$/.test(text.slice(end - 3, end));

const isQuote = (code: number): boolean => code === 34 || code === 39;

/** Finds the value of a private member of a JSON web key. */
export const findKeyMember = (reader: Reader, from: number): Secret | undefined => {
  const quote = quoteAt(reader, skipGap(reader, from));
  const end = quote === undefined ? undefined : endOfQuoted(reader, quote.end, quote.literal, maxQuoted);
  if (quote === undefined || end === undefined || end - quote.end < minKeyMember) return undefined;
  const value = reader.text.slice(quote.end, end);
  return /^[\w-]+$/.test(value) && looksRandom(value) ? { kind: 'json-web-key', start: quote.end, end } : undefined;
};

const isPluralOfCode = (text: string, end: number): boolean =>
  codeAt(text, end - 3) === 100 && text.endsWith('odes', end);

/** Matches the name of the object of a member. */
const ofObject = /([A-Za-z][\w-]{1,31})["']?\s{0,2}[:=]\s{0,2}(?:\{[^{}]{0,100}|\n {1,12}["']?key)$/;

/** Matches keys of 16 to 64 bytes in base64 with padding; public keys begin with their type or are longer. */
const symmetricKey = /^(?!AAAA|M[CDFI])(?=.{24,88}$)(?:[A-Za-z\d+/]{4}){5,21}[A-Za-z\d+/]{2,3}={1,2}$/;

/** Matches the names of the two keys of an account, in quotes. */
const accountKey = /["'](?:primary|secondary|key[12])$/;

/** Whether the name is that of a key of an account, in quotes. */
export const isAccountKey = (text: string, end: number): boolean => {
  const last = codeAt(text, end - 1);
  return (
    (last === digit1 || last === digit2 || last === letterY) && accountKey.test(text.slice(Math.max(0, end - 10), end))
  );
};

/** Matches the names of the shares of the key that unseals a vault. */
const shareName = /(?:["']keys(?:_base64)?|(?:^|[\s"'{,])(?:unseal|recovery)_keys_(?:b64|hex|base64))$/;

/** Whether the name is that of a list of shares of the key of a vault. */
export const isShareName = (text: string, end: number): boolean => {
  const last = text.charCodeAt(end - 1);
  return (
    (last === letterS || last === digit4 || last === letterX) && shareName.test(text.slice(Math.max(0, end - 24), end))
  );
};

/** Matches a share of 33 bytes in a list. */
const hexShare = String.raw`"[\da-f]{66}"`;
const base64Share = String.raw`"[A-Za-z\d+/]{44}"`;
const shares = (share: string, count: number): RegExp =>
  new RegExp(String.raw`^\[\s{0,20}${share}(?:,\s{0,20}${share}){0,${count}}`);
const firstShare = shares(`(?:${hexShare}|${base64Share})`, 0);
const hexShares = shares(hexShare, 20);
const base64Shares = shares(base64Share, 20);
/** Matches a share that is no public key. Each public key of 33 bytes begins with its type. */
const untyped = /"(?!0[0-3]|ed)[\da-f]{66}"/;
const maxFirst = 90;
const maxShares = 1800;

/** Finds the list of the shares of the key of a vault as one secret. */
const findShares = (reader: Reader, from: number, isEncoded: boolean): Secret | undefined => {
  if (!firstShare.test(reader.slice(from, from + maxFirst))) return undefined;
  // Addresses of accounts have as many characters as a share in base64.
  const list = (isEncoded ? base64Shares : hexShares).exec(reader.slice(from, from + maxShares))?.[0];
  if (list === undefined || (!isEncoded && !untyped.test(list))) return undefined;
  if (!looksRandom(list.slice(list.indexOf('"') + 1, list.indexOf('"') + 45))) return undefined;
  return { kind: 'vault', start: from + list.indexOf('"') + 1, end: from + list.length - 1 };
};

/** Matches a key that OpenSSL prints, and the vector behind it. */
const hexKey = /^[\dA-F]{32,64}$/;
const beforeVector = /^\r?\niv ?=/;

/** Matches what makes bytes of a string. */
const bytes = /^(?:\[\]byte\(|Buffer\.from\(|b(?=["']))/;

/** Matches a `key` behind the name of its user. */
const besideUser = /["']user_?name["']\s?:\s?["'][\w.@-]{1,64}["'],\s{0,20}["']key$/i;

/** Matches the name of a wireless network before another member of its object. */
const besideNetwork = /["']e?ssid["']\s?:[^{}\n]{2,80}["']key$/i;

const letterD = 100;
const letterY = 121;
const letterS = 115;
const letterX = 120;
const digit4 = 52;
const digit1 = 49;
const digit2 = 50;
const minMember = 16;
/** Minimum length of a key of letters and digits in a setting `key = …`. */
const minSetting = 24;
const maxMember = 512;

/**
 * Finds the codes behind `Recovery codes: …`, and the random value of `key` in an object whose name makes it secret, as
 * in `"Jwt": { "Key": "…" }`.
 */
export const findMember = (reader: Reader, sign: Sign, end: number): Secret | undefined => {
  const { text } = reader;
  if (sign.isColon && codeAt(text, end - 1) === 115 && isPluralOfCode(text, end)) {
    return findRecoveryCodes(reader, end, sign.end);
  }
  if ((codeAt(text, end - 1) | 32) === letterD && /seed$/i.test(text.slice(end - 4, end))) {
    return findSeed(reader, skipGap(reader, sign.end));
  }
  if (sign.isColon && isShareName(text, end)) {
    return findShares(reader, skipGap(reader, sign.end), text.charCodeAt(end - 1) === digit4);
  }
  const isGossip = text.endsWith('encrypt', end) && !is(reader.before(end - 7), keyClass);
  const isKey = (codeAt(text, end - 1) | 32) === 121 && /["'\s{,]key$/i.test(text.slice(end - 4, end));
  const isOfAccount = isAccountKey(text, end);
  if (!isKey && !isGossip && !isOfAccount) return undefined;
  const gap = skipGap(reader, sign.end);
  const wrapper = sign.isColon ? undefined : bytes.exec(reader.slice(gap, gap + 14))?.[0].length;
  const from = gap + (wrapper ?? 0);
  const quote = quoteAt(reader, from);
  const start = quote?.end ?? from;
  const valueEnd =
    quote === undefined
      ? reader.endOfRun(from, stop, maxMember, false)
      : endOfQuoted(reader, start, quote.literal, maxQuoted);
  if (valueEnd === undefined) return undefined;
  if (isKey && sign.isColon && quote !== undefined && besideNetwork.test(text.slice(reader.floor(end), end))) {
    return valueOf(reader, { name: 'psk', strength: 'strong', start: end - 3, isQuoted: true, isTight: false }, gap, {
      isColon: true,
    });
  }
  if (valueEnd - start < minMember) return undefined;
  const value = text.slice(start, valueEnd);
  if (!looksRandom(value) || isPlaceholder(value) || value.includes(reader.replacement)) return undefined;
  const found: Secret = { kind: 'assignment', start, end: valueEnd };
  // The key with which the agents of a cluster encrypt what they say.
  if (isGossip || isOfAccount) return symmetricKey.test(value) ? found : undefined;
  if (!sign.isColon) {
    if (hexKey.test(value) && beforeVector.test(reader.slice(valueEnd, valueEnd + 8))) return found;
    const isKeyLike = symmetricKey.test(value) || (value.length >= minSetting && isRandomMixed(value));
    const isSetting = isKeyLike && /(?:^|\n)[ \t]*$/.test(text.slice(reader.floor(end), end - 3));
    return isSetting || (wrapper !== undefined && quote !== undefined) ? found : undefined;
  }
  if (besideUser.test(text.slice(reader.floor(end), end))) return found;
  const object = ofObject.exec(text.slice(reader.floor(end), end))?.[1];
  return object !== undefined && keyStrength(`${object}_key`) === 'strong' ? found : undefined;
};
