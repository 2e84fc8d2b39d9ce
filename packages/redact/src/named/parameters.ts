import type { Key } from '../names/key.js';
import type { Reader } from '../text/reader.js';
import type { Secret } from '../text/replace.js';
import { valueOf } from '../values/value-of-name.js';

/** Maximum number of characters between a parameter in a statement and its value. */
const maxBetween = 1500;
const dollar = 36;

/** Matches the words of a statement that are before a column. */
const statement = /\b(?:insert|update|set|where|and|values)\b/i;
/** Matches the rest of a statement and what is before the values of its parameters, in a log of PostgreSQL. */
const rest = /^(?:(?!\n[^\n]{0,120}\bLOG: )[^]){0,1000}?\bDETAIL: {1,4}[Pp]arameters: (?=\$1 = )/;

/** Matches a parameter up to its value, and a value with the comma behind it. */
const sign = /(\$\d{1,2}) = /y;
const quoted = /(?:'(?:[^']|'')*'|[^',\n]*), /y;

/** Returns the start of the value of a parameter. Values before it may have signs and line feeds in them. */
const startOfParameter = (text: string, number: string, from: number): number | undefined => {
  quoted.lastIndex = from;
  do {
    sign.lastIndex = quoted.lastIndex;
    const found = sign.exec(text)?.[1];
    if (found === number) return sign.lastIndex;
    quoted.lastIndex = sign.lastIndex;
  } while (sign.lastIndex > 0 && quoted.test(text));
  return undefined;
};

/**
 * Finds the value of a parameter in `password = $2`, which a log of PostgreSQL has behind the statement:
 * `DETAIL:  parameters: $1 = 'joe', $2 = '…'`.
 */
export const findParameter = (reader: Reader, key: Key, start: number): Secret | undefined => {
  if (reader.code(start) !== dollar) return undefined;
  const number = /^\$\d{1,2}(?![\w}])/.exec(reader.slice(start, start + 4))?.[0];
  if (number === undefined || !statement.test(reader.text.slice(reader.floor(key.start), start))) return undefined;
  const behind = reader.slice(start, start + maxBetween);
  if (reader.next('DETAIL: ', start) > start + maxBetween) return undefined;
  const from = rest.exec(behind)?.[0].length ?? 0;
  const at = from === 0 ? undefined : startOfParameter(behind, number, from);
  return at === undefined ? undefined : valueOf(reader, key, start + at, { isColon: true, isLiteral: true });
};
