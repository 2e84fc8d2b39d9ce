import { createHash } from 'node:crypto';
import type { AssistantPart, FilePart, ImagePart, ToolPart, UserPart } from '@h/turn';
import { isObject } from '../json.js';
import { dataOf, fileFrom, mediaTypeOf } from '../media.js';
import { noteSignature, type Notes } from '../notes.js';
import { plainResult } from '../tool-output.js';

/** Media types of images that Anthropic accepts as base64. */
const imageTypes: ReadonlySet<string> = new Set(['image/jpeg', 'image/png', 'image/gif', 'image/webp']);

/** Ids that Anthropic accepts. */
const validId = /^[\w-]+$/;
const idHashLength = 24;

/** Writes a part of a user message as a block of Anthropic. */
export const userBlock = (part: UserPart, notes: Notes, at: number): readonly object[] =>
  part.type === 'text' ? textBlock(part.text, notes, at) : fileBlock(part, notes, at);

/** Writes a part of an answer as a block of Anthropic. */
export const answerBlock = (part: AssistantPart, notes: Notes, at: number): readonly object[] => {
  switch (part.type) {
    case 'text':
      return textBlock(part.text, notes, at);
    case 'reasoning': {
      noteSignature(part, 'anthropic', notes, at);
      const { signature, redactedData } = part.providerOptions?.['anthropic'] ?? {};
      if (redactedData !== undefined) return [{ type: 'redacted_thinking', data: redactedData }];
      return [{ type: 'thinking', thinking: part.text, ...(signature !== undefined && { signature }) }];
    }
    case 'tool-call':
      return [
        {
          type: 'tool_use',
          id: idOfCall(part.toolCallId, notes, at),
          name: part.toolName,
          input: inputOf(part.input, notes, at),
        },
      ];
    default:
      notes.dropped(`a part of an answer (${part.type})`, at);
      return [];
  }
};

/** Writes a result as a `tool_result`. */
export const resultBlock = (part: ToolPart, notes: Notes, at: number): readonly object[] => {
  if (part.type !== 'tool-result') {
    notes.dropped(`a part of a result (${part.type})`, at);
    return [];
  }
  const { content, isError } = plainResult(part.output, notes, at);
  const blocks =
    typeof content === 'string'
      ? content
      : content.flatMap((piece) =>
          'text' in piece
            ? textBlock(piece.text, notes, at)
            : fileBlock({ type: 'file', data: piece.base64, mediaType: piece.mediaType }, notes, at),
        );
  const id = idOfCall(part.toolCallId, notes, at);
  return [{ type: 'tool_result', tool_use_id: id, content: blocks, ...(isError && { is_error: true }) }];
};

/** Anthropic rejects blocks without text. */
const textBlock = (text: string, notes: Notes, at: number): readonly object[] => {
  if (text.trim() !== '') return [{ type: 'text', text }];
  notes.dropped('an empty text', at);
  return [];
};

const fileBlock = (given: FilePart | ImagePart, notes: Notes, at: number): readonly object[] => {
  const found = dataOf(given);
  const decoded = found && 'url' in found && found.url.startsWith('data:') ? fileFrom(found.url) : undefined;
  const data = typeof decoded?.data === 'string' ? { base64: decoded.data } : found;
  const mediaType = decoded?.mediaType ?? mediaTypeOf(given);
  const filename = given.type === 'file' ? given.filename : undefined;
  const isImage = mediaType.startsWith('image/');
  if (isImage && filename !== undefined) notes.dropped('the name of an image', at);
  const block = (source: object) => [
    { type: isImage ? 'image' : 'document', source, ...(!isImage && filename !== undefined && { title: filename }) },
  ];
  if (!data) {
    notes.dropped('a file with neither data nor a URL', at);
    return [];
  }
  if ('url' in data && (isImage || mediaType === 'application/pdf')) return block({ type: 'url', url: data.url });
  if ('base64' in data && (imageTypes.has(mediaType) || mediaType === 'application/pdf')) {
    return block({ type: 'base64', media_type: mediaType, data: data.base64 });
  }
  if ('base64' in data && mediaType.startsWith('text/')) {
    if (mediaType !== 'text/plain') notes.changed(`a file of the type ${mediaType} became plain text`, at);
    const text = Buffer.from(data.base64, 'base64').toString('utf8');
    return block({ type: 'text', media_type: 'text/plain', data: text });
  }
  notes.dropped(`a file of the type ${mediaType}`, at);
  return [];
};

/** Returns the id of a call; an id that Anthropic rejects is replaced, the same one each time. */
const idOfCall = (id: string, notes: Notes, at: number): string => {
  if (validId.test(id)) return id;
  notes.changed('the id of a call', at);
  return `toolu_${createHash('sha256').update(id).digest('hex').slice(0, idHashLength)}`;
};

/** Anthropic accepts objects only. */
const inputOf = (input: unknown, notes: Notes, at: number): unknown => {
  if (isObject(input)) return input;
  if (input === undefined || input === null) return {};
  notes.changed('the input of a call became an object', at);
  return { input };
};
