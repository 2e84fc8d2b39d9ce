import { codeAt, stop } from '../text/characters.js';
import type { Key } from '../names/key.js';
import { endOfQuoted, quoteAt } from '../text/quotes.js';
import type { Reader } from '../text/reader.js';
import type { Secret } from '../text/replace.js';
import { valueOf } from './value-of-name.js';

const maxQuoted = 4096;
const opening = 40;

/** Matches an old value that is not shown, and what follows an old value, in a plan of Terraform or Pulumi. */
const hiddenValue = /^\([\w ]{1,30}\)/;

const changeSign = /^["')]? {1,4}(?:->|=>|→) {1,4}(?=\S)/;

/** Maximum length of an old value without quotes. */
const maxOld = 64;

/** Returns the end of the old value, before the quote or bracket that closes it. */
const endOfOld = (reader: Reader, start: number): number | undefined => {
  if (reader.code(start) === opening) {
    const hidden = hiddenValue.exec(reader.slice(start, start + 32));
    return hidden === null ? undefined : start + hidden[0].length - 1;
  }
  const quote = quoteAt(reader, start);
  if (quote === undefined) return reader.endOfRun(start, stop, maxOld, false);
  return quote.literal.length === 1 ? endOfQuoted(reader, quote.end, quote.literal, maxQuoted) : undefined;
};

/** Adds the new value of `password = "old" -> "new"`, of which the old one may be hidden. */
export const withChange = (reader: Reader, key: Key, start: number, old: Secret | undefined): Secret | undefined => {
  const end = endOfOld(reader, start);
  if (end === undefined || (reader.code(end) !== 32 && reader.code(end + 1) !== 32)) return old;
  const sign = changeSign.exec(reader.slice(end, end + 12));
  // The type of what a function returns, behind its parameters.
  const isReturned = sign?.[0].startsWith(')') === true && codeAt(reader.text, start) !== opening;
  const changed =
    sign === null || isReturned ? undefined : valueOf(reader, key, end + sign[0].length, { isColon: true });
  if (changed === undefined) return old;
  return old === undefined ? changed : { ...old, more: [old, changed] };
};
