import { codeAt } from './characters.js';
import { OffsetMap } from './offset-map.js';
import { whole, type Finder, type Findings, type Place, type Secret } from './replace.js';

/** Maximum length of a string, with its escapes. A stream holds it back until its end. */
const maxString = 4096;
/** Minimum length of a word that may be secret. */
const minWord = 6;
/** Maximum number of documents within each other. */
const maxDepth = 4;
/** Maximum number of blanks before a string. */
const maxBlanks = 64;
const space = 32;
const quote = 34;
const comma = 44;
const colon = 58;
const bracket = 91;
const backslash = 92;

/** Returns the number of backslashes before an offset. */
const slashesBefore = (text: string, index: number): number => {
  let start = index;
  while (start > 0 && index - start < maxBlanks && codeAt(text, start - 1) === backslash) start -= 1;
  return index - start;
};

/** Whether a string that begins here may be the value of a member, or an item of a list behind another one. */
const isValue = (text: string, start: number): boolean => {
  let at = start - 1;
  const floor = Math.max(0, start - maxBlanks);
  while (at >= floor && codeAt(text, at) <= space) at -= 1;
  const sign = codeAt(text, at);
  return sign === bracket || ((sign === colon || sign === comma) && codeAt(text, at - 1) === quote);
};

/** Returns the offset of the quote that ends a string, behind as many backslashes as the one that begins it; -1 if it is far. */
const endOfString = (text: string, start: number, slashes: number): number => {
  const last = Math.min(text.length, start + maxString + 1);
  let count = 0;
  for (let at = start; at < last; at += 1) {
    const code = codeAt(text, at);
    if (code === quote && count === slashes) return at;
    count = code === backslash ? count + 1 : 0;
  }
  return -1;
};

/** Returns how often a string is escaped: its quotes have 0, 1, 3, 7 … backslashes before them. */
const levelsOf = (slashes: number): number => 32 - Math.clz32(slashes + 1);

const [letter, digit] = [1, 2];
const kinds = new Uint8Array(128);
for (const one of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz') kinds[one.charCodeAt(0)] = letter;
for (const one of '0123456789') kinds[one.charCodeAt(0)] = digit;

/**
 * Whether a string has several words, of which one with letters and digits may be secret. Others are found in the
 * document as it is.
 */
const hasCandidate = (text: string, start: number, end: number): boolean => {
  let first = -1;
  let found = 0;
  let hasBlank = false;
  let hasFound = false;
  for (let at = start; at <= end; at += 1) {
    const code = at === end ? space : codeAt(text, at);
    const isEscape = code === backslash;
    if (code <= space || isEscape) {
      hasFound ||= found === (letter | digit) && at - first >= minWord;
      hasBlank ||= at < end;
      if (hasFound && hasBlank) return true;
      if (isEscape) at += 1;
      first = -1;
      found = 0;
      continue;
    }
    const kind = kinds[code] ?? 0;
    if (kind === 0) continue;
    if (first === -1) first = at;
    found |= kind;
  }
  return false;
};

const escape = /\\(?:u([\da-f]{4})|([^u]))/gi;
const control: ReadonlyMap<string, string> = new Map([
  ['n', '\n'],
  ['r', '\r'],
  ['t', '\t'],
  ['b', '\b'],
  ['f', '\f'],
]);

/** Returns the text that a string in JSON stands for. */
const decoded = (string: string): OffsetMap => {
  const offsets = new OffsetMap(string);
  for (const {
    index,
    0: { length },
    1: code,
    2: character = '',
  } of string.matchAll(escape)) {
    const by =
      code === undefined ? (control.get(character) ?? character) : String.fromCharCode(Number.parseInt(code, 16));
    offsets.replace(index, index + length, by);
  }
  return offsets;
};

/** Returns the secrets of a string, which was escaped a number of times, as those of a separate text. */
const secretsIn = (string: string, levels: number, findersOf: () => readonly Finder[]): readonly Secret[] => {
  if (levels === 0 || !string.includes('\\')) return findersOf().flatMap((finder) => finder(string, whole).secrets);
  const text = decoded(string);
  return secretsIn(text.text(), levels - 1, findersOf).map((secret) => ({
    ...secret,
    start: text.original(secret.start),
    end: text.original(secret.end),
  }));
};

/** Returns the secrets in order; those that overlap as one. */
const merged = (secrets: readonly Secret[]): readonly Secret[] => {
  const all: Secret[] = [];
  for (const secret of secrets.toSorted((one, other) => one.start - other.start || other.end - one.end)) {
    const last = all.at(-1);
    if (last !== undefined && secret.start < last.end) {
      all[all.length - 1] = { ...last, end: Math.max(last.end, secret.end) };
    } else all.push(secret);
  }
  return all;
};

/**
 * Creates a finder that reads each string of a JSON document as a separate text, so that what begins or ends a line is
 * found there, too. Documents may be in strings of others.
 *
 * @param findersOf creates the finders for a text, as some of them remember what was before
 */
export const jsonStringsFinder = (findersOf: () => readonly Finder[], depth = 1): Finder => {
  const inner = (): readonly Finder[] =>
    depth < maxDepth ? [...findersOf(), jsonStringsFinder(findersOf, depth + 1)] : findersOf();
  return (text: string, { from, isWhole }: Place): Findings => {
    const secrets: Secret[] = [];
    let next = from;
    for (let open = text.indexOf('"', next); open !== -1; open = text.indexOf('"', next)) {
      next = open + 1;
      const slashes = slashesBefore(text, open);
      if (!isValue(text, open - slashes)) continue;
      const end = endOfString(text, next, slashes);
      if (end === -1) {
        if (isWhole || text.length - next > maxString) continue;
        return { secrets, settled: open - slashes, ahead: [] };
      }
      const start = next;
      next = end + 1;
      if (!hasCandidate(text, start, end - slashes)) continue;
      const string = text.slice(start, end - slashes);
      for (const secret of merged(secretsIn(string, levelsOf(slashes), inner))) {
        secrets.push({ ...secret, start: start + secret.start, end: start + secret.end });
      }
    }
    return { secrets, settled: isWhole ? text.length : text.length - slashesBefore(text, text.length), ahead: [] };
  };
};
