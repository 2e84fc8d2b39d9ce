import type { AssistantPart, Message, ToolPart, UserPart } from '@h/turn';
import { idOf, isoTime, toLines, type FormatContext } from '../format-options.js';
import { dataOf, mediaTypeOf } from '../media.js';
import { Notes, noteSignature } from '../notes.js';
import { plainResult, type ResultPiece } from '../tool-output.js';
import type { FormattedTranscript } from '../transcript.js';

const idLength = 8;

/** Formats a conversation as a session of pi, version 3. */
export const toPi = (messages: readonly Message[], { session, cwd, at }: FormatContext): FormattedTranscript => {
  const notes = new Notes();
  const timestamp = isoTime(at);
  const entries: object[] = [{ type: 'session', version: 3, id: session, timestamp, cwd }];
  let parentId: string | null = null;
  for (const [index, message] of messages.entries()) {
    for (const [part, entry] of entriesOf(message, at, notes, index + 1).entries()) {
      const id: string = idOf(session, `${index}.${part}`).slice(0, idLength);
      entries.push({ ...entry, id, parentId, timestamp });
      parentId = id;
    }
  }
  return { text: toLines(entries), notes: notes.list() };
};

const noUsage = {
  input: 0,
  output: 0,
  cacheRead: 0,
  cacheWrite: 0,
  totalTokens: 0,
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
};

const entriesOf = (message: Message, timestamp: number, notes: Notes, place: number): readonly object[] => {
  const said = (content: object): object => ({ type: 'message', message: { ...content, timestamp } });
  switch (message.role) {
    case 'system':
      notes.dropped('a system message', place);
      return [];
    case 'user': {
      const content =
        typeof message.content === 'string'
          ? message.content
          : message.content.flatMap((part) => userPiece(part, notes, place));
      if (message.metadata?.internal !== true) return [said({ role: 'user', content })];
      if (message.metadata.kind === 'summary' && typeof content === 'string') {
        return [{ type: 'branch_summary', fromId: 'root', summary: content }];
      }
      return [{ type: 'custom_message', customType: 'h', content, display: false }];
    }
    case 'assistant': {
      const parts: readonly AssistantPart[] =
        typeof message.content === 'string' ? [{ type: 'text', text: message.content }] : message.content;
      const stopReason = parts.some(({ type }) => type === 'tool-call') ? 'toolUse' : 'stop';
      return [
        said({
          role: 'assistant',
          content: parts.flatMap((part) => answerPiece(part, notes, place)),
          api: 'h',
          provider: 'h',
          model: 'unknown',
          usage: noUsage,
          stopReason,
        }),
      ];
    }
    case 'tool':
      return message.content.flatMap((part) => resultOf(part, notes, place)).map(said);
  }
};

const userPiece = (part: UserPart, notes: Notes, place: number): readonly object[] => {
  if (part.type === 'text') return [{ type: 'text', text: part.text }];
  const data = dataOf(part);
  if (data && 'base64' in data && mediaTypeOf(part).startsWith('image/')) {
    return [imagePiece({ base64: data.base64, mediaType: mediaTypeOf(part) })];
  }
  notes.dropped(`a file of the type ${mediaTypeOf(part)}`, place);
  return [];
};

const imagePiece = ({ base64, mediaType }: Extract<ResultPiece, { base64: string }>): object => ({
  type: 'image',
  data: base64,
  mimeType: mediaType,
});

const answerPiece = (part: AssistantPart, notes: Notes, place: number): readonly object[] => {
  const signatures = part.type === 'tool-approval-request' ? {} : part.providerOptions?.['pi'];
  switch (part.type) {
    case 'text':
      return [{ type: 'text', text: part.text, ...signatures }];
    case 'reasoning':
      noteSignature(part, 'pi', notes, place);
      return [{ type: 'thinking', thinking: part.text, ...signatures }];
    case 'tool-call':
      return [{ type: 'toolCall', id: part.toolCallId, name: part.toolName, arguments: part.input, ...signatures }];
    default:
      notes.dropped(`a part of an answer (${part.type})`, place);
      return [];
  }
};

const resultOf = (part: ToolPart, notes: Notes, place: number): readonly object[] => {
  if (part.type !== 'tool-result') {
    notes.dropped(`a part of a result (${part.type})`, place);
    return [];
  }
  const { content, isError } = plainResult(part.output, notes, place);
  const pieces = typeof content === 'string' ? [{ text: content }] : content;
  return [
    {
      role: 'toolResult',
      toolCallId: part.toolCallId,
      toolName: part.toolName,
      content: pieces.map((piece) => ('text' in piece ? { type: 'text', text: piece.text } : imagePiece(piece))),
      isError,
    },
  ];
};
