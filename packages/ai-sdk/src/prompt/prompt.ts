import type { LanguageModelV4Message, LanguageModelV4Prompt } from '@ai-sdk/provider';
import { InvalidInputError, type CacheMark, type Message, type ModelRequest, type SystemBlock } from '@h/turn';
import { toPromptMessage, type ConversionState } from './prompt-message.js';
import { cacheOptions, mergeProviderOptions, optionsMember } from './provider-options.js';

/** The parts of a request that the provider reads. */
export interface PromptSource extends Pick<ModelRequest, 'system' | 'tail' | 'cacheMessages'> {
  readonly messages: Iterable<Message>;
}

/** System blocks and messages that already have the provider's shape, and their originals. */
export interface Originals {
  get(item: unknown): LanguageModelV4Message | undefined;
}

/**
 * Builds the provider's prompt: the system blocks as separate messages, then the history, then the tail.
 *
 * A cache breakpoint becomes provider options. Empty blocks, texts and messages are omitted. Adjacent tool messages
 * are joined.
 *
 * @param provider - The provider of the model, such as `anthropic` in `anthropic.messages`.
 * @param originals - Messages that need no conversion.
 * @throws InvalidInputError with the position of a part that cannot be sent.
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

/** Options of a message apply to its last part, so they move there when parts are added. */
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
