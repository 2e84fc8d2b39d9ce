import type { Message, MessageList, MessageMetadata } from '@h/turn';
import { bootstrapKind } from './tail-message.js';

/** Options of {@link hasBootstrap}. */
export interface BootstrapScan {
  /**
   * How many messages are looked at, from the end.
   *
   * @defaultValue `500`
   */
  readonly maxRecords?: number | undefined;
  /**
   * How much of the history is looked at, from the end, in bytes of its text.
   *
   * @defaultValue `262144`
   */
  readonly maxBytes?: number | undefined;
}

/** Kinds of messages before which the model remembers nothing: summaries and hand-overs. */
const boundaryKinds: ReadonlySet<unknown> = new Set(['summary', 'handoff', 'reset']);

/** Whether an operator made this message to bring the bootstrap sections. */
export const isBootstrapRecord = ({ metadata }: Message): boolean =>
  metadata?.kind === bootstrapKind && metadata.internal === true;

/**
 * Whether a session's history already holds the bootstrap sections.
 *
 * It is told by the kind of a message, which no text of a user can set, and looked for from the end up to the last
 * summary or hand-over: what was said before that is forgotten. So that a long history costs no more than a short one, only
 * its end is looked at; sections that lie further back are sent again.
 */
export const hasBootstrap = (
  messages: MessageList | readonly Message[],
  { maxRecords = 500, maxBytes = 256 * 1024 }: BootstrapScan = {},
): boolean => {
  let room = maxBytes;
  const end = Math.max(0, messages.length - maxRecords);
  for (let index = messages.length - 1; index >= end && room > 0; index -= 1) {
    const message = messages.at(index) as Message;
    if (isBootstrapRecord(message)) return true;
    if (message.metadata?.internal === true && boundaryKinds.has(message.metadata.kind)) return false;
    room -= textBytes(message.content, room);
  }
  return false;
};

/** About how many bytes of text a value holds; counting stops at the limit. */
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
 * What users say, without records of ours: a message from outside that calls itself one is an ordinary message.
 *
 * @returns the same array when there is nothing to take away
 */
export const withoutRecords = (messages: readonly Message[]): readonly Message[] =>
  messages.some(isBootstrapRecord)
    ? messages.map((message) => (isBootstrapRecord(message) ? withoutKind(message) : message))
    : messages;

const withoutKind = (message: Message): Message => {
  const { kind: _, ...metadata } = message.metadata as MessageMetadata;
  return { ...message, metadata };
};
