import type { AssistantPart, FilePart, ToolResultPart, Usage, UserPart } from '@h/turn';
import type { TranscriptBuilder } from './builder.js';
import { isObject, numberIn, objectIn, textIn, wordIn, type Json } from '../json.js';
import type { Notes } from '../notes.js';
import { outputOf, type ReadPiece } from '../tool-output.js';

/** Reads a block of an answer in the format of Anthropic. */
export const answerPart = (block: Json, notes: Notes, at: number): readonly AssistantPart[] => {
  noteExtras(block, notes, at);
  const type = wordIn(block, 'type');
  switch (type) {
    case 'text':
      return [{ type, text: textIn(block, 'text') ?? '' }];
    case 'thinking':
      return [
        {
          type: 'reasoning',
          text: textIn(block, 'thinking') ?? '',
          ...anthropic('signature', textIn(block, 'signature')),
        },
      ];
    case 'redacted_thinking':
      return [{ type: 'reasoning', text: '', ...anthropic('redactedData', textIn(block, 'data')) }];
    case 'tool_use':
      return [
        {
          type: 'tool-call',
          toolCallId: textIn(block, 'id') ?? '',
          toolName: textIn(block, 'name') ?? '',
          input: block['input'] ?? {},
        },
      ];
    default:
      return notes.unknown(block, `a block of the type ${type} in an answer`, at);
  }
};

const anthropic = (key: string, value: string | undefined) =>
  value === undefined ? {} : { providerOptions: { anthropic: { [key]: value } } };

/** Reads a block of a user message that is not a tool result. */
export const userPart = (block: Json, notes: Notes, at: number): readonly UserPart[] => {
  noteExtras(block, notes, at);
  if (block['type'] === 'text') return [{ type: 'text', text: textIn(block, 'text') ?? '' }];
  const file = fileOf(block);
  if (!file) return notes.unknown(block, `a block of the type ${wordIn(block, 'type')} in a message`, at);
  if (objectIn(block, 'citations')['enabled'] !== true) return [file];
  const opaque = notes.unknown(block, 'a document with citations', at);
  return opaque.length > 0 ? opaque : [file];
};

/** Reads a `tool_result`. */
export const resultPart = (builder: TranscriptBuilder, block: Json, at: number): ToolResultPart => {
  noteExtras(block, builder.notes, at);
  const toolCallId = textIn(block, 'tool_use_id') ?? '';
  const content = block['content'];
  const pieces = Array.isArray(content)
    ? content.filter(isObject).flatMap((piece) => resultPiece(piece, builder.notes, at))
    : (textIn(block, 'content') ?? '');
  return {
    type: 'tool-result',
    toolCallId,
    toolName: builder.toolOf(toolCallId),
    output: outputOf({ content: pieces, isError: block['is_error'] === true }),
  };
};

const resultPiece = (piece: Json, notes: Notes, at: number): readonly ReadPiece[] => {
  noteExtras(piece, notes, at);
  if (piece['type'] === 'text') return [{ text: textIn(piece, 'text') ?? '' }];
  const file = fileOf(piece);
  if (typeof file?.data === 'string') return [{ base64: file.data, mediaType: file.mediaType }];
  return notes.unknown(piece, `a block of the type ${wordIn(piece, 'type')} in a result`, at);
};

/** Reads an image or a document. */
const fileOf = (block: Json): FilePart | undefined => {
  const isDocument = block['type'] === 'document';
  if (!isDocument && block['type'] !== 'image') return undefined;
  const source = objectIn(block, 'source');
  const title = textIn(block, 'title');
  const filename = title !== undefined && { filename: title };
  const fallback = isDocument ? 'application/pdf' : 'image/*';
  const data = textIn(source, 'data');
  const mediaType = textIn(source, 'media_type');
  if (source['type'] === 'base64' && data !== undefined) {
    return { type: 'file', data, mediaType: mediaType ?? fallback, ...filename };
  }
  if (source['type'] === 'text' && data !== undefined) {
    const base64 = Buffer.from(data).toString('base64');
    return { type: 'file', data: base64, mediaType: mediaType ?? 'text/plain', ...filename };
  }
  const url = textIn(source, 'url');
  return url !== undefined && URL.canParse(url)
    ? { type: 'file', data: new URL(url), mediaType: fallback, ...filename }
    : undefined;
};

/** Notes members of a block that a message has no place for. */
export const noteExtras = (block: Json, notes: Notes, at: number): void => {
  if (isObject(block['cache_control'])) notes.dropped('a mark of the prompt cache', at);
  const { citations } = block;
  if (Array.isArray(citations) && citations.length > 0) notes.dropped('citations of a text', at);
};

/** Reads usage. Anthropic counts cached tokens separately; `input` of a turn includes them. */
export const usageOf = (usage: Json): Usage => {
  const cacheRead = numberIn(usage, 'cache_read_input_tokens');
  const cacheWrite = numberIn(usage, 'cache_creation_input_tokens');
  return {
    input: numberIn(usage, 'input_tokens') + cacheRead + cacheWrite,
    cacheRead,
    cacheWrite,
    output: numberIn(usage, 'output_tokens'),
    reasoning: 0,
  };
};
