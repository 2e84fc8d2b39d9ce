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
  const line = behind.slice(from).split('\n', 1)[0] ?? '';
  const sign = ` ${line}`.indexOf(` ${number} = `);
  return from === 0 || sign === -1
    ? undefined
    : valueOf(reader, key, start + from + sign + number.length + 3, { isColon: true, isLiteral: true });
};
