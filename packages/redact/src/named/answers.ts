import { base64, codeAt } from '../text/characters.js';
import { mayEndColumns, passwordPrompt } from './columns.js';
import { keyTails, mayEndKey, tailOf } from '../names/key-name.js';
import { endOfQuoted, quoteAt } from '../text/quotes.js';
import type { Reader } from '../text/reader.js';
import type { Secret } from '../text/replace.js';
import { endsLine } from '../text/gaps.js';
import { readKey } from '../names/key.js';
import { valueOf } from '../values/value-of-name.js';
import { looksRandomBase64 } from '../values/value.js';

const maxQuoted = 1024;

/** Returns the end of the last name on a line, before the quotes and brackets that close it. */
const endOfLastName = (text: string, index: number): number => {
  let end = index;
  while (end > index - 3 && isClosing(codeAt(text, end - 1))) end -= 1;
  return end;
};

const isClosing = (code: number): boolean => code === 34 || code === 39 || code === 41 || code === 93;

/** Returns quickly whether a line that ends here may ask for the string below. */
export const mayBeAnswered = (text: string, index: number): boolean =>
  keyTails[tailOf(text, endOfLastName(text, index) - 1)] === 1 || mayEndColumns(text, index);

/** Matches a call that reads what has the name, up to the name. */
const reads = /(?:get|env|dig|fetch|read|config|lookup|param|secret)\w*\([^()\n]*["':$]$/i;

/** Matches what an interactive program prints before a string: `2) `, `[1] `, `=> `, `Out[1]: `, `$1 = 0x… ` or `res1: String = `. */
const marker =
  /^\n {0,8}(?:\d{1,4}\) |\[\d{1,4}\] |=> |(?:\([\w *]{1,16}\) )?(?:Out\[\d{1,4}\]|\$R?\d{1,4}|(?:val )?res\d{1,4})(?:: \w{1,12})? ?(?:=|:|==>) (?:0x[\da-f]{1,16} )?)?(?:b(?=["']))?(?=["'\\])/;
const maxMarker = 72;

/**
 * Finds the string that is the whole line below a name, as shells of databases and languages print members, pairs and
 * results: `1) "requirepass"` and `2) "…"`, or `os.environ["PASSWORD"]` and `'…'`. Called for the line feed.
 */
export const findAnswer = (reader: Reader, index: number): Secret | undefined => {
  const { text } = reader;
  if (!mayBeAnswered(text, index)) return undefined;
  const end = endOfLastName(text, index);
  if (text.endsWith(passwordPrompt, index)) return findLoginAnswer(reader, index);
  if (!mayEndKey(text, end)) return undefined;
  const body = keyBody.exec(reader.slice(index, index + 1024))?.[1];
  if (body !== undefined && keyComment.test(text.slice(reader.floor(index), index)) && looksRandomBase64(body)) {
    const from = reader.text.indexOf(body, index);
    return { kind: 'private-key', start: from, end: from + body.length };
  }
  const head = marker.exec(reader.slice(index, index + maxMarker));
  const key = head === null ? undefined : readKey(reader, end, end);
  if (head === null || key === undefined) return undefined;
  if (codeAt(text, index - 1) === 41 && !reads.test(text.slice(reader.floor(end), key.start))) return undefined;
  const start = index + head[0].length;
  const quote = quoteAt(reader, start);
  const close = quote === undefined ? undefined : endOfQuoted(reader, quote.end, quote.literal, maxQuoted);
  if (quote === undefined || close === undefined || !endsLine(reader, close + quote.literal.length)) return undefined;
  return valueOf(reader, { ...key, isQuoted: true, isTight: false }, start, { isColon: true });
};

/** Matches a comment above a key, and a line with a key in base64, as in the files of minisign. */
const keyComment = /(?:^|\n)[^\n:]{1,24}:[^\n]{1,80}\b(?:secret|private) key$/;
const keyBody = /^\r?\n([\w+/=-]{56,900})[ \t]*(?=\r?\n|$)/;

/** Matches what a trace of a connection prints before a line of the client. */
const client = /^\r?\n(?:(?:C:|[ <>~-]{1,4})[ \t])?/;

const findLoginAnswer = (reader: Reader, index: number): Secret | undefined => {
  const start = index + (client.exec(reader.slice(index, index + 8))?.[0].length ?? 0);
  const end = reader.endOfRun(start, base64, 512);
  return end - start >= 4 && endsLine(reader, end) ? { kind: 'basic', start, end } : undefined;
};
