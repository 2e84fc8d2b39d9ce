import type { LanguageModelV4Message, LanguageModelV4Prompt } from '@ai-sdk/provider';
import { InvalidInputError, type CacheMark, type Message, type ModelRequest, type SystemBlock } from '@h/turn';
import { toPromptMessage, type ConversionState } from './prompt-message.js';
import { cacheOptions, mergeProviderOptions, optionsMember } from './provider-options.js';

/**
 * What the provider reads: the system blocks, each a message of its own, then the history, then the tail.
 *
 * A cache mark becomes options of the providers that know it. What has nothing to say is left out: an empty block, an
 * empty text, a message of which nothing remains. Tool messages that follow one another become one.
 *
 * @param provider - Whose model it is, as `anthropic` in `anthropic.messages`.
 * @throws InvalidInputError with the place of a part that no provider can take.
 */
export const toPrompt = (
  request: Pick<ModelRequest, 'system' | 'messages' | 'tail' | 'cacheMessages'>,
  provider: string,
): LanguageModelV4Prompt => {
  const prompt: LanguageModelV4Prompt = [];
  const state: ConversionState = { provider, providerCalls: new Set(), approvals: new Map() };
  for (const block of request.system) if (block.text !== '') prompt.push(toSystemMessage(block));
  const start = prompt.length;
  add(prompt, request.messages, 'messages', state);
  if (request.cacheMessages && prompt.length > start) markLast(prompt, request.cacheMessages);
  add(prompt, request.tail, 'tail', state);
  return prompt;
};

const toSystemMessage = ({ text, cache }: SystemBlock): LanguageModelV4Message => ({
  role: 'system',
  content: text,
  ...optionsMember(cache && cacheOptions(cache)),
});

const markLast = (prompt: LanguageModelV4Prompt, mark: CacheMark): void => {
  const last = prompt.at(-1) as LanguageModelV4Message;
  last.providerOptions = mergeProviderOptions(cacheOptions(mark), last.providerOptions);
};

const add = (prompt: LanguageModelV4Prompt, messages: Iterable<Message>, where: string, state: ConversionState): void => {
  let index = 0;
  for (const message of messages) {
    const converted = converting(message, state, `${where}[${index}]`);
    index += 1;
    if (converted === undefined) continue;
    const previous = prompt.at(-1);
    if (converted.role === 'tool' && previous?.role === 'tool') joinToolMessages(previous, converted);
    else prompt.push(converted);
  }
};

const converting = (message: Message, state: ConversionState, place: string): LanguageModelV4Message | undefined => {
  try {
    return toPromptMessage(message, state);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    throw new InvalidInputError(`The message at ${place} cannot be sent: ${error.message}`, { cause: error });
  }
};

type PromptToolMessage = Extract<LanguageModelV4Message, { role: 'tool' }>;

/** Options of a message count for its last part, so they move there when more parts follow. */
const joinToolMessages = (previous: PromptToolMessage, next: PromptToolMessage): void => {
  const last = previous.content.at(-1);
  if (last && previous.providerOptions) {
    Object.assign(last, { providerOptions: mergeProviderOptions(previous.providerOptions, last.providerOptions) });
  }
  previous.content.push(...next.content);
  delete previous.providerOptions;
  Object.assign(previous, optionsMember(next.providerOptions));
};
