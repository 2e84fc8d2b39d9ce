import { keyStrength } from './key-name.js';
import { endOfQuoted, quoteAt } from './quotes.js';
import type { Reader } from './reader.js';
import type { Secret } from './replace.js';
import { skipWhiteSpace, valueOf, type Key } from './value-of-name.js';

const maxArgument = 256;
const maxColumns = 24;
const columnList = /\(([\w\s,."`[\]-]{1,150})\)\s{0,4}VALUES$/i;

/** Finds the values of secret columns in `INSERT INTO … (name, password) VALUES (…)`. Called for the space. */
export const findInserted = (reader: Reader, index: number): Secret | undefined => {
  const { text } = reader;
  if ((text.charCodeAt(index - 1) | 32) !== 115 || reader.code(index + 1) !== 40) return undefined;
  const columns = columnList.exec(text.slice(reader.floor(index), index))?.[1]?.split(',');
  if (columns === undefined) return undefined;
  const found: Secret[] = [];
  let at = index + 2;
  for (const column of columns.slice(0, maxColumns)) {
    const start = skipWhiteSpace(reader, at);
    const end = endOfArgument(reader, start);
    if (end === undefined) break;
    const name = column.replaceAll(/[\s"`[\]]/g, '');
    const key: Key = { name, strength: keyStrength(name), start: index, isQuoted: true, isTight: false };
    const secret = key.strength === undefined ? undefined : valueOf(reader, key, start, { isColon: true });
    if (secret !== undefined) found.push(secret);
    if (reader.code(end) !== 44) break;
    at = end + 1;
  }
  return found[0] === undefined ? undefined : { ...found[0], more: found };
};

/** Returns the offset of the comma or bracket after an argument. */
const endOfArgument = (reader: Reader, start: number): number | undefined => {
  const quote = quoteAt(reader, start);
  const close = quote === undefined ? undefined : endOfQuoted(reader, quote.end, quote.literal, maxArgument);
  if (quote !== undefined && close === undefined) return undefined;
  let end = quote === undefined || close === undefined ? start : close + quote.literal.length;
  while (end < start + maxArgument) {
    const code = reader.code(end);
    if (code === 44 || code === 41) return end;
    if (Number.isNaN(code) || code === 10) return undefined;
    end += 1;
  }
  return undefined;
};
