import { codeAt } from '../text/characters.js';
import type { Reader } from '../text/reader.js';
import type { Secret } from '../text/replace.js';
import { isRandomCased } from '../values/random-letters.js';
import { distinctOf, isPlaceholder } from '../values/value.js';

/**
 * The methods that begin a stored password: those of crypt(5) of libxcrypt 4.4.36, of the PHC string format, and of
 * Apache, phpass, Drupal, Cisco, Juniper and of Kerberos in hashcat 6.2.6 (November 2026).
 */
const methods =
  'g?y|7|2[abxy]?|6|5|1[abc]|sha1|md5(?:,rounds=\\d{1,9})?|1|3|argon2(?:id?|d)|scrypt|pbkdf2(?:-sha(?:1|256|512))?|' +
  'bcrypt-sha256|apr1|[PHS]|8|9|krb5(?:tgs|asrep|pa)|DCC2';
/** Methods of Django, PostgreSQL and Werkzeug, which have no sign before. */
const named =
  'pbkdf2_sha(?:1|256|512)|bcrypt_sha256|SCRAM-SHA-(?:1|256)|pbkdf2:sha\\d{1,3}:\\d{1,8}|scrypt(?::\\d{1,8}){3}';
const method = new RegExp(`(?:(?<![\\w$])\\$\\$?(?:${methods})|(?<![\\w$-])(?:${named}))$`);
/** Length of the longest method. */
const maxMethod = 28;
/** Matches the parameters, the salt and the hash. Files of Compose double the sign. */
const parts = /^\$\$?(?:[*\w=,./+:-]{0,64}\$\$?){0,6}([\w./+=:-]{20,128})/;
const maxParts = 400;
const brace = 123;
const minDistinct = 12;

/** Finds a stored password such as `$6$salt$hash`. Called for the sign behind the method. */
export const findPasswordHash = (reader: Reader, index: number): Secret | undefined => {
  const { text, barrier } = reader;
  // A variable or a template follows far more often.
  if (codeAt(text, index + 1) === brace) return undefined;
  const head = method.exec(text.slice(Math.max(barrier, index - maxMethod), index));
  if (head === null) return undefined;
  const found = parts.exec(reader.slice(index, index + maxParts));
  const value = found?.[1] ?? '';
  // Few hashes have no digit.
  const isHash = /\d/.test(value) ? /[a-z]/i.test(value) : isRandomCased(value.replaceAll(/[./]/g, ''));
  if (found === null || !isHash || distinctOf(value) < minDistinct) return undefined;
  if (found[0].includes(reader.replacement) || /example|fixture|[-_]hash/i.test(found[0])) return undefined;
  return { kind: 'password-hash', start: index - head[0].length, end: index + found[0].replace(/[:.]$/, '').length };
};

/** The schemes of RFC 2307 with their successors, and those of Dovecot 2.4, without their encodings. */
const scheme =
  /\{(?:S?SHA(?:-?(?:1|224|256|384|512))?|S?MD5|CRYPT|BLF-CRYPT|(?:SHA(?:256|512)|MD5|DES)-CRYPT|PBKDF2(?:-?SHA(?:1|256|512))?|ARGON2(?:I|ID|D)?|PLAIN|CLEAR(?:TEXT)?|(?:CRAM|DIGEST|PLAIN)-MD[45]|LANMAN|NTLM|SCRAM-SHA-(?:1|256))(?:\.(?:B64|HEX|BASE64))?$/;
const schemeValue = /^\}([^\s:"'{}<>,;]{6,256})/;

/** Finds the stored password in `{SSHA}…` and `{PLAIN}…`. Called for the bracket behind the scheme. */
export const findSchemeHash = (reader: Reader, index: number): Secret | undefined => {
  if (!scheme.test(reader.text.slice(Math.max(reader.barrier, index - maxMethod), index))) return undefined;
  const value = schemeValue.exec(reader.slice(index, index + 260))?.[1] ?? '';
  if (value === '' || isPlaceholder(value) || value.includes(reader.replacement)) return undefined;
  return { kind: 'password-hash', start: index + 1, end: index + 1 + value.length };
};

/** Finds a stored password of MySQL, a star and 40 capital digits. Called for the first digit. */
export const findNativeHash = (reader: Reader, index: number): Secret | undefined => {
  return /^[\dA-F]{40}(?!\w)/.test(reader.slice(index, index + 41))
    ? { kind: 'password-hash', start: index - 1, end: index + 40 }
    : undefined;
};
