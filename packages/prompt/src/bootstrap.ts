import type { Message, MessageList, MessageMetadata } from '@h/turn';
import { bootstrapKind } from './tail-message.js';

/** Maximum number of messages that are searched, and of the bytes of their text. */
const searched = { messages: 500, bytes: 256 * 1024 };

/** Kinds of messages that replace everything before them: summaries and hand-offs. */
const boundaryKinds: ReadonlySet<unknown> = new Set(['summary', 'handoff', 'reset']);

/** Whether this message was added by `prompt()` to deliver the bootstrap sections. */
export const isBootstrapRecord = ({ metadata }: Message): boolean =>
  metadata?.kind === bootstrapKind && metadata.internal === true;

/**
 * Whether a session's history already holds the bootstrap sections.
 *
 * A bootstrap message is recognized by its metadata, which user text cannot set. The search runs from the end to the
 * last summary or hand-off, because the model no longer sees anything before it. It ends after 500 messages or 256 KB of
 * text, so that a long history costs no more than a short one; sections beyond are sent again.
 */
export const hasBootstrap = (messages: MessageList | readonly Message[]): boolean => {
  let room = searched.bytes;
  const end = Math.max(0, messages.length - searched.messages);
  for (let index = messages.length - 1; index >= end && room > 0; index -= 1) {
    const message = messages.at(index) as Message;
    if (isBootstrapRecord(message)) return true;
    if (message.metadata?.internal === true && boundaryKinds.has(message.metadata.kind)) return false;
    room -= textBytes(message.content, room);
  }
  return false;
};

/** The approximate number of bytes of text in a value. Counting stops at the limit. */
const textBytes = (value: unknown, limit: number): number => {
  if (typeof value === 'string') return value.length > limit ? value.length : Buffer.byteLength(value);
  if (typeof value !== 'object' || value === null) return 0;
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return value.byteLength;
  let bytes = 0;
  for (const item of Object.values(value)) {
    bytes += textBytes(item, limit - bytes);
    if (bytes > limit) break;
  }
  return bytes;
};

/**
 * Removes the bootstrap kind from incoming messages, so that outside input cannot suppress the bootstrap sections.
 *
 * @returns the same array if no message carries it
 */
export const withoutRecords = (messages: readonly Message[]): readonly Message[] =>
  messages.some(isBootstrapRecord)
    ? messages.map((message) => (isBootstrapRecord(message) ? withoutKind(message) : message))
    : messages;

const withoutKind = (message: Message): Message => {
  const { kind: _, ...metadata } = message.metadata as MessageMetadata;
  return { ...message, metadata };
};
