import type { LanguageModelV4Message, LanguageModelV4Prompt } from '@ai-sdk/provider';
import { InvalidInputError, type CacheMark, type Message, type ModelRequest, type SystemBlock } from '@h/turn';
import { toPromptMessage, type ConversionState } from './prompt-message.js';
import { cacheOptions, mergeProviderOptions, optionsMember } from './provider-options.js';

/** What of a request the provider reads. */
export type PromptSource = Pick<ModelRequest, 'system' | 'messages' | 'tail' | 'cacheMessages'>;

/** System blocks and messages that are in the provider's shape already, and what they are there. */
export type Originals = ReadonlyMap<unknown, LanguageModelV4Message>;

/**
 * What the provider reads: the system blocks, each a message of its own, then the history, then the tail.
 *
 * A cache mark becomes options of the providers that know it. What has nothing to say is left out: an empty block, an
 * empty text, a message of which nothing remains. Tool messages that follow one another become one.
 *
 * @param provider - Whose model it is, as `anthropic` in `anthropic.messages`.
 * @param originals - What need not be converted.
 * @throws InvalidInputError with the place of a part that no provider can take.
 */
export const toPrompt = (
  request: PromptSource,
  provider: string,
  originals: Originals = new Map(),
): LanguageModelV4Prompt => {
  const prompt: LanguageModelV4Prompt = [];
  const state: ConversionState = { provider, providerCalls: new Set(), approvals: new Map() };
  const add = (messages: Iterable<Message>, where: string): void => {
    let index = 0;
    for (const message of messages) {
      const converted = originals.get(message) ?? converting(message, state, `${where}[${index}]`);
      if (converted) append(prompt, converted);
      index += 1;
    }
  };
  for (const block of request.system) {
    if (block.text !== '') prompt.push(originals.get(block) ?? toSystemMessage(block));
  }
  const start = prompt.length;
  add(request.messages, 'messages');
  if (request.cacheMessages && prompt.length > start) prompt.push(marked(prompt.pop(), request.cacheMessages));
  add(request.tail, 'tail');
  return prompt;
};

const toSystemMessage = ({ text, cache }: SystemBlock): LanguageModelV4Message => ({
  role: 'system',
  content: text,
  ...optionsMember(cache && cacheOptions(cache)),
});

const marked = (last: LanguageModelV4Message | undefined, mark: CacheMark): LanguageModelV4Message => {
  const message = last as LanguageModelV4Message;
  return { ...message, providerOptions: mergeProviderOptions(cacheOptions(mark), message.providerOptions) };
};

const converting = (message: Message, state: ConversionState, place: string): LanguageModelV4Message | undefined => {
  try {
    return toPromptMessage(message, state);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    throw new InvalidInputError(`The message at ${place} cannot be sent: ${error.message}`, { cause: error });
  }
};

const append = (prompt: LanguageModelV4Prompt, message: LanguageModelV4Message): void => {
  const previous = prompt.at(-1);
  if (message.role !== 'tool' || previous?.role !== 'tool') prompt.push(message);
  else prompt[prompt.length - 1] = joined(previous, message);
};

type PromptToolMessage = Extract<LanguageModelV4Message, { role: 'tool' }>;

/** Options of a message count for its last part, so they move there when more parts follow. */
const joined = (previous: PromptToolMessage, next: PromptToolMessage): PromptToolMessage => ({
  role: 'tool',
  content: [...withOptionsOnLast(previous), ...next.content],
  ...optionsMember(next.providerOptions),
});

const withOptionsOnLast = ({ content, providerOptions }: PromptToolMessage): PromptToolMessage['content'] =>
  providerOptions === undefined
    ? content
    : content.map((part, index) =>
        index < content.length - 1
          ? part
          : { ...part, providerOptions: mergeProviderOptions(providerOptions, part.providerOptions) },
      );
