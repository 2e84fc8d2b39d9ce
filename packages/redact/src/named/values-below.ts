import { codeAt, lineBreak } from '../text/characters.js';
import { isCall, isMixed, isPasswordLike } from '../values/chosen-value.js';
import { mayEndColumns } from './columns.js';
import { endsLine } from '../text/gaps.js';
import { mayEndKey } from '../names/key-name.js';
import { readKey } from '../names/key.js';
import { findNested } from './nested-values.js';
import { mentionTest } from '../names/mentions.js';
import { quoteAt } from '../text/quotes.js';
import type { Reader } from '../text/reader.js';
import type { Secret } from '../text/replace.js';
import type { Sign } from '../names/sign.js';
import { valueOf } from '../values/value-of-name.js';
import { isHash, isPlaceholder, looksRandom } from '../values/value.js';

const announcement =
  /\b(?:password|passphrase|secret|token|(?:api|access|secret|private|signing|recovery|license|certificate|encryption|decryption|master|unseal|join|shared|account|webhook|enrollment) key)\b[^\n]{0,80}$/i;

const maxAnnouncement = 110;
/** Returns quickly whether the words before an offset may announce a secret, a phrase or codes on the lines below. */
export const mayAnnounce = mentionTest('ass ecr oke key hra nem ord ode', maxAnnouncement);

/** Matches a line that consists of one word. */
const onlyWord = /^\s{1,24}([\w.~+/!@#$%^&*?=-]{8,256})(?:[ \t]*(?:\r?\n|$)|(?="[,}\]]))/;

/** Matches the rule between a name and its value, as kubectl describes a map. */
const underRule = /^\r?\n-{3,40}\r?\n(?=\S)/;
const maxRule = 48;

/** Finds a random or chosen value on a line below `Use the following password:`. */
export const findAnnounced = (reader: Reader, sign: Sign, nameEnd: number): Secret | undefined => {
  const ruled = underRule.exec(reader.slice(sign.end, sign.end + maxRule));
  const key = ruled === null || !mayEndKey(reader.text, nameEnd) ? undefined : readKey(reader, nameEnd, sign.start);
  if (ruled !== null && key !== undefined) {
    return valueOf(reader, key, sign.end + ruled[0].length, { isColon: true });
  }
  // Most lines that follow have several words.
  const found = onlyWord.exec(reader.slice(sign.end, sign.end + 300));
  if (found === null) return undefined;
  const announced = announcement.exec(
    reader.text.slice(Math.max(reader.floor(nameEnd), nameEnd - maxAnnouncement), nameEnd),
  );
  if (announced === null) return undefined;
  const value = found[1] ?? '';
  const isChosen = /^pass/i.test(announced[0]) && isMixed(value, { isQuoted: false }) && !isCall(value);
  const start = sign.end + found[0].indexOf(value);
  if (!(looksRandom(value) && value.length >= 16) && !isChosen) return findIndented(reader, sign, nameEnd, start);
  if (isPlaceholder(value) || /^[A-Za-z_]\w*=[a-z]+\./i.test(value)) return undefined;
  return { kind: 'assignment', start, end: start + value.length };
};

/** Finds a value that is indented further than its name, which is a whole line, too. */
const findIndented = (reader: Reader, sign: Sign, nameEnd: number, start: number): Secret | undefined => {
  const key = mayEndKey(reader.text, nameEnd) ? readKey(reader, nameEnd, sign.start) : undefined;
  const indent = /(?:^|\n)( *)$/.exec(reader.text.slice(reader.floor(nameEnd), key?.start ?? nameEnd))?.[1];
  if (key?.strength !== 'strong' || indent === undefined) return undefined;
  return start - sign.end > indent.length + 2 ? valueOf(reader, key, start, { isColon: true }) : undefined;
};

/** Matches the beginning of an item of a list in YAML. */
const item = /^\r?\n {0,40}- /;

const maxItems = 8;

/** Finds the values in a list below `passwords:`. */
export const findItems = (reader: Reader, sign: Sign, nameEnd: number): Secret | undefined => {
  const key = mayEndKey(reader.text, nameEnd) ? readKey(reader, nameEnd, sign.start) : undefined;
  if (key === undefined) return undefined;
  const found: Secret[] = [];
  let end = sign.end;
  if (!item.test(reader.slice(end, end + 44))) return findNested(reader, key, end);
  for (let items = 0; items < maxItems; items += 1) {
    const head = item.exec(reader.slice(end, end + 44));
    if (head === null) break;
    const start = end + head[0].length;
    const secret = valueOf(reader, key, start, { isColon: true });
    if (secret !== undefined && endsLine(reader, secret.end + (quoteAt(reader, start)?.literal.length ?? 0))) {
      found.push(secret);
    }
    end = reader.endOfRun(start, lineBreak, 128, false);
  }
  return found[0] === undefined ? undefined : { ...found[0], more: found };
};

/** Matches a heading of one to four words and its rule, before a list. */
const heading = /(?:^|\n)[ \t#*]{0,8}((?:[A-Za-z][\w-]{1,16} ){0,3}[A-Za-z]{3,12})$/;
const headingRule = /^(?:[ \t]*\r?\n){1,2}(?:[-=~]{3,80}[ \t]*\r?\n)?/;
/** Matches an item of a list that is one word, with its number or sign. */
const listed =
  /^(?:[ \t]*\r?\n)?[ \t]{0,8}(?:(?:\(\d{1,3}\)|#?\d{1,3}[.):]|[-*•])[ \t]{1,4})?(["'`]?)([!-~]{12,256}?)\1[ \t]*(?=\r?\n|$)/;
const maxListed = 40;

/** Finds the values of a list below a heading such as `Private Keys`. Called for the line feed behind the heading. */
export const findListBelow = (reader: Reader, index: number): Secret | undefined => {
  if (reader.hasAhead || !mayEndColumns(reader.text, index) || !mayEndKey(reader.text, index)) return undefined;
  const title = heading.exec(reader.text.slice(Math.max(reader.barrier, index - 72), index))?.[1];
  if (title?.endsWith('s') !== true || reader.strengthOf(title.toLowerCase()) === undefined) return undefined;
  const found: Secret[] = [];
  let end = index + (headingRule.exec(reader.slice(index, index + 96))?.[0].length ?? 0);
  for (let items = 0; items < maxListed && end > index; items += 1) {
    const next = listed.exec(reader.slice(end, end + 280));
    const value = next?.[2] ?? '';
    if (next === null || !(looksRandom(value) || isHash(value.replace(/^0x/, ''))) || isPlaceholder(value)) break;
    if (/[/:=]\w|\(/.test(value) || value.includes(reader.replacement)) break;
    const start = end + next[0].lastIndexOf(value);
    found.push({ kind: 'assignment', start, end: start + value.length });
    end += next[0].length;
    if (reader.code(end) === 13) end += 1;
    if (reader.code(end) !== 10) break;
    end += 1;
  }
  return found[0] === undefined ? undefined : { ...found[0], more: found };
};

/** Sections whose members are users and their passwords. */
const sections = ['[admins]', '[users]', '[passwords]', '[credentials]', '[accounts]', '[secrets]'];
/** Returns quickly whether a section of users ends here. */
export const mayBeUserSection = (text: string, index: number): boolean =>
  codeAt(text, index - 2) === letterS && sections.some((section) => text.endsWith(section, index));
const sectionMember =
  /^\r?\n(?:[;#][^\n]{0,160}|[ \t]*([\w.@-]{1,64})[ \t]{0,8}=[ \t]{0,8}("?)([^\s"]{6,256})\2[ \t]*)(?=\r?\n|$)/;

/** Finds the passwords of the users in `[admins]`. Called for the line feed behind the bracket. */
export const findUserSection = (reader: Reader, index: number): Secret | undefined => {
  if (reader.hasAhead || !mayBeUserSection(reader.text, index)) return undefined;
  const found: Secret[] = [];
  let end = index;
  for (let members = 0; members < maxListed; members += 1) {
    const next = sectionMember.exec(reader.slice(end, end + 360));
    if (next === null) break;
    const value = next[3] ?? '';
    const isHidden = storedPassword.test(value) || (plainPassword.test(value) && isPasswordLike(value));
    if (isHidden && !isPlaceholder(value) && !value.includes(reader.replacement)) {
      const start = end + next[0].lastIndexOf(value);
      found.push({ kind: 'assignment', start, end: start + value.length });
    }
    end += next[0].length;
  }
  return found[0] === undefined ? undefined : { ...found[0], more: found };
};
/** Matches a password of CouchDB that is stored, and what passwords have and roles and addresses do not. */
const storedPassword = /^-(?:pbkdf2|hashed)-[\da-f]{32,}/;
const plainPassword = /^(?=.*[A-Z].*|.*[!#$%^&*+?~])(?=.*\d)[\w!@#$%^&*+=?~.-]+$/;
const letterS = 115;
