import { checkValue, oneOf } from '@h/options';
import type { Message } from '@h/turn';
import { addAnthropicMessage } from './read/anthropic.js';
import { TranscriptBuilder } from './read/builder.js';
import type { RequestFormat } from './format-messages.js';
import { isObject, type Json } from './json.js';
import { Notes } from './notes.js';
import { addChatMessage } from './read/openai-chat.js';
import { addResponsesItem } from './read/responses-items.js';
import type { TranscriptNote } from './transcript.js';

/** The conversation of a model request. */
export interface ReadMessages {
  /** The messages, system messages among them. They are not repaired. */
  readonly messages: readonly Message[];
  /**
   * Kinds of content that only this format has. The messages contain such content as files that no format can write,
   * except system messages, which are strings.
   */
  readonly opaque: readonly string[];
  readonly notes: readonly TranscriptNote[];
}

/**
 * Reads entries of a model request: of `messages`, or of `input` in OpenAI Responses. Every entry results in a message
 * or extends the message before it.
 *
 * @throws InvalidOptionError `invalid-option`
 *
 * @example
 * ```ts
 * const { messages, opaque } = readMessages([{ role: 'user', content: 'Hi.' }], 'openai-chat');
 * ```
 */
export const readMessages = (entries: readonly unknown[], format: RequestFormat): ReadMessages => {
  checkValue('readMessages()', 'format', format, formatCheck);
  const notes = new Notes(true);
  const builder = new TranscriptBuilder(notes);
  const add = readers[format];
  for (const [index, entry] of entries.entries()) {
    if (typeof entry === 'string' && format === 'openai-responses') builder.add({ role: 'user', content: entry });
    else if (isObject(entry)) add(builder, entry, index + 1);
    else builder.addUnknown(entry, 'an entry that is not an object', index + 1);
  }
  return { messages: builder.messages, opaque: notes.opaque(), notes: notes.list() };
};

const formatCheck = oneOf('anthropic-messages', 'openai-chat', 'openai-responses');

const readers: Readonly<Record<RequestFormat, (builder: TranscriptBuilder, entry: Json, place: number) => void>> = {
  'anthropic-messages': addAnthropicMessage,
  'openai-chat': addChatMessage,
  'openai-responses': (builder, item, place) => addResponsesItem(builder, item, place),
};
