import { InvalidInputError, isMessage, type Message } from '@h/turn';
import { TranscriptBuilder } from './builder.js';
import { isObject, parsedOr, textIn } from '../json.js';
import { Notes } from '../notes.js';
import type { FormattedTranscript, Transcript } from '../transcript.js';

/** Parses the AI SDK's `ModelMessage[]` from JSON, alone or as the `messages` of an object that may have a `system`. */
export const parseAISDK = (text: string): Transcript => {
  const whole = parsedOr(text);
  const list = isObject(whole) ? whole['messages'] : whole;
  if (!Array.isArray(list)) {
    throw new InvalidInputError('The transcript is neither a list of messages nor an object with messages.');
  }
  const builder = new TranscriptBuilder(new Notes());
  const system = isObject(whole) ? textIn(whole, 'system') : undefined;
  if (system !== undefined) builder.add({ role: 'system', content: system });
  for (const [index, value] of list.entries()) {
    const revived = revive(value);
    if (isMessage(revived)) builder.add(revived);
    else builder.notes.dropped('a message that is not a ModelMessage', index + 1);
  }
  if (builder.isEmpty && list.length > 0) {
    throw new InvalidInputError(
      'None of the messages is a ModelMessage; convert UI messages with convertToModelMessages() of the AI SDK first.',
    );
  }
  return builder.finish('ai-sdk');
};

/** Formats a conversation as `ModelMessage[]` of the AI SDK. Bytes become base64, and URLs strings. */
export const toAISDK = (messages: readonly Message[]): FormattedTranscript => {
  const notes = new Notes();
  const written = messages.map((message, index) => {
    const { metadata, ...rest } = message;
    if (metadata !== undefined) notes.dropped('metadata of a message', index + 1);
    return rest;
  });
  return { text: `${JSON.stringify(plain(written), undefined, 2)}\n`, notes: notes.list() };
};

/** Like JSON.stringify, except for bytes, which it would turn into an object of numbers. */
const plain = (value: unknown): unknown => {
  if (value instanceof URL) return value.href;
  if (value instanceof Uint8Array) {
    return Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('base64');
  }
  if (value instanceof ArrayBuffer) return Buffer.from(value).toString('base64');
  if (Array.isArray(value)) return value.map(plain);
  return isObject(value) ? Object.fromEntries(Object.entries(value).map(([key, item]) => [key, plain(item)])) : value;
};

const fileTypes: readonly unknown[] = ['file', 'image', 'reasoning-file'];

/** Restores URLs and bytes in file parts. */
const revive = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(revive);
  if (!isObject(value)) return value;
  const entries = Object.entries(value).map(([key, item]): [string, unknown] => {
    if (key === 'url' && value['type'] === 'url' && typeof item === 'string' && URL.canParse(item)) {
      return [key, new URL(item)];
    }
    if ((key === 'data' || key === 'image') && fileTypes.includes(value['type'])) return [key, reviveFile(item)];
    if (key === 'content' || key === 'output' || key === 'value' || key === 'data') return [key, revive(item)];
    return [key, item];
  });
  return Object.fromEntries(entries);
};

const reviveFile = (data: unknown): unknown => {
  if (typeof data === 'string') return /^https?:/.test(data) && URL.canParse(data) ? new URL(data) : data;
  if (!isObject(data)) return data;
  // A Buffer in the format of JSON.stringify.
  if (data['type'] === 'Buffer' && Array.isArray(data['data'])) return new Uint8Array(data['data'] as number[]);
  return 'type' in data || !('0' in data) ? revive(data) : new Uint8Array(Object.values(data) as number[]);
};
