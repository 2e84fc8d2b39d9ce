import { withPlainCharacters, withPlainLineEnds, type NormalizedText } from './normalized-text.js';

/** A replacement in a text. */
export interface Replacement {
  readonly old: string;
  readonly new: string;
  /** Whether to replace every occurrence instead of the only one. */
  readonly replaceAll?: boolean | undefined;
}

/** Whether `old` was found exactly, or by look-alike characters. Line ends are always ignored. */
export type MatchKind = 'exact' | 'look-alike';

/** The result of a {@link Replacement}. */
export type ReplacementResult =
  | {
      readonly ok: true;
      readonly text: string;
      readonly match: MatchKind;
      /** Number of replaced places. */
      readonly count: number;
    }
  | {
      readonly ok: false;
      readonly code: 'empty-old' | 'no-change' | 'not-found' | 'ambiguous';
      /** The reason and the fix, for the model. */
      readonly message: string;
    };

/**
 * Replaces the only occurrence of a string in a text.
 *
 * `old` is searched exactly first, and then with look-alike quotes, dashes and spaces treated as equal. It must occur
 * exactly once, unless every exact occurrence is replaced. `\n` and `\r\n` are equal throughout: new lines end like the
 * lines around them. Common parts at the ends of `old` and `new` keep the characters of the text, including typographic
 * quotes.
 */
export const replaceText = (text: string, replacement: Replacement): ReplacementResult => {
  const old = withPlainLineEnds(replacement.old).text;
  const next = withPlainLineEnds(replacement.new).text;
  if (old === '') {
    return failure('empty-old', 'old is empty: name the text to replace, or use write for the whole file');
  }
  if (old === next)
    return failure('no-change', 'old and new are equal, so nothing would change: set new to the changed text');
  const exact = withPlainLineEnds(text);
  const found = occurrences(exact.text, old);
  if (found.length === 1 || (found.length > 1 && replacement.replaceAll === true)) {
    return { ok: true, match: 'exact', ...splice(text, exact, withoutOverlaps(found, old.length), old, next) };
  }
  if (found.length > 1) {
    return failure(
      'ambiguous',
      `old occurs ${found.length} times (${linesOf(exact.text, found)}): include more of the surrounding text, or set replaceAll`,
    );
  }
  return replaceLookAlike(text, old, next);
};

const replaceLookAlike = (text: string, old: string, next: string): ReplacementResult => {
  const alike = withPlainCharacters(text);
  const found = occurrences(alike.text, withPlainCharacters(old).text);
  if (found.length === 1) return { ok: true, match: 'look-alike', ...splice(text, alike, found, old, next) };
  if (found.length === 0) return failure('not-found', `old does not occur in the file${hint(alike.text, old)}`);
  const where = linesOf(alike.text, found);
  return failure(
    'ambiguous',
    `old does not occur exactly, and ${found.length} places look similar (${where}): copy the intended one exactly, including its quotes, dashes and spaces`,
  );
};

const failure = (code: (ReplacementResult & { ok: false })['code'], message: string): ReplacementResult => ({
  ok: false,
  code,
  message,
});

/** Returns every position of the needle, including overlapping ones: `aa` occurs twice in `aaa`. */
const occurrences = (haystack: string, needle: string): number[] => {
  const found: number[] = [];
  for (let at = haystack.indexOf(needle); at >= 0; at = haystack.indexOf(needle, at + 1)) found.push(at);
  return found;
};

const withoutOverlaps = (places: readonly number[], length: number): number[] => {
  let end = 0;
  return places.filter((at) => {
    if (at < end) return false;
    end = at + length;
    return true;
  });
};

/** Inserts the part of `next` that differs from `old`, at positions of the normalized text. */
const splice = (text: string, normalized: NormalizedText, places: readonly number[], old: string, next: string) => {
  const [head, tail] = commonEnds(old, next);
  const inner = next.slice(head, next.length - tail);
  let result = '';
  let done = 0;
  for (const at of places) {
    const from = normalized.originalIndex(at + head);
    result += text.slice(done, from) + withLineEndsAround(text, from, inner);
    done = normalized.originalIndex(at + old.length - tail);
  }
  return { text: result + text.slice(done), count: places.length };
};

/** Returns the lengths of the common prefix and of the common suffix of two texts. */
const commonEnds = (left: string, right: string): readonly [number, number] => {
  const shorter = Math.min(left.length, right.length);
  let head = 0;
  while (head < shorter && left[head] === right[head]) head += 1;
  let tail = 0;
  while (tail < shorter - head && left.at(-1 - tail) === right.at(-1 - tail)) tail += 1;
  return [head, tail];
};

const withLineEndsAround = (text: string, at: number, inserted: string): string => {
  if (!inserted.includes('\n')) return inserted;
  const before = at === 0 ? -1 : text.lastIndexOf('\n', at - 1);
  const nearest = before >= 0 ? before : text.indexOf('\n', at);
  return nearest > 0 && text[nearest - 1] === '\r' ? inserted.replaceAll('\n', '\r\n') : inserted;
};

const maxListed = 10;

const linesOf = (text: string, places: readonly number[]): string => {
  const numbers = new Set(places.slice(0, maxListed).map((at) => lineAt(text, at)));
  return `line${numbers.size > 1 ? 's' : ''} ${[...numbers].join(', ')}${places.length > maxListed ? ' …' : ''}`;
};

const lineAt = (text: string, place: number): number => {
  let line = 1;
  for (let at = text.indexOf('\n'); at >= 0 && at < place; at = text.indexOf('\n', at + 1)) line += 1;
  return line;
};

const maxHints = 3;

/** Suggests lines that equal the first line of `old` except for spaces. */
const hint = (text: string, old: string): string => {
  const first = bare(withPlainCharacters(old.split('\n').find((line) => line.trim() !== '') ?? '').text);
  if (first === '') return '';
  const numbers: number[] = [];
  for (const [index, line] of text.split('\n').entries()) {
    if (bare(line) === first && numbers.push(index + 1) === maxHints) break;
  }
  if (numbers.length === 0) return ': read the file again and copy the text exactly';
  return `; line ${numbers.join(', ')} resembles its first line: compare the spaces there and the lines after it`;
};

const bare = (line: string): string => line.trim().replaceAll(/\s+/gu, ' ');
