import type { FileData, ToolResultContentPart, ToolResultOutput } from '@h/turn';
import { binaryKind } from './binary.js';

/** Content that the model cannot read. */
export interface BinaryPiece {
  readonly kind: 'binary';
  readonly content: string | Uint8Array;
  readonly mediaType: string;
  /** A short description. */
  readonly title: string;
}

/** A part of an output: text that may be cut, binary data that is described, or a part that passes unchanged. */
export type Piece =
  | {
      readonly kind: 'text';
      readonly text: string;
      /** Whether the text was a file part, which models read better as text, or several parts. */
      readonly isChanged?: boolean;
    }
  | BinaryPiece
  | { readonly kind: 'kept'; readonly part: ToolResultContentPart };

/** A result with more parts has its adjacent texts joined: a part costs more than its text. */
const maxParts = 100;
/** Further images and PDFs of a result are described: providers limit those of a request, with its history, to 100. */
const maxFiles = 20;

/** Splits an output into pieces. The first images and PDFs of at most `maxFileBytes` stay as they are. */
export const piecesOf = (output: ToolResultOutput, maxFileBytes: number): readonly Piece[] => {
  switch (output.type) {
    case 'text':
    case 'error-text':
      return [textPiece(output.value)];
    case 'json':
    case 'error-json':
      return [{ kind: 'text', text: JSON.stringify(output.value) }];
    case 'content':
      return contentPieces(output.value, maxFileBytes);
    case 'execution-denied':
      return [];
  }
};

const contentPieces = (parts: readonly ToolResultContentPart[], maxFileBytes: number): readonly Piece[] => {
  let files = 0;
  const pieces = parts.map((part) => {
    const piece = pieceOf(part, files < maxFiles ? maxFileBytes : 0);
    if (piece.kind === 'kept' && part.type !== 'custom') files += 1;
    return piece;
  });
  return pieces.length > maxParts ? withJoinedTexts(pieces) : pieces;
};

const withJoinedTexts = (pieces: readonly Piece[]): readonly Piece[] => {
  const joined: Piece[] = [];
  let texts: string[] = [];
  const flush = (): void => {
    if (texts.length > 0) joined.push({ kind: 'text', text: texts.join('\n'), isChanged: true });
    texts = [];
  };
  for (const piece of pieces) {
    if (piece.kind === 'text') texts.push(piece.text);
    else {
      flush();
      joined.push(piece);
    }
  }
  flush();
  return joined;
};

const textPiece = (text: string): Piece => {
  const title = binaryKind(text);
  return title === undefined
    ? { kind: 'text', text }
    : { kind: 'binary', content: text, mediaType: 'application/octet-stream', title };
};

const pieceOf = (part: ToolResultContentPart, maxFileBytes: number): Piece => {
  if (part.type === 'text') return textPiece(part.text);
  const bytes = 'data' in part ? bytesOf(part.data) : undefined;
  if (bytes === undefined) return { kind: 'kept', part };
  const { mediaType } = part as { readonly mediaType: string };
  if (isReadable(mediaType)) return decoded(bytes);
  if (isShown(mediaType) && bytes.byteLength <= maxFileBytes) return { kind: 'kept', part };
  const name = 'filename' in part && part.filename !== undefined ? `${part.filename.slice(0, 100)}, ` : '';
  return { kind: 'binary', content: bytes, mediaType, title: `${name}${mediaType.slice(0, 100)}` };
};

const decoded = (bytes: Uint8Array): Piece => {
  const piece = textPiece(new TextDecoder().decode(bytes));
  return piece.kind === 'text' ? { ...piece, isChanged: true } : piece;
};

/** Whether providers accept the media type besides text. */
const isShown = (mediaType: string): boolean => /^(?:image\/(?:png|jpeg|gif|webp)|application\/pdf)\b/.test(mediaType);

const isReadable = (mediaType: string): boolean =>
  mediaType.startsWith('text/') ||
  /^(?:application|image)\/(?:[\w.-]+\+)?(?:json|xml|javascript|x-yaml|yaml)\b/.test(mediaType);

/** Returns the bytes of a file; `undefined` for a reference. */
const bytesOf = (data: FileData): Uint8Array | undefined => {
  if (data instanceof Uint8Array) return data;
  if (data instanceof ArrayBuffer) return new Uint8Array(data);
  if (typeof data === 'string') return inlineBytes(data);
  if (data instanceof URL) return inlineBytes(data.href);
  const {
    type,
    data: inner,
    text,
  } = data as { readonly type?: unknown; readonly data?: FileData; readonly text?: unknown };
  if (type === 'data' && inner !== undefined) return bytesOf(inner);
  return type === 'text' && typeof text === 'string' ? Buffer.from(text) : undefined;
};

const inlineBytes = (text: string): Uint8Array | undefined => {
  if (/^https?:/i.test(text)) return undefined;
  return Buffer.from(text.startsWith('data:') ? text.slice(text.indexOf(',') + 1) : text, 'base64');
};
