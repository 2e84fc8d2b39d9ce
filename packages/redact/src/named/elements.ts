import { codeAt, is, key } from '../text/characters.js';
import { isMixed, isPassphrase, isWords } from '../values/chosen-value.js';
import { keyStrength, mayEndKey } from '../names/key-name.js';
import { quoteAt } from '../text/quotes.js';
import type { Reader } from '../text/reader.js';
import type { Secret } from '../text/replace.js';
import { looksRandom } from '../values/value.js';

const maxContent = 512;
const content = '<![CDATA[';
/** Matches the tag that ends here, with its attributes. */
const tag = /^<([A-Za-z][\w.:-]{0,63})(\s[^<>]*)?$/;
const nameAttribute = /\s(?:name|key|id|\w{1,20}:name)=["']([\w.$ -]{2,64})["']/;
/** Matches an element with a name before the element with the value. */
const named =
  /<(name|key|dt|td|th|\w{1,20}:name)(?:\s[^<>]*)?>\s*(?:<\w{1,8}>\s?|[$@]\w{1,12}\[["']?)?([\w.$ -]{2,64})(?:["']?\])?:?\s*(?:<\/\w{1,8}>\s?)?<\/\1>\s*(?:<(?:value|dd|td)(?:\s[^<>]*)?>\s*)?<(?:value|string|dd|td|code|strong|b|kbd|samp|span|pre)(?:\s[^<>]*)?$/i;

/** Matches an element around the one that ends here. */
const parent = /<([A-Za-z][\w.:-]{1,63})>\s*<value$/i;

/** Matches the end of an element with a value, and the element with its name behind it. */
const nameBehind = /^<\/[\w:.-]{1,32}>\s{0,80}<([\w:.-]{1,32}(?:\s[^<>]{0,80})?)>\s{0,8}([\w.$ -]{2,64})\s{0,8}<\//;
const maxBehind = 320;

/** Returns the name in the element behind one with a value. */
const nameAfter = (reader: Reader, from: number): string | undefined => {
  let end = from;
  while (end < from + maxContent && !isContentEnd(reader.code(end), false)) end += 1;
  const found = reader.code(end) === opening ? nameBehind.exec(reader.slice(end, end + maxBehind)) : null;
  return found !== null && /name|key/i.test(found[1] ?? '') ? found[2] : undefined;
};

const isContentEnd = (code: number, isData: boolean): boolean =>
  Number.isNaN(code) || code === 10 || code === 60 || (isData && code === 93);

const maxTag = 160;
const colon = 58;
const opening = 60;
const closing = 62;

const isWhite = (code: number): boolean => code <= 32 || code > 127;

/** Returns quickly whether the tag that ends here may have a name or attributes that say what is in it. */
export const mayBeElement = (text: string, index: number): boolean => {
  let open = index - 1;
  while (open > index - maxTag && codeAt(text, open) !== opening) open -= 1;
  if (codeAt(text, open) !== opening) return false;
  let end = open + 1;
  while (end < index && (is(codeAt(text, end), key) || codeAt(text, end) === colon)) end += 1;
  if (end < index) return isWhite(codeAt(text, end));
  if (mayEndKey(text, index) || /pass$/i.test(text.slice(index - 4, index))) return true;
  // Another element is before one with a value.
  while (isWhite(codeAt(text, open - 1))) open -= 1;
  return codeAt(text, open - 1) === closing;
};

const isSecretName = (name: string | undefined): boolean =>
  name !== undefined && (/^pass$/i.test(name) || (mayEndKey(name, name.length) && keyStrength(name) !== undefined));

/**
 * Finds the content of `<password>…</password>`, of `<string name="password">`, or of an element beside one with the
 * name. Called for the `>`.
 */
export const findElement = (reader: Reader, index: number): Secret | undefined => {
  const { text } = reader;
  const floor = reader.floor(index);
  const open = text.slice(floor, index).lastIndexOf('<') + floor;
  const found = open < floor ? null : tag.exec(text.slice(open, index));
  if (found === null) return undefined;
  const [, element = '', attributes = ''] = found;
  const isNamed =
    /^(?:value|string|dd|td)$/i.test(element) ||
    (text.endsWith('>', open) && /^(?:code|strong|b|kbd|samp|span|pre)$/i.test(element));
  const name =
    nameAttribute.exec(attributes)?.[1] ??
    (isNamed
      ? (named.exec(text.slice(floor, index))?.[2] ?? parent.exec(text.slice(floor, index))?.[1])
      : element.replace(/^.*:/, ''));
  const isValue = /^string|value/i.test(`${element}${attributes}`);
  const nameOf = isSecretName(name) || !isValue ? name : nameAfter(reader, index + 1);
  if (nameOf === undefined || !isSecretName(nameOf) || reader.starved) return undefined;
  const isData = reader.matches(content, index + 1);
  const from = index + 1 + (isData ? content.length : 0);
  const quote = isData ? undefined : quoteAt(reader, from);
  const start = quote?.end ?? from;
  let end = start;
  while (end < start + maxContent && !isContentEnd(reader.code(end), isData)) end += 1;
  if (!reader.matches(`${isData ? ']]>' : ''}</${element}>`, end)) return undefined;
  if (quote !== undefined && text.endsWith(quote.literal, end)) end -= quote.literal.length;
  const value = text.slice(start, end);
  if (value.length < 4 || /^&\w{2,8};$/.test(value) || /\s/.test(value.trim()) || value.includes(reader.replacement)) {
    return undefined;
  }
  const isPhrase = /pass|pwd/i.test(nameOf) && (isPassphrase(value) || isWords(value, nameOf));
  const isChosen =
    isPhrase || isMixed(value, { isQuoted: true }) || looksRandom(value) || /^(?:value|string)$/i.test(element);
  return isChosen && !/^[$%{@]|example|your/i.test(value) ? { kind: 'element', start, end } : undefined;
};
