import { codeAt, lineBreak } from '../text/characters.js';
import { keyStrength } from '../names/key-name.js';
import { endOfQuoted, quoteAt } from '../text/quotes.js';
import type { Reader } from '../text/reader.js';
import type { Secret } from '../text/replace.js';
import { skipWhiteSpace } from '../text/gaps.js';
import type { Key } from '../names/key.js';
import { findParameter } from './parameters.js';
import { valueOf } from '../values/value-of-name.js';

const maxArgument = 256;
const maxColumns = 24;
const maxRows = 100;
const maxRowsLength = 8192;
const columnList = /\(([\w\s,."`[\]-]{1,150})\)\s{0,4}VALUES$/i;

/** Finds the values of secret columns in `INSERT INTO … (name, password) VALUES (…)`. Called for the space. */
export const findInserted = (reader: Reader, index: number): Secret | undefined => {
  const { text } = reader;
  if ((codeAt(text, index - 1) | 32) !== 115 || reader.code(index + 1) !== 40 || reader.hasAhead) return undefined;
  const columns = columnList.exec(text.slice(reader.floor(index), index))?.[1]?.split(',');
  if (columns === undefined) return undefined;
  const keys = columns.slice(0, maxColumns).map((column): Key => {
    const name = column.replaceAll(/[\s"`[\]]/g, '');
    return { name, strength: keyStrength(name), start: index, isQuoted: true, isTight: false };
  });
  if (keys.every(({ strength }) => strength === undefined)) return undefined;
  const found: Secret[] = [];
  let open = index + 1;
  for (let rows = 0; rows < maxRows && open - index < maxRowsLength && reader.code(open) === 40; rows += 1) {
    let at = open;
    for (const key of keys) {
      const start = skipWhiteSpace(reader, at + 1);
      const end = endOfArgument(reader, start);
      if (end === undefined) break;
      const secret =
        key.strength === undefined
          ? undefined
          : (findParameter(reader, key, start) ?? valueOf(reader, key, start, { isColon: true }));
      if (secret !== undefined) found.push(secret);
      at = end;
      if (reader.code(end) !== 44) break;
    }
    if (reader.code(at) !== 41 || reader.code(at + 1) !== 44) break;
    open = skipWhiteSpace(reader, at + 2);
  }
  return found[0] === undefined ? undefined : { ...found[0], more: found };
};

/** Returns the offset of the comma or bracket after an argument. */
const endOfArgument = (reader: Reader, start: number): number | undefined => {
  const quote = quoteAt(reader, start);
  const close = quote === undefined ? undefined : endOfQuoted(reader, quote.end, quote.literal, maxArgument);
  if (quote !== undefined && close === undefined) return undefined;
  let end = quote === undefined || close === undefined ? start : close + quote.literal.length;
  for (let depth = 0; end < start + maxArgument;) {
    const code = reader.code(end);
    if (depth === 0 && (code === 44 || code === 41)) return end;
    if (code === 40) depth += 1;
    else if (code === 41) depth -= 1;
    if (Number.isNaN(code) || code === 10) return undefined;
    end += 1;
  }
  return undefined;
};

/** Matches the head of the rows that a dump of PostgreSQL copies. */
const copied = /(?:^|\n)COPY [\w."]{1,64} \(([\w\s,"]{1,150})\) FROM stdin$/;
const maxRow = 1024;

/** Finds the values of secret columns below `COPY … (name, password) FROM stdin;`. Called for the semicolon. */
export const findCopied = (reader: Reader, index: number): Secret | undefined => {
  const { text } = reader;
  if (!text.endsWith(' FROM stdin', index) || reader.code(index + 1) !== 10 || reader.hasAhead) return undefined;
  const columns = copied.exec(text.slice(Math.max(reader.barrier, index - 240), index))?.[1]?.split(',');
  if (columns === undefined) return undefined;
  const found: Secret[] = [];
  let at = index + 2;
  for (let rows = 0; rows < maxRows && at - index < maxRowsLength && !reader.matches('\\.', at); rows += 1) {
    const end = reader.endOfRun(at, lineBreak, maxRow, false);
    const cells = reader.slice(at, end).split('\t');
    if (cells.length !== columns.length) break;
    for (const [place, cell] of cells.entries()) {
      const name = (columns[place] ?? '').replaceAll(/[\s"]/g, '');
      const key: Key = { name, strength: keyStrength(name), start: index, isQuoted: true, isTight: false };
      const secret =
        key.strength === undefined ? undefined : valueOf(reader, key, at, { isColon: true, isLiteral: true });
      if (secret !== undefined) found.push(secret);
      at += cell.length + 1;
    }
    if (reader.code(end) !== 10) break;
  }
  return found[0] === undefined ? undefined : { ...found[0], more: found };
};
