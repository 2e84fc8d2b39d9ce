import type { Message } from '@h/turn';
import { checkValue, oneOf } from '@h/options';
import { messageOf } from './read/anthropic.js';
import { Notes } from './notes.js';
import { responsesItems } from './write/to-codex.js';
import { messagesOf } from './write/to-openai-chat.js';
import type { TranscriptNote } from './transcript.js';

/** Formats of the conversation in a model request. */
export type RequestFormat = 'anthropic-messages' | 'openai-chat' | 'openai-responses';

/** A conversation as entries of a model request. */
export interface FormattedMessages {
  /** Entries of `messages`, or of `input` in OpenAI Responses. */
  readonly entries: readonly object[];
  readonly notes: readonly TranscriptNote[];
}

/**
 * Formats messages as entries of a model request. System messages remain among them.
 *
 * @throws InvalidOptionError `invalid-option`
 *
 * @example
 * ```ts
 * const { entries, notes } = formatMessages([{ role: 'user', content: 'Hi.' }], 'anthropic-messages');
 * ```
 */
export const formatMessages = (messages: readonly Message[], format: RequestFormat): FormattedMessages => {
  checkValue('formatMessages()', 'format', format, oneOf('anthropic-messages', 'openai-chat', 'openai-responses'));
  const notes = new Notes();
  return { entries: writers[format](messages, notes), notes: notes.list() };
};

const writers: Readonly<Record<RequestFormat, (messages: readonly Message[], notes: Notes) => readonly object[]>> = {
  'anthropic-messages': (messages, notes) => messages.flatMap((message, index) => messageOf(message, notes, index + 1)),
  'openai-chat': (messages, notes) => messages.flatMap((message, index) => messagesOf(message, notes, index + 1)),
  'openai-responses': responsesItems,
};
