import { InvalidInputError, type AssistantPart, type Message } from '@h/turn';
import { answerPart, noteExtras, resultPart, usageOf, userPart } from './anthropic-blocks.js';
import { TranscriptBuilder } from './builder.js';
import { isObject, objectIn, objectsIn, parsedOr, textIn, wordIn, type Json } from '../json.js';
import { Notes } from '../notes.js';
import { answerBlock, resultBlock, userBlock } from '../write/to-anthropic-blocks.js';
import type { FormattedTranscript, Transcript } from '../transcript.js';

/** Parses messages of Anthropic: a list, or a request with `system` and `messages`. */
export const parseAnthropic = (text: string): Transcript => {
  const whole = parsedOr(text);
  const list = isObject(whole) ? whole['messages'] : whole;
  if (!Array.isArray(list)) {
    throw new InvalidInputError('The transcript is neither a list of messages nor a request with messages.');
  }
  const builder = new TranscriptBuilder(new Notes());
  const system = isObject(whole) ? textsIn(whole, 'system', builder.notes, 0) : [];
  for (const content of system) builder.add({ role: 'system', content });
  for (const [index, message] of list.entries()) {
    if (isObject(message)) addAnthropicMessage(builder, message, index + 1);
    else builder.notes.dropped('an entry that is not a message', index + 1);
  }
  return builder.finish('anthropic-messages');
};

/** Adds an entry of `messages`. */
export const addAnthropicMessage = (builder: TranscriptBuilder, message: Json, at: number): void => {
  const role = wordIn(message, 'role');
  switch (role) {
    case 'system':
      builder.add({ role, content: textsIn(message, 'content', builder.notes, at).join('\n') });
      return;
    case 'user':
      addUser(builder, message, at);
      return;
    case 'assistant':
      addAnswer(builder, message, at);
      return;
    default:
      builder.addUnknown(message, `a message of the role ${role}`, at);
  }
};

/** Divides a user message into tool results and the text after them, which are separate messages of a turn. */
const addUser = (builder: TranscriptBuilder, message: Json, at: number): void => {
  const said = textIn(message, 'content');
  if (said !== undefined) {
    builder.add({ role: 'user', content: said });
    return;
  }
  const blocks = objectsIn(message, 'content');
  const results = blocks.filter(({ type }) => type === 'tool_result');
  if (results.length > 0) {
    const parts = results.map((block) => resultPart(builder, block, at));
    builder.addResults(parts, {});
  }
  const content = blocks
    .filter(({ type }) => type !== 'tool_result')
    .flatMap((block) => userPart(block, builder.notes, at));
  const isPreserved = builder.notes.isOpaqueKept && results.length === 0;
  if (content.length > 0 || isPreserved) builder.add({ role: 'user', content });
};

const addAnswer = (builder: TranscriptBuilder, message: Json, at: number): void => {
  const said = textIn(message, 'content');
  const content: string | readonly AssistantPart[] =
    said ?? objectsIn(message, 'content').flatMap((block) => answerPart(block, builder.notes, at));
  if (content.length === 0 && !builder.notes.isOpaqueKept) return;
  const info = {
    model: textIn(message, 'model'),
    ...(isObject(message['usage']) && { usage: usageOf(objectIn(message, 'usage')) }),
  };
  builder.add({ role: 'assistant', content }, info);
};

/** Returns a text, or the texts of blocks. */
const textsIn = (value: Json, key: string, notes: Notes, at: number): readonly string[] => {
  const text = textIn(value, key);
  if (text !== undefined) return [text];
  return objectsIn(value, key).flatMap((block) => {
    noteExtras(block, notes, at);
    return textIn(block, 'text') ?? [];
  });
};

/** Formats a conversation as the `system` and `messages` of a request to Anthropic, without what Anthropic rejects. */
export const toAnthropic = (messages: readonly Message[]): FormattedTranscript => {
  const notes = new Notes();
  const firstOther = messages.findIndex(({ role }) => role !== 'system');
  const start = firstOther === -1 ? messages.length : firstOther;
  const system = messages.slice(0, start).flatMap((message, index) => blocksOf(message, notes, index + 1));
  const written = messages.slice(start).flatMap((message, index) => messageOf(message, notes, start + index + 1));
  const whole = { ...(system.length > 0 && { system }), messages: written };
  return { text: `${JSON.stringify(whole, undefined, 2)}\n`, notes: notes.list() };
};

/** Formats a message as an entry of a request to Anthropic. */
export const messageOf = (message: Message, notes: Notes, at: number): readonly object[] => {
  const { role } = message;
  const content = blocksOf(message, notes, at);
  if (content.length > 0) return [{ role: role === 'tool' ? 'user' : role, content }];
  notes.dropped('an empty message', at);
  return [];
};

const blocksOf = (message: Message, notes: Notes, at: number): readonly object[] => {
  switch (message.role) {
    case 'system':
      return userBlock({ type: 'text', text: message.content }, notes, at);
    case 'user':
      if (message.metadata?.internal === true) notes.changed('a message of the harness became one of the user', at);
      return partsOf(message.content).flatMap((part) => userBlock(part, notes, at));
    case 'assistant':
      return partsOf(message.content).flatMap((part) =>
        isUnsigned(part) ? (notes.dropped('reasoning without a signature', at), []) : answerBlock(part, notes, at),
      );
    case 'tool':
      return message.content.flatMap((part) => resultBlock(part, notes, at));
  }
};

const partsOf = <Part>(content: string | readonly Part[]): readonly (Part | { type: 'text'; text: string })[] =>
  typeof content === 'string' ? [{ type: 'text', text: content }] : content;

/** Anthropic accepts only reasoning that it has signed. */
const isUnsigned = (part: AssistantPart): boolean =>
  part.type === 'reasoning' &&
  part.providerOptions?.['anthropic']?.['signature'] === undefined &&
  part.providerOptions?.['anthropic']?.['redactedData'] === undefined;
