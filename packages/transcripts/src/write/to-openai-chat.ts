import type { AssistantMessage, AssistantPart, Message, ToolCallPart, ToolPart, UserPart } from '@h/turn';
import { dataOf, mediaTypeOf, urlOf } from '../media.js';
import { Notes, noteSignature } from '../notes.js';
import { plainResult } from '../tool-output.js';
import type { FormattedTranscript } from '../transcript.js';

/** Formats a conversation as messages of an OpenAI chat completion. */
export const toOpenAIChat = (messages: readonly Message[]): FormattedTranscript => {
  const notes = new Notes();
  const written = messages.flatMap((message, index) => messagesOf(message, notes, index + 1));
  return { text: `${JSON.stringify(written, undefined, 2)}\n`, notes: notes.list() };
};

/** Formats a message as entries of a chat completion. */
export const messagesOf = (message: Message, notes: Notes, place: number): readonly object[] => {
  switch (message.role) {
    case 'system':
      return [{ role: 'system', content: message.content }];
    case 'user': {
      if (message.metadata?.internal === true) notes.changed('a message of the harness became one of the user', place);
      return [
        {
          role: 'user',
          content:
            typeof message.content === 'string'
              ? message.content
              : message.content.flatMap((part) => userPart(part, notes, place)),
        },
      ];
    }
    case 'assistant':
      return [answerOf(message, notes, place)];
    case 'tool':
      return message.content.flatMap((part) => resultOf(part, notes, place));
  }
};

const userPart = (part: UserPart, notes: Notes, place: number): readonly object[] => {
  if (part.type === 'text') return [{ type: 'text', text: part.text }];
  const mediaType = mediaTypeOf(part);
  const url = urlOf(part, mediaType);
  const data = dataOf(part);
  if (url !== undefined && mediaType.startsWith('image/')) return [{ type: 'image_url', image_url: { url } }];
  if (data && 'base64' in data && mediaType.startsWith('audio/')) {
    return [{ type: 'input_audio', input_audio: { data: data.base64, format: mediaType.slice('audio/'.length) } }];
  }
  if (data && 'base64' in data) {
    return [
      {
        type: 'file',
        file: {
          ...(part.type === 'file' && part.filename !== undefined && { filename: part.filename }),
          file_data: url,
        },
      },
    ];
  }
  notes.dropped(`a file of the type ${mediaType}`, place);
  return [];
};

const answerOf = ({ content }: AssistantMessage, notes: Notes, place: number): object => {
  if (typeof content === 'string') return { role: 'assistant', content };
  const texts = content.flatMap((part) => (part.type === 'text' ? part.text : []));
  const reasoning = content.flatMap((part) => (part.type === 'reasoning' ? part.text : []));
  const calls = content.flatMap((part) => (part.type === 'tool-call' ? callOf(part) : []));
  if (reasoning.length > 1) notes.changed('several parts of reasoning became one', place);
  for (const part of content) {
    if (!['text', 'reasoning', 'tool-call'].includes(part.type)) {
      notes.dropped(`a part of an answer (${part.type})`, place);
    }
    if (part.type === 'reasoning') noteSignature(part, undefined, notes, place);
  }
  if (!isInOrder(content)) notes.changed('the order of parts of an answer', place);
  return {
    role: 'assistant',
    content: texts.length > 1 ? texts.map((text) => ({ type: 'text', text })) : (texts[0] ?? null),
    ...(reasoning.length > 0 && { reasoning_content: reasoning.join('\n\n') }),
    ...(calls.length > 0 && { tool_calls: calls }),
  };
};

/** Parts of an answer in the order in which a message of a chat completion is read. */
const partOrder: readonly AssistantPart['type'][] = ['reasoning', 'text', 'tool-call'];

const isInOrder = (parts: readonly AssistantPart[]): boolean => {
  const places = parts.map(({ type }) => partOrder.indexOf(type)).filter((place) => place !== -1);
  return places.every((place, index) => place >= (places[index - 1] ?? 0));
};

const callOf = ({ toolCallId: id, toolName: name, input, providerOptions }: ToolCallPart): object =>
  providerOptions?.['openai']?.['custom'] === true
    ? { id, type: 'custom', custom: { name, input } }
    : { id, type: 'function', function: { name, arguments: JSON.stringify(input ?? {}) } };

const resultOf = (part: ToolPart, notes: Notes, place: number): readonly object[] => {
  if (part.type !== 'tool-result') {
    notes.dropped(`a part of a result (${part.type})`, place);
    return [];
  }
  const { content, isError } = plainResult(part.output, notes, place);
  if (isError) notes.changed('an error became an ordinary result', place);
  const pieces =
    typeof content === 'string'
      ? content
      : content.flatMap((piece) => {
          if ('text' in piece) return [{ type: 'text', text: piece.text }];
          notes.dropped('a file in a result', place);
          return [];
        });
  return [{ role: 'tool', tool_call_id: part.toolCallId, content: pieces }];
};
