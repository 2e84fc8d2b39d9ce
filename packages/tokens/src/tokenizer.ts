import { characterStart } from '@h/bounded';
import type { Vocabulary } from './vocabulary.js';

/** Longer pieces are counted in chunks, because merging takes quadratic time. No word is this long. */
const maxPieceLength = 64;
/** Maximum number of pieces with cached counts. Ordinary text has far fewer distinct pieces. */
const maxPieces = 50_000;

/**
 * Creates a function that counts the tokens of a string with a vocabulary.
 *
 * Names of special tokens (`<|endoftext|>`) are counted as plain text. The time is linear in the length: runs of more
 * than 64 characters of one kind are counted in chunks, which adds at most one token per chunk.
 */
export const createTokenizer = ({ pattern, ranks }: Vocabulary): ((text: string) => number) => {
  const next = new RegExp(pattern, 'gu');
  const known = new Map<string, number>();

  const countPiece = (piece: string): number => {
    const remembered = known.get(piece);
    if (remembered !== undefined) return remembered;
    // The key of an ASCII piece is the piece itself.
    const bytes = isAscii(piece) ? piece : Buffer.from(piece, 'utf8').toString('latin1');
    const count = ranks.has(bytes) ? 1 : countMerged(bytes, ranks);
    if (known.size >= maxPieces) known.clear();
    known.set(piece, count);
    return count;
  };

  return (text) => {
    let tokens = 0;
    let start = 0;
    next.lastIndex = 0;
    while (start < text.length) {
      // The pattern leaves no gaps: a piece starts where the previous one ends.
      const end = next.test(text) ? next.lastIndex : text.length;
      for (let from = start; from < end;) {
        const to = end - from <= maxPieceLength ? end : characterStart(text, from + maxPieceLength);
        tokens += countPiece(text.slice(from, to));
        from = to;
      }
      start = end;
    }
    return tokens;
  };
};

const isAscii = (text: string): boolean => {
  for (let index = 0; index < text.length; index += 1) if (text.charCodeAt(index) > 127) return false;
  return true;
};

/** Byte pair encoding: merges the adjacent pair of the lowest rank until no pair has a rank. */
const countMerged = (bytes: string, ranks: Vocabulary['ranks']): number => {
  // `starts` holds the offset of each token, `pairs` the rank of the token that it would form with the next one.
  const starts: number[] = [];
  const pairs: number[] = [];
  for (let place = 0; place < bytes.length; place += 1) {
    starts.push(place);
    pairs.push(place + 2 <= bytes.length ? (ranks.get(bytes.slice(place, place + 2)) ?? Infinity) : Infinity);
  }
  starts.push(bytes.length);
  const rankAt = (place: number): number =>
    place + 2 < starts.length ? (ranks.get(bytes.slice(starts[place], starts[place + 2])) ?? Infinity) : Infinity;
  for (;;) {
    let place = 0;
    for (let index = 1; index < pairs.length; index += 1) {
      if ((pairs[index] as number) < (pairs[place] as number)) place = index;
    }
    if (pairs[place] === Infinity) return pairs.length;
    starts.splice(place + 1, 1);
    pairs.splice(place + 1, 1);
    pairs[place] = rankAt(place);
    if (place > 0) pairs[place - 1] = rankAt(place - 1);
  }
};
