import { codeAt, is, key, kindOf } from '../text/characters.js';
import type { Reader } from '../text/reader.js';
import type { Secret } from '../text/replace.js';

/** Matches the relative id and the two hashes of an account, in the format of pwdump. */
const accountHashes = /^:\d{1,7}:([\da-f]{32}):([\da-f]{32})(?=:|\s|$)/i;
/** The hash of an empty password. */
const emptyHash = /^(?:aad3b435b51404ee){2}$/i;

const isDigit = (code: number): boolean => code >= 48 && code <= 57;

const colon = 58;
const hashLength = 32;
const letterT = 116;
/** The kind of digits. */
const digit = 3;
const isHex = (code: number): boolean => isDigit(code) || ((code | 32) >= 97 && (code | 32) <= 102);

/** Returns the end of the relative id behind a colon. */
const endOfId = (text: string, index: number): number => {
  let end = index + 1;
  while (end < index + 8 && isDigit(codeAt(text, end))) end += 1;
  return end;
};

/** Returns quickly whether a relative id and a hash may be behind a colon. */
export const mayBeHashDump = (text: string, index: number): boolean => {
  const end = endOfId(text, index);
  if (end >= text.length) return true;
  const behind = end + hashLength + 1;
  return codeAt(text, end) === colon && (behind >= text.length || codeAt(text, behind) === colon);
};

/** Matches what is before the key of an account of Kerberos, which secretsdump prints, and the token of Asana. */
const keyBefore =
  /(?:[\w.$@-]:(?:aes(?:128|256)-cts-hmac-sha1-96|des-cbc-md5|rc4_hmac(?:_nt)?)|\s\/(?:rc4|aes(?:128|256)|ntlm)|(?:^|[^\w/.])([12]\/\d{10,20}(?:\/\d{10,20})?))$/;
const hexKey = /^:(?=[\da-f]*\d)((?:[\da-f]{16}){1,4})(?!\w)/i;

/** Returns quickly whether a key in hexadecimal digits may be behind a number or the method of its encryption. */
export const mayBeNumberedKey = (text: string, index: number): boolean => {
  const end = index + hashLength;
  if (kindOf(codeAt(text, index - 1)) !== digit && codeAt(text, index - 1) !== letterT) return false;
  return end >= text.length || [1, 8, 16].every((offset) => isHex(codeAt(text, index + offset)));
};

/** Finds the key in `joe:aes256-cts-hmac-sha1-96:…` and the token `1/12…:…`. Called for the last colon. */
export const findNumberedKey = (reader: Reader, index: number): Secret | undefined => {
  const value = hexKey.exec(reader.slice(index, index + 66))?.[1];
  if (value === undefined) return undefined;
  const before = keyBefore.exec(reader.text.slice(Math.max(reader.barrier, index - 48), index));
  if (before === null) return undefined;
  const end = index + 1 + value.length;
  const [, numbers] = before;
  if (numbers === undefined) return { kind: 'password-hash', start: index + 1, end };
  const token: Secret = { kind: 'asana', start: index - numbers.length, end };
  return { ...token, more: [token] };
};

/** Matches the domain, the challenge and the answers of a login of Windows that a tool captured. */
const captured = /^::[\w.-]{0,32}:[\da-f]{16}:([\da-f]{32}):([\da-f]{40,1024})(?!\w)/i;

/** Returns quickly whether a captured login may be behind a colon. */
export const mayBeCaptured = (text: string, index: number): boolean => {
  if (codeAt(text, index + 1) !== colon) return false;
  let end = index + 2;
  while (end < index + 36 && is(codeAt(text, end), key)) end += 1;
  return end >= text.length || (codeAt(text, end) === colon && isHex(codeAt(text, end + 1)));
};

/** Finds the answers in `joe::ACME:…:…:…`, from which passwords are guessed. Called for the first colon. */
export const findCaptured = (reader: Reader, index: number): Secret | undefined => {
  if (reader.code(index + 1) !== colon) return undefined;
  const found = captured.exec(reader.slice(index, index + 1140));
  if (found === null) return undefined;
  const [whole = '', first = '', second = ''] = found;
  const end = index + whole.length;
  const start = end - second.length - 1 - first.length;
  return { kind: 'password-hash', start, end };
};

/** Finds the hashes in `name:500:…:…:::`, as tools print the accounts of Windows. Called for the first colon. */
export const findHashDump = (reader: Reader, index: number): Secret | undefined => {
  let end = endOfId(reader.text, index);
  if (reader.code(end) !== colon) return undefined;
  const found = accountHashes.exec(reader.slice(index, index + 76));
  if (found === null) return undefined;
  end = index + found[0].length;
  const more = [found[1] ?? '', found[2] ?? ''].flatMap((hash, place): readonly Secret[] => {
    const start = end - (place === 0 ? 65 : 32);
    return emptyHash.test(hash) ? [] : [{ kind: 'password-hash', start, end: start + 32 }];
  });
  return more[0] === undefined ? undefined : { ...more[0], more };
};

/** Matches the user and the secret of a token of a cluster, behind the digest of its certificate. */
const joinToken = /^::(?:[\w-]{1,32}:)?([\w.~+/=-]{8,256})/;

/** Returns quickly whether the digest of a certificate may be before a colon. */
export const mayBeJoinToken = (text: string, index: number): boolean =>
  codeAt(text, index + 1) === colon && /\b(?:K10)?[\da-f]{64}$/.test(text.slice(Math.max(0, index - 68), index));

/** Finds the secret in `K10…::server:…`. Called for the first colon. */
export const findJoinToken = (reader: Reader, index: number): Secret | undefined => {
  const [whole = '', value = ''] = joinToken.exec(reader.slice(index, index + 292)) ?? [];
  if (value === '' || value.includes(reader.replacement)) return undefined;
  return { kind: 'join-token', start: index + whole.length - value.length, end: index + whole.length };
};
