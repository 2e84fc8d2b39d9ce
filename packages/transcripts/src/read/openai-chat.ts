import { InvalidInputError, type AssistantPart, type Message, type UserPart } from '@h/turn';
import { TranscriptBuilder } from './builder.js';
import {
  isObject,
  objectIn,
  objectsIn,
  inputOf,
  parsedOr,
  parseLines,
  textIn,
  wordIn,
  type Json,
  type JsonLine,
} from '../json.js';
import { fileFrom } from '../media.js';
import { Notes } from '../notes.js';
import { outputOf, type ReadPiece } from '../tool-output.js';
import type { Transcript } from '../transcript.js';

/** Parses messages of OpenAI chat completions: a list, a request with `messages`, or one message per line. */
export const parseOpenAIChat = (text: string): Transcript => {
  const notes = new Notes();
  const builder = new TranscriptBuilder(notes);
  for (const { line, value } of messagesIn(text, notes)) addChatMessage(builder, value, line);
  return builder.finish('openai-chat');
};

const messagesIn = (text: string, notes: Notes): readonly JsonLine[] => {
  const whole = parsedOr(text);
  const list = isObject(whole) && Array.isArray(whole['messages']) ? whole['messages'] : whole;
  if (typeof list === 'string' || isObject(list)) return parseLines(text, notes);
  if (!Array.isArray(list)) {
    throw new InvalidInputError('The transcript is neither a list of messages nor a request with messages.');
  }
  return list.flatMap((value: unknown, index) => {
    if (isObject(value)) return [{ line: index + 1, value }];
    notes.dropped('an entry that is not a message', index + 1);
    return [];
  });
};

/** Adds an entry of `messages`. */
export const addChatMessage = (builder: TranscriptBuilder, message: Json, line: number): void => {
  const { notes } = builder;
  const role = wordIn(message, 'role');
  switch (role) {
    case 'developer':
      notes.changed('a developer message became a system message', line);
      builder.add({ role: 'system', content: textOf(message) });
      return;
    case 'system':
      builder.add({ role, content: textOf(message) });
      return;
    case 'user':
      noteName(message, notes, line);
      builder.add({ role, content: userContent(message, notes, line) } satisfies Message);
      return;
    case 'assistant':
      noteName(message, notes, line);
      addAnswer(builder, message, line);
      return;
    case 'tool': {
      const toolCallId = textIn(message, 'tool_call_id') ?? '';
      const pieces = objectsIn(message, 'content').flatMap((part): readonly ReadPiece[] => {
        const text = textIn(part, 'text');
        return text === undefined
          ? notes.unknown(part, `a part of the type ${wordIn(part, 'type')} in a result`, line)
          : [{ text }];
      });
      const output = outputOf({ content: textIn(message, 'content') ?? pieces, isError: false });
      builder.addResults([{ type: 'tool-result', toolCallId, toolName: builder.toolOf(toolCallId), output }], {});
      return;
    }
    default:
      builder.addUnknown(message, `a message of the role ${role}`, line);
  }
};

const noteName = (message: Json, notes: Notes, line: number): void => {
  if (message['name'] !== undefined) notes.dropped('the name of the author', line);
};

const textOf = (message: Json): string =>
  textIn(message, 'content') ??
  objectsIn(message, 'content')
    .map((part) => textIn(part, 'text') ?? '')
    .join('\n');

const userContent = (message: Json, notes: Notes, line: number): string | readonly UserPart[] =>
  textIn(message, 'content') ?? objectsIn(message, 'content').flatMap((part) => userPart(part, notes, line));

const userPart = (part: Json, notes: Notes, line: number): readonly UserPart[] => {
  const type = wordIn(part, 'type');
  if (type === 'text') return [{ type, text: textIn(part, 'text') ?? '' }];
  const image = type === 'image_url' ? fileFrom(textIn(objectIn(part, 'image_url'), 'url') ?? '') : undefined;
  if (image) return [image];
  const given = objectIn(part, 'file');
  const file = type === 'file' ? fileFrom(textIn(given, 'file_data') ?? '', 'application/octet-stream') : undefined;
  if (file) {
    return [{ ...file, ...(textIn(given, 'filename') !== undefined && { filename: textIn(given, 'filename') }) }];
  }
  const audio = objectIn(part, 'input_audio');
  const data = textIn(audio, 'data');
  if (type === 'input_audio' && data !== undefined) {
    return [{ type: 'file', data, mediaType: `audio/${textIn(audio, 'format') ?? 'wav'}` }];
  }
  return notes.unknown(part, `a part of the type ${type} in a message`, line);
};

const addAnswer = (builder: TranscriptBuilder, message: Json, line: number): void => {
  const { notes } = builder;
  const content = answerTexts(message, notes, line);
  const reasoning = textIn(message, 'reasoning_content') ?? textIn(message, 'reasoning');
  const calls = objectsIn(message, 'tool_calls').map(callOf);
  const unknown = [
    ...(message['function_call'] ? notes.unknown(message, 'a function call in the deprecated format', line) : []),
    ...(message['audio'] ? notes.unknown(message['audio'], 'the audio of an answer', line) : []),
  ];
  if (typeof content === 'string' && reasoning === undefined && calls.length === 0 && unknown.length === 0) {
    builder.add({ role: 'assistant', content });
    return;
  }
  const texts: readonly AssistantPart[] = typeof content === 'string' ? [{ type: 'text', text: content }] : content;
  const parts: readonly AssistantPart[] = [
    ...(reasoning === undefined ? [] : [{ type: 'reasoning', text: reasoning } as const]),
    ...texts,
    ...calls,
    ...unknown,
  ];
  if (parts.length > 0 || notes.isOpaqueKept) builder.add({ role: 'assistant', content: parts });
};

const answerTexts = (message: Json, notes: Notes, line: number): string | readonly AssistantPart[] => {
  const refusal = textIn(message, 'refusal');
  if (refusal !== undefined && refusal !== '') {
    notes.changed('a refusal became text', line);
    return refusal;
  }
  const text = textIn(message, 'content');
  if (text !== undefined) return text;
  return objectsIn(message, 'content').map((part): AssistantPart => ({
    type: 'text',
    text: textIn(part, 'text') ?? textIn(part, 'refusal') ?? '',
  }));
};

const callOf = (call: Json): AssistantPart => {
  const custom = call['type'] === 'custom';
  const given = objectIn(call, custom ? 'custom' : 'function');
  return {
    type: 'tool-call',
    toolCallId: textIn(call, 'id') ?? '',
    toolName: textIn(given, 'name') ?? '',
    input: custom ? given['input'] : inputOf(given),
    ...(custom && { providerOptions: { openai: { custom } } }),
  };
};
