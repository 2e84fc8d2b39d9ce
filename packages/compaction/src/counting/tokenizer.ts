import type { Vocabulary } from './vocabulary.js';

/** Longer pieces are counted in parts: merging takes quadratic time, and words are shorter. */
const maxPieceLength = 64;
/** The number of cached pieces; ordinary text repeats far fewer. */
const maxPieces = 50_000;

/**
 * Creates a function that counts the tokens of a text with a vocabulary.
 *
 * Names of special tokens count as plain text. Time is linear in the length of the text, whatever it contains: runs of more than 64
 * characters of one class are counted in parts, which adds at most one token per part.
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
      // Every character belongs to a piece, so each piece ends where the next begins.
      const end = next.test(text) ? next.lastIndex : text.length;
      for (let from = start; from < end;) {
        const to = end - from <= maxPieceLength ? end : wholeCharacters(text, from + maxPieceLength);
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

/** The position, or the one before it if it splits a surrogate pair. */
const wholeCharacters = (text: string, place: number): number => {
  const code = text.charCodeAt(place - 1);
  return code >= 0xd800 && code <= 0xdbff ? place - 1 : place;
};

/** Byte pair encoding: joins the neighbors of the lowest rank until none can be joined. */
const countMerged = (bytes: string, ranks: Vocabulary['ranks']): number => {
  // The start of each token, and its rank if joined with the next one.
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
