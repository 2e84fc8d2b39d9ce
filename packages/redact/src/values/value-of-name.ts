import { findBytes } from './byte-list.js';
import { codeAt, lineStop, pairStop, stop } from '../text/characters.js';
import { isGapAfter, skipWhiteSpace } from '../text/gaps.js';
import { isSecret } from './judged-value.js';
import type { Key } from '../names/key.js';
import { endOfQuoted, quoteAt } from '../text/quotes.js';
import type { Reader } from '../text/reader.js';
import type { Secret } from '../text/replace.js';
import {
  endAfterAmpersands,
  endOfWords,
  endPastBracket,
  endPastSign,
  isLineStart,
  isSetting,
  openingQuote,
  startOfBar,
  startOfBlock,
} from './value-extent.js';

const maxQuoted = 1024;
const maxUnquoted = 512;
const maxItems = 8;
const maxList = 320;

/** Reads the value of a name, from its first character or quote, if it is a secret. */
export const valueOf = (
  reader: Reader,
  key: Key,
  from: number,
  { isColon = false, isLiteral = false, isCell = false } = {},
): Secret | undefined => {
  const { text } = reader;
  const isEnvironment = !isColon && key.isTight && key.name.charCodeAt(0) < 91 && environmentName.test(key.name);
  const quote = openingQuote(reader, from);
  const block = isColon && quote === undefined ? startOfBlock(reader, from) : undefined;
  let start = block ?? from;
  let end: number | undefined;
  let isCode = false;
  let isLine = false;
  if (quote !== undefined) {
    start = quote.end;
    end = endOfQuoted(reader, start, quote.literal, maxQuoted);
  } else {
    const isFirst = isEnvironment && isLineStart(reader, key.start);
    const isPair =
      codeAt(text, key.start - 1) === 59 || (codeAt(text, key.start - 2) === 59 && codeAt(text, key.start - 1) === 32);
    end = reader.endOfRun(start, isFirst ? lineStop : isPair && !isColon ? pairStop : stop, maxUnquoted, false);
    if (isPair && /[)}]$/.test(text.slice(start, end))) end -= 1;
    // A value of ODBC with signs.
    if (isPair && reader.code(start) === 123 && reader.code(end) === 125) start += 1;
    end = endAfterAmpersands(reader, key, start, end);
    if (reader.code(end) === 32) end = endOfWords(reader, key, start, end);
    if (isCell) end = startOfBar(text, start, end);
    if (end > start) end = endPastSign(reader, key, start, endPastBracket(reader, start, end), isCell);
    const next = reader.code(end);
    if (next === 40 && end > start) return findWrapped(reader, key, start, end);
    if (end === start) {
      // A slice in Go has its type before.
      if (next === 91 && reader.matches('[]byte(', start)) return valueOf(reader, key, start + 2);
      const listed = findBytes(reader, key, start) ?? findListed(reader, key, start);
      return listed ?? (isColon ? undefined : findBracketed(reader, key, start));
    }
    if (isCodeOrFigure(reader, start, end, isLiteral)) return undefined;
    if (next === 32 && reader.matches(' (', end) && spacedCall.test(text.slice(start, end))) return undefined;
    // A subscript or a generic type, unless an element ends there.
    if ((next === 91 || (next === 60 && reader.code(end + 1) !== 47)) && !isColon) return undefined;
    // A comma without a space separates settings, not arguments.
    const isList = next === 44 ? isGapAfter(reader.code(end + 1)) : next === 59 || next === 41 || next === 125;
    isCode = !isFirst && !isPair && (isList || (!isColon && !key.isTight));
    const hasDot = !isColon && key.isTight && text.slice(start, end).includes('.');
    isLine = hasDot && isSetting(reader, key.start, start);
  }
  if (end === undefined || end === start) return undefined;
  const style = {
    isQuoted: quote !== undefined,
    isCode,
    isLiteral: isEnvironment || isLiteral,
    isSetting: isLine,
  };
  return isSecret(reader, { start, end, key, style }) ? { kind: 'assignment', start, end } : undefined;
};

/** A line feed, a return, and the backslash of an escaped one. */
const lineEnds: ReadonlySet<number> = new Set([10, 13, 92]);
/** Matches a name of a variable of several words. In code, a line feed follows the comma of a member. */
const numberedName = /^[a-z]{2,}(?:[A-Z][a-z]+)+\d$/;
/** Matches the name of a list or a function before the string in its brackets. */
const opened = /^[A-Za-z_$]+(?:\.[A-Za-z_$]+)*[[(]$/;
/** Matches a duration or a size, such as that of a test whose name ends with that of a secret. */
const quantity = /^\d{1,6}(?:\.\d{1,3})?(?:[mnµ]?s|min|h|%|[kKMG]i?B)$/;

/** Whether a value without quotes is a variable, a list or a function, by what is behind it, or a duration or a size. */
const isCodeOrFigure = (reader: Reader, start: number, end: number, isLiteral: boolean): boolean => {
  const value = reader.text.slice(start, end);
  const next = reader.code(end);
  if (next === 44 && lineEnds.has(reader.code(end + 1))) return numberedName.test(value);
  if (next === 39 || next === 34) return opened.test(value);
  return isLiteral && quantity.test(value);
};

/** Matches the name of a function, which has a space before its brackets in the style of GNU. */
const spacedCall = /^[A-Za-z]+(?:_[A-Za-z\d]+)+$/;

/** Matches functions and types whose argument is a secret. */
const wrapper = /(?:secret|password|sensitive|redact|hidden)\w*$|(?:^|[.:])(?:some|string|str|bytes?|from|of|just)$/i;

/** Matches a call within a call, as Rust prints types: `Some(Token("…"))`. */
const innerCall = /^[\w.:]{1,38}\((?=["'])/;

/** Finds the value in `SecretStr("…")`, or a random one in any call. */
const findWrapped = (reader: Reader, key: Key, start: number, end: number): Secret | undefined => {
  const inner = innerCall.exec(reader.slice(end + 1, end + 41))?.[0].length ?? 0;
  const quote = quoteAt(reader, end + 1 + inner);
  const name = reader.text.slice(start, end);
  if (quote === undefined || name === 'ENC' || !/^[\w.:]{1,40}$/.test(name)) return undefined;
  const close = endOfQuoted(reader, quote.end, quote.literal, maxQuoted);
  if (close === undefined || reader.code(close + quote.literal.length) !== 41) return undefined;
  const style = { isQuoted: true, isCode: true, isLiteral: false };
  if (!wrapper.test(name) && !reader.isRandom(quote.end, close)) return undefined;
  const isFound = isSecret(reader, { start: quote.end, end: close, key, style });
  return isFound ? { kind: 'assignment', start: quote.end, end: close } : undefined;
};

/** Finds the values in `passwords: ["…", "…"]`. */
const findListed = (reader: Reader, key: Key, open: number): Secret | undefined => {
  const mayBeList = /s$/i.test(key.name) || (key.strength === 'strong' && key.isQuoted);
  if (reader.code(open) !== 91 || !mayBeList) return undefined;
  const found: Secret[] = [];
  let at = open + 1;
  for (let items = 0; items < maxItems && at - open < maxList; items += 1) {
    const quote = quoteAt(reader, skipWhiteSpace(reader, at));
    const end = quote === undefined ? undefined : endOfQuoted(reader, quote.end, quote.literal, maxList);
    if (quote === undefined || end === undefined) break;
    const style = { isQuoted: true, isCode: false, isLiteral: false };
    if (isSecret(reader, { start: quote.end, end, key, style })) {
      found.push({ kind: 'assignment', start: quote.end, end });
    }
    at = end + quote.literal.length;
    if (reader.code(at) !== 44) break;
    at += 1;
  }
  return found[0] === undefined ? undefined : { ...found[0], more: found };
};

/** Finds the value in `password=[…]`. */
const findBracketed = (reader: Reader, key: Key, open: number): Secret | undefined => {
  if (!key.isTight || reader.code(open) !== 91) return undefined;
  const start = open + 1;
  const end = endAfterAmpersands(reader, key, start, reader.endOfRun(start, stop, maxUnquoted, false));
  const style = { isQuoted: false, isCode: true, isLiteral: false };
  if (end === start || reader.code(end) !== 93 || !isSecret(reader, { start, end, key, style })) return undefined;
  return { kind: 'assignment', start, end };
};

const environmentName = /^[A-Z][A-Z\d_]*$/;
