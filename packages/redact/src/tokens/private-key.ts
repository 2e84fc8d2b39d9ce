import { base64, codeAt, is, keyBody } from '../text/characters.js';
import { looksRandom } from '../values/value.js';
import type { Reader } from '../text/reader.js';
import type { Secret } from '../text/replace.js';

const hyphen = 45;
const maxLabel = 48;
/** A key of 16,384 bits has about 13,000 characters. */
const maxBody = 16_384;
const minRun = 24;
/** White space, escapes, quotes, line prefixes, and the punctuation of headers in old formats. */
const fillers = new Set(Array.from(' \t\r\n\v\f\\"\':,-.()>|#*', (character) => character.charCodeAt(0)));

/** Finds the body of a private key in PEM. Called for the `B` of `-----BEGIN`. */
export const findPrivateKey = (reader: Reader, index: number): Secret | undefined => {
  if (
    !reader.matches('BEGIN ', index) ||
    reader.slice(Math.max(reader.barrier, index - 4), index).replace(/ /g, '').length < 3
  ) {
    return undefined;
  }
  const label =
    /^BEGIN (?:[A-Z0-9 ]{0,30}(?:PRIVATE KEY(?: BLOCK)?|NKEY SEED)|OpenVPN (?:Static|tls-crypt-v2 (?:client|server)) key(?: V1)?)\s?-{4,5}/.exec(
      reader.slice(index, index + maxLabel),
    );
  if (label === null) return undefined;
  const start = index + label[0].length;
  const closed = endOfMarked(reader, start);
  const { end, longest } = closed === undefined ? readBody(reader, start) : { end: closed, longest: minRun };
  return longest < minRun || isElided(reader.text.slice(start, end)) ? undefined : { kind: 'private-key', start, end };
};

/** The part of a body that must be lines of base64, if others surround them: numbers of lines, times, names of hosts. */
const minShare = 0.3;
const lineOfKey = /[A-Za-z\d+/]{48,}/g;
const startsWithLine = /^[^]{0,200}?[A-Za-z\d+/]{48}/;

/** Returns where the closing line of a key of several lines begins, whatever surrounds its lines. */
const endOfMarked = (reader: Reader, start: number): number | undefined => {
  if (!startsWithLine.test(reader.slice(start, start + 256))) return undefined;
  const [body = ''] = reader.slice(start, start + maxBody).split('-----END ', 1);
  const end = start + body.length;
  if (!reader.matches('-----END ', end) || body.includes(reader.replacement)) return undefined;
  const length = (body.match(lineOfKey) ?? []).join('').length;
  return length >= body.length * minShare ? end : undefined;
};

/** Number of characters of a shortened key: a whole one of the elliptic curve P-256 has 160. */
const maxElided = 80;

/** Whether a body is shortened, as in documentation: dots between a few characters of base64. */
const isElided = (body: string): boolean =>
  /[\w+/]\.{3}[\w+/]/.test(body) && body.replaceAll(/[^\w+/]/g, '').length < maxElided;

/** Numbers of characters of the lines of keys in PEM and of OpenSSH. */
const pemLength = 64;
const openSshLength = 70;
/** Maximum length of the end of a key. */
const maxTail = 4096;

/** Returns quickly whether the line that ends before this line feed may be one of a key. */
export const mayBeKeyLine = (text: string, index: number): boolean =>
  codeAt(text, index - pemLength - 1) === 10 ||
  codeAt(text, index - openSshLength - 1) === 10 ||
  index === pemLength ||
  index === openSshLength;

/** Finds the end of a key whose first lines are missing, above `-----END`. Called for the line feed of a line. */
export const findKeyTail = (reader: Reader, index: number): Secret | undefined => {
  const { text } = reader;
  const isPem = index === pemLength || codeAt(text, index - pemLength - 1) === 10;
  const length = isPem ? pemLength : openSshLength;
  if (index - length < reader.barrier || !mayBeKeyLine(text, index)) return undefined;
  const end = reader.endOfRun(index, keyBody, maxTail);
  if (reader.code(end) !== hyphen || !reader.matches('-----END ', end)) return undefined;
  if (!/^-----END [A-Z0-9 ]{0,30}PRIVATE KEY-----/.test(reader.slice(end, end + maxLabel))) return undefined;
  const start = index - length;
  const line = text.slice(start, index);
  return /^[\w+/]+$/.test(line) && looksRandom(line) ? { kind: 'private-key', start, end: end - 1 } : undefined;
};

/** Finds the body of a private key of PuTTY. Called for the colon of `Private-Lines`. */
export const findPuttyKey = (reader: Reader, colon: number): Secret | undefined => {
  const lines = /^: \d{1,3}\r?\n/.exec(reader.slice(colon, colon + 8));
  if (lines === null) return undefined;
  const start = colon + lines[0].length;
  const { end, longest } = readBody(reader, start);
  return longest < minRun ? undefined : { kind: 'private-key', start, end };
};

/** Reads the possible body of a key: lines of base64, plain, quoted or escaped, up to the closing line. */
const readBody = (reader: Reader, start: number): { readonly end: number; readonly longest: number } => {
  let longest = 0;
  let run = 0;
  let end = start;
  while (end < start + maxBody) {
    const code = reader.code(end);
    if (is(code, base64)) {
      run += 1;
      if (run > longest) longest = run;
    } else {
      if (code === hyphen && (reader.matches('-----', end) || reader.matches('---- END', end))) break;
      if (!fillers.has(code)) break;
      run = 0;
    }
    end += 1;
  }
  return { end, longest };
};
