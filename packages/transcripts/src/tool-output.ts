import type { FilePart, ToolResultContentPart, ToolResultOutput } from '@h/turn';
import { dataOf } from './media.js';
import type { Notes } from './notes.js';

/** A part of a result in other formats: text, or a file in base64. */
export type ResultPiece = { readonly text: string } | { readonly base64: string; readonly mediaType: string };

/** A result in other formats: one text or several parts, and whether it is an error. */
export interface PlainResult {
  readonly content: string | readonly ResultPiece[];
  readonly isError: boolean;
}

/** Converts a result to other formats. Losses are noted. */
export const plainResult = (output: ToolResultOutput, notes: Notes, at: number): PlainResult => {
  switch (output.type) {
    case 'text':
    case 'error-text':
      return { content: output.value, isError: output.type === 'error-text' };
    case 'json':
    case 'error-json':
      notes.changed('a JSON result became its text', at);
      return { content: JSON.stringify(output.value), isError: output.type === 'error-json' };
    case 'execution-denied':
      notes.changed('a denied call became an error', at);
      return { content: output.reason ?? 'The call was denied.', isError: true };
    case 'content':
      return {
        content: output.value.flatMap((part) => pieceOf(part, notes, at)),
        isError: output.providerOptions?.['transcript']?.['isError'] === true,
      };
  }
};

const pieceOf = (part: ToolResultContentPart, notes: Notes, at: number): readonly ResultPiece[] => {
  if (part.type === 'text') return [{ text: part.text }];
  if (part.type === 'media' || part.type === 'image-data' || part.type === 'file-data') {
    return [{ base64: part.data, mediaType: part.mediaType }];
  }
  const data = part.type === 'file' ? dataOf({ type: 'file', data: part.data }) : undefined;
  if (part.type === 'file' && data && 'base64' in data) return [{ base64: data.base64, mediaType: part.mediaType }];
  notes.dropped(`a part of a result (${part.type})`, at);
  return [];
};

/** A part of a result as it was read. */
export type ReadPiece = ResultPiece | FilePart;

/** Converts a result of another format. An error with several parts is marked, because the type has no field for it. */
export const outputOf = ({
  content,
  isError,
}: {
  readonly content: string | readonly ReadPiece[];
  readonly isError: boolean;
}): ToolResultOutput => {
  if (typeof content === 'string') return { type: isError ? 'error-text' : 'text', value: content };
  const value = content.map((piece): ToolResultContentPart => {
    if ('type' in piece) return piece;
    return 'text' in piece
      ? { type: 'text', text: piece.text }
      : { type: 'file', data: piece.base64, mediaType: piece.mediaType };
  });
  return { type: 'content', value, ...(isError && { providerOptions: { transcript: { isError } } }) };
};
