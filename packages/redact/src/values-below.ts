import { lineBreak } from './characters.js';
import { isCall, isMixed } from './chosen-value.js';
import { endsLine } from './gaps.js';
import { mayEndKey } from './key-name.js';
import { readKey } from './key.js';
import { findNested } from './nested-values.js';
import { mentionTest } from './mentions.js';
import { quoteAt } from './quotes.js';
import type { Reader } from './reader.js';
import type { Secret } from './replace.js';
import type { Sign } from './sign.js';
import { valueOf } from './value-of-name.js';
import { isPlaceholder, looksRandom } from './value.js';

const announcement =
  /\b(?:password|passphrase|secret|token|(?:api|access|secret|private|signing|recovery|license) key)\b[^\n]{0,80}$/i;

const maxAnnouncement = 110;
/** Returns quickly whether the words before an offset may announce a secret, a phrase or codes on the lines below. */
export const mayAnnounce = mentionTest('ass ecr oke key hra nem ord ode', maxAnnouncement);

/** Matches a line that consists of one word. */
const onlyWord = /^\s{1,24}([\w.~+/!@#$%^&*?=-]{8,256})[ \t]*(?:\r?\n|$)/;

/** Finds a random or chosen value on a line below `Use the following password:`. */
export const findAnnounced = (reader: Reader, sign: Sign, nameEnd: number): Secret | undefined => {
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
