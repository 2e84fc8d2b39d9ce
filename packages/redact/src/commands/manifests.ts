import { codeAt, lineBreak } from '../text/characters.js';
import { endOfQuoted } from '../text/quotes.js';
import type { Reader } from '../text/reader.js';
import type { Secret } from '../text/replace.js';
import { isPlaceholder } from '../values/value.js';

const comma = 44;
const doubleQuote = 34;
const letterA = 97;
const letterT = 116;
const maxEntries = 40;
const maxValue = 16_000;
/** Maximum distance of the kind behind the data. */
const maxAfter = 400;

const kind = /(?:(?:^|\n)\s{0,12}(?:- )?"?|[{,] ?")kind"?: ?["']?secret\b/i;
const dataBefore = /(?:^|\n)([ \t-]{0,10})"?(?:data|stringData)"?$/;
const entry =
  /^(?: ?\{)?\r?\n([ \t]{1,16})["']?([\w.-]{1,128})["']?:[ \t]{1,4}(?:["']?(?=[^\s"'|>{[&*])|[|>][-+]?(?=\r?\n))/;
/** Matches a comment between entries. */
const comment = /^(?: ?\{)?\r?\n[ \t]{1,16}#[^\n]{0,140}/;
/** Matches the beginning of a line of a block. */
const blockLine = /^\r?\n([ \t]{1,24})(?=\S)/;
const maxLines = 64;

const compactBefore = /[{,] ?"(?:data|stringData)"$/;
/** Matches an entry of compact JSON up to its value. */
const compactEntry = /^[{,] ?"([\w.-]{1,128})": ?"(?=[^"])/;

/** Finds the values of `"data":{…}` and `"stringData":{…}` of a Kubernetes secret in compact JSON. Called for the colon. */
export const findCompactData = (reader: Reader, colon: number): Secret | undefined => {
  const { text } = reader;
  const before = text.slice(reader.floor(colon), colon);
  if (!compactBefore.test(before)) return undefined;
  const found: Secret[] = [];
  let end = reader.skipSpaces(colon + 1, 1);
  for (let entries = 0; entries < maxEntries; entries += 1) {
    const head = compactEntry.exec(reader.slice(end, end + 160));
    if (head === null) break;
    const start = end + head[0].length;
    const close = endOfQuoted(reader, start, '"', maxValue);
    if (close === undefined) break;
    end = close + 1;
    const value = text.slice(start, close);
    if (isHidden(head[1] ?? '', value, reader.replacement)) found.push({ kind: 'kubernetes', start, end: close });
  }
  return ofSecret(reader, colon, end, found);
};

/** Finds the values below `data:` and `stringData:` of a Kubernetes secret, which may have any names. Called for the colon. */
export const findManifestData = (reader: Reader, colon: number): Secret | undefined => {
  const { text } = reader;
  const indent = dataBefore.exec(text.slice(reader.floor(colon), colon))?.[1]?.length;
  if (indent === undefined) return undefined;
  const found: Secret[] = [];
  let end = colon + 1;
  for (let entries = 0; entries < maxEntries; entries += 1) {
    end += comment.exec(reader.slice(end, end + 160))?.[0].length ?? 0;
    const head = entry.exec(reader.slice(end, end + 160));
    const level = head?.[1]?.length ?? 0;
    if (head === null || level <= indent) break;
    const start = end + head[0].length;
    if (/[|>][-+]?$/.test(head[0])) {
      end = readBlock(reader, start, level, head[2] ?? '', found);
      continue;
    }
    end = reader.endOfRun(start, lineBreak, maxValue, false);
    const isQuoted = quotes.test(text.charAt(start - 1));
    const last = isQuoted ? end - (codeAt(text, end - 1) === comma ? 2 : 1) : end;
    const value = text.slice(start, last);
    if (isHidden(head[2] ?? '', value, reader.replacement)) found.push({ kind: 'kubernetes', start, end: last });
  }
  return ofSecret(reader, colon, end, found);
};

const quotes = /["']/;

/** Adds the lines of a block to the values, and returns its end. */
const readBlock = (reader: Reader, from: number, level: number, name: string, found: Secret[]): number => {
  let end = from;
  for (let lines = 0; lines < maxLines; lines += 1) {
    const head = blockLine.exec(reader.slice(end, end + 28));
    if (head === null || (head[1]?.length ?? 0) <= level) break;
    const start = end + head[0].length;
    end = reader.endOfRun(start, lineBreak, maxValue, false);
    const isSecret = isHidden(name, reader.text.slice(start, end), reader.replacement);
    if (isSecret) found.push({ kind: 'kubernetes', start, end });
  }
  return end;
};

/** Whether the value of an entry is secret. Certificates are public. */
const isHidden = (name: string, value: string, replacement: string): boolean =>
  !name.endsWith('.crt') && !/\s/.test(value) && !isPlaceholder(value) && !value.includes(replacement);

/** Returns the values if the manifest is one of a secret, which its kind before or behind them says. */
const ofSecret = (reader: Reader, colon: number, end: number, found: readonly Secret[]): Secret | undefined => {
  const [first] = found;
  if (first === undefined) return undefined;
  const before = reader.text.slice(reader.floor(colon), colon);
  return kind.test(before) || kind.test(reader.slice(end, end + maxAfter)) ? { ...first, more: found } : undefined;
};

/** Whether the name before the colon may be `data` or `stringData`. */
export const mayBeManifest = (text: string, colon: number): boolean => {
  const end = codeAt(text, colon - 1) === doubleQuote ? colon - 1 : colon;
  return codeAt(text, end - 1) === letterA && codeAt(text, end - 2) === letterT;
};
