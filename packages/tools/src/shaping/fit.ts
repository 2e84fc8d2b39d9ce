import type { ToolResultContentPart, ToolResultOutput } from '@h/turn';
import { grouped, truncate } from '../truncate.js';
import type { BinaryPiece, Piece } from './pieces.js';

/** Notes about where the rest of a result is stored. */
export interface Notes {
  /** The note for text that is cut. */
  readonly text: string;
  /** The notes for binary pieces that were stored. */
  readonly binaries: ReadonlyMap<Piece, string>;
}

/** Maximum length of the description of a binary piece. */
const descriptionSize = 400;

/** Returns the characters of text of the pieces. Descriptions of binary pieces count with their maximum length. */
export const textSize = (pieces: readonly Piece[]): number => {
  let size = 0;
  for (const piece of pieces) {
    size += piece.kind === 'text' ? piece.text.length : piece.kind === 'binary' ? descriptionSize : 0;
  }
  return size;
};

/** Joins the pieces to one output with at most `cap` characters of text. */
export const fitted = (
  output: ToolResultOutput,
  pieces: readonly Piece[],
  cap: number,
  notes: Notes,
): ToolResultOutput => {
  const texts = pieces.map((piece) =>
    piece.kind === 'text' ? piece.text : piece.kind === 'binary' ? described(piece, notes.binaries.get(piece)) : '',
  );
  const caps = divideCap(
    texts.map((text) => text.length),
    cap,
  );
  const cut = texts.map((text, index) => truncate(text, { maxChars: caps[index] as number, note: notes.text }));
  switch (output.type) {
    case 'text':
    case 'error-text':
      return { ...output, value: cut[0] ?? '' };
    case 'json':
    case 'error-json':
      return cut[0] === JSON.stringify(output.value)
        ? output
        : { ...output, type: output.type === 'json' ? 'text' : 'error-text', value: cut[0] ?? '' };
    case 'content':
      return { ...output, value: pieces.flatMap((piece, index) => partOf(piece, cut[index] as string)) };
    case 'execution-denied':
      return output;
  }
};

/** Returns the part of a piece; text that was cut completely has none. */
const partOf = (piece: Piece, text: string): readonly ToolResultContentPart[] => {
  if (piece.kind === 'kept') return [piece.part];
  return text === '' ? [] : [{ type: 'text', text }];
};

const described = ({ content, title }: BinaryPiece, note: string | undefined): string => {
  const unit = typeof content === 'string' ? 'characters' : 'bytes';
  return `[Not shown: ${title}, ${grouped(content.length)} ${unit}${note === undefined ? '' : `; ${note}`}]`;
};

/** Divides a cap among texts of these sizes: short ones fit whole, long ones get equal shares of the rest. */
const divideCap = (sizes: readonly number[], cap: number): readonly number[] => {
  const shares = sizes.map(() => 0);
  let left = Math.floor(cap);
  const byLength = [...sizes.keys()].toSorted((a, b) => (sizes[a] as number) - (sizes[b] as number));
  for (const [place, index] of byLength.entries()) {
    const share = Math.min(sizes[index] as number, Math.floor(left / (byLength.length - place)));
    shares[index] = share;
    left -= share;
  }
  return shares;
};
