import { readAnthropicAnswer } from '../formats/anthropic-answer.js';
import type { AnswerReader, PartListener } from '../formats/answer.js';
import { readChatAnswer, readResponsesAnswer } from '../formats/openai-answers.js';
import type { Provider } from './refusal.js';

/** The format of a model call. */
export type FormatName = 'anthropic-messages' | 'openai-chat' | 'openai-responses';

/** Where a request goes. */
export interface Route {
  readonly provider: Provider;
  /** The format of a model call, which is metered; `undefined` for requests that generate nothing. */
  readonly format: FormatName | undefined;
  /** Whether a request on this path may cost something that the proxy cannot measure. */
  readonly isUnmetered: boolean;
  /** Whether it may reach what a key of the provider stores, such as files, batches and lists of answers. */
  readonly isStored: boolean;
}

export const readersByFormat: Readonly<Record<FormatName, (listener?: PartListener) => AnswerReader>> = {
  'anthropic-messages': readAnthropicAnswer,
  'openai-chat': readChatAnswer,
  'openai-responses': readResponsesAnswer,
};

const metered: Readonly<Record<string, readonly [Provider, FormatName]>> = {
  '/v1/messages': ['anthropic', 'anthropic-messages'],
  '/v1/chat/completions': ['openai', 'openai-chat'],
  '/chat/completions': ['openai', 'openai-chat'],
  '/v1/responses': ['openai', 'openai-responses'],
  '/responses': ['openai', 'openai-responses'],
  '/v1/responses/compact': ['openai', 'openai-responses'],
  '/responses/compact': ['openai', 'openai-responses'],
};

/** Requests that generate nothing, besides those with the methods GET, HEAD and DELETE. */
const free = /^(?:\/v1)?(?:\/messages\/count_tokens|\/responses\/(?:input_tokens|[\w-]+\/cancel))$/;

/** What a client may read of a provider without seeing what others have stored: answers by their ids, which are secret. */
const readable = /^(?:\/v1)?\/(?:models(?:\/(?!\.)[\w.:@-]+)*|responses\/[\w-]+(?:\/input_items)?)$/;

/**
 * Decides by path and headers to which provider a request goes. Paths are those of the providers, without a prefix, so
 * that only the base URL of a client changes.
 */
export const routeOf = (method: string, url: string, headers: Readonly<Record<string, unknown>>): Route => {
  const path = pathOf(url);
  const known = method === 'POST' && Object.hasOwn(metered, path) ? metered[path] : undefined;
  if (known) return { provider: known[0], format: known[1], isUnmetered: false, isStored: false };
  const isAnthropic =
    path.startsWith('/v1/messages') || headers['anthropic-version'] !== undefined || headers['x-api-key'] !== undefined;
  const isFree = method === 'GET' || method === 'HEAD' || method === 'DELETE' || free.test(path);
  const isStored = !(method === 'HEAD' || free.test(path) || (method === 'GET' && readable.test(path)));
  return { provider: isAnthropic ? 'anthropic' : 'openai', format: undefined, isUnmetered: !isFree, isStored };
};

const pathOf = (url: string): string => {
  const end = url.search(/[?#]/);
  const path = end < 0 ? url : url.slice(0, end);
  return path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path;
};
