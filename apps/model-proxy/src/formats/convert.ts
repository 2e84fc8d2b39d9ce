import type { Provider } from '../calls/refusal.js';
import type { FormatName } from '../calls/routes.js';
import type { WireRequest } from '../wire/wire-request.js';
import type { JsonObject } from '../wire/json-value.js';
import { readAnthropicRequest, writeAnthropicRequest } from './anthropic-request.js';
import { anthropicWriter } from './anthropic-writer.js';
import type { AnswerWriter } from './answer-writer.js';
import { readChatRequest, writeChatRequest } from './chat-request.js';
import { chatWriter, responsesWriter } from './openai-writers.js';
import type { PortableRequest } from './portable-request.js';
import { readResponsesRequest, writeResponsesRequest } from './responses-request.js';

/** A wire format, both ways. */
interface Format {
  readonly provider: Provider;
  readonly path: string;
  /** @throws NotConvertible */
  read(value: JsonObject, entries: readonly unknown[]): PortableRequest;
  /** @throws NotConvertible */
  write(request: PortableRequest, model: string): JsonObject;
  readonly answers: AnswerWriter;
}

/** The wire formats. */
export const formats: Readonly<Record<FormatName, Format>> = {
  'anthropic-messages': {
    provider: 'anthropic',
    path: '/v1/messages',
    read: readAnthropicRequest,
    write: writeAnthropicRequest,
    answers: anthropicWriter,
  },
  'openai-chat': {
    provider: 'openai',
    path: '/v1/chat/completions',
    read: readChatRequest,
    write: writeChatRequest,
    answers: chatWriter,
  },
  'openai-responses': {
    provider: 'openai',
    path: '/v1/responses',
    read: readResponsesRequest,
    write: writeResponsesRequest,
    answers: responsesWriter,
  },
};

/** Reads a request without the notation of its format. @throws NotConvertible */
export const portableOf = ({ format, value, entries }: WireRequest): PortableRequest =>
  formats[format].read(value, entries);
