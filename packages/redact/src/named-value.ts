import { keyStrength } from './key-name.js';
import { endOfQuoted, quoteAt } from './quotes.js';
import type { Reader } from './reader.js';
import type { Secret } from './replace.js';
import { skipGap, valueOf, type Key } from './value-of-name.js';

/** Whether the name is `value`, so that the actual name is in another member. */
export const isValueName = (reader: Reader, end: number): boolean =>
  (reader.text.charCodeAt(end - 1) | 32) === 101 &&
  /(?:^|[^\w])value$/i.test(reader.text.slice(Math.max(0, end - 6), end));

const nameBefore =
  /(?:\bname|\bkey|\bvariable|\bheader|\bfield|\bparameter)["'\\]{0,8}\s{0,4}[:=]\s{0,4}["'\\]{0,8}([\w.$/-]{2,80})["'\\]{0,8}[\s,;]{0,40}(?:["'\\]{0,8}\w{1,20}["'\\]{0,8}\s{0,4}[:=]\s{0,4}["'\\]{0,8}\w{0,24}["'\\]{0,8}[\s,;]{1,40})?["'\\]{0,8}$/i;
/** Matches the name of an object whose `value` follows, as in outputs of Terraform. */
const nameAround = /["']([\w.-]{2,64})["']\s{0,4}:\s{0,4}\{[^{}]{0,100}$/;
const nameAfter =
  /^["'\\]{0,8}[\s,;]{0,20}["'\\]{0,8}(?:name|key)["'\\]{0,8}\s{0,4}[:=]\s{0,4}["'\\]{0,8}([\w.$/-]{2,64})/i;

/** Finds the value in `{"name": "DB_PASSWORD", "value": "…"}`, in either order, and in `key="ApiKey" value="…"`. */
export const findNamedValue = (reader: Reader, signEnd: number, nameEnd: number): Secret | undefined => {
  const before = reader.text.slice(reader.floor(nameEnd), nameEnd - 5);
  const named = nameBefore.exec(before)?.[1] ?? nameAround.exec(before)?.[1];
  const start = skipGap(reader, signEnd);
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
