import type { PlainText } from '@h/redact/plain';
import { all, fencedBlocks, type Region } from './regions.js';

/** Parts of the plain form of a text, one below the other. */
export interface ChangedParts {
  readonly text: string;
  /** Returns the offset in the original text. */
  readonly original: (offset: number) => number;
  /** Returns the offset behind the last part before a place of the original text, or `undefined` for a place in a part. */
  readonly behindPart: (place: Region) => number | undefined;
}

const blankLines = /\n[ \t\r]*\n/g;
/** Comments, in which blank lines end nothing. */
const comment = /<!--[^]{0,20000}?-->/g;

/** Returns the paragraphs of a text, its fenced blocks and its comments. */
const blocksOf = (text: string): readonly Region[] => {
  const whole = [...fencedBlocks(text), ...(text.includes('<!--') ? all(text, comment) : [])].toSorted(
    (one, other) => one.start - other.start,
  );
  const blocks: Region[] = [];
  let [start, next, behind] = [0, 0, 0];
  for (const { start: from, end } of all(text, blankLines)) {
    for (let one = whole[next]; one !== undefined && one.start < end; one = whole[(next += 1)]) {
      behind = Math.max(behind, one.end);
    }
    if (from < behind) continue;
    blocks.push({ start, end: from });
    start = end;
  }
  return [...blocks, { start, end: text.length }];
};

/** Whether only blanks are before an offset in its line. Reads no further than them, because a line may be the whole text. */
const beginsLine = (text: string, offset: number): boolean => {
  let start = offset;
  while (start > 0 && text.charAt(start - 1) !== '\n' && /\s/.test(text.charAt(start - 1))) start -= 1;
  return start === 0 || text.charAt(start - 1) === '\n';
};

/**
 * Returns the paragraphs of the plain form that the original text has in another form. A scan has read the others
 * already.
 */
export const changedParts = (text: string, plain: PlainText): ChangedParts => {
  const isChanged = ({ start, end }: Region): boolean => {
    const from = plain.original(start);
    return !beginsLine(text, from) || text.slice(from, plain.original(end)) !== plain.text.slice(start, end);
  };
  const blocks = blocksOf(plain.text).filter(isChanged);
  const starts: number[] = [];
  const parts: string[] = [];
  let length = 0;
  for (const { start, end } of blocks) {
    starts.push(length);
    parts.push(plain.text.slice(start, end), '\n\n');
    length += end - start + 2;
  }
  const blockUpTo = (offset: number, startOf: (index: number) => number): number => {
    let [low, high] = [0, blocks.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (startOf(middle) <= offset) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  };
  return {
    // Engines read the characters of a joined string faster than those of a sum.
    text: parts.join(''),
    original: (offset) => {
      const index = blockUpTo(offset, (one) => starts[one] ?? 0);
      const { start, end } = blocks[index] ?? { start: 0, end: 0 };
      return plain.original(Math.min(end, start + offset - (starts[index] ?? 0)));
    },
    behindPart: ({ start, end }) => {
      const index = blockUpTo(end - 1, (one) => plain.original(blocks[one]?.start ?? 0));
      return plain.original(blocks[index]?.end ?? 0) <= start ? (starts[index + 1] ?? length) : undefined;
    },
  };
};
