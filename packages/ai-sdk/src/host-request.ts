import type {
  LanguageModelV4CallOptions,
  LanguageModelV4FunctionTool,
  LanguageModelV4Message,
  LanguageModelV4ToolChoice,
} from '@ai-sdk/provider';
import type { HostFormat, HostModelCall, HostModelRequest } from '@h/bridge';
import type { CacheMark, Message, ModelSettings, ProviderOptions, SystemBlock, ToolDefinition } from '@h/turn';
import { toFunctionTool, toSettings, toToolChoice } from './prompt/call-options.js';
import { toPrompt, type Originals } from './prompt/prompt.js';

/** A prompt message of the SDK or of an operator. Both have the same shape for operators. */
export type PromptMessage = LanguageModelV4Message | Message;

/** The format of prompts. It caches the messages of earlier prompts, which need no conversion. */
export interface PromptFormat extends HostFormat<PromptMessage> {
  readonly originals: Originals;
}

/** Creates the format for one bridge. */
export const promptFormat = (): PromptFormat => {
  const originals = new WeakMap<object, LanguageModelV4Message>();
  return {
    originals: { get: (message) => originals.get(message as object) },
    read: (message) => {
      originals.set(message, message as LanguageModelV4Message);
      return message;
    },
    write: (message) => [message],
  };
};

/** A host's model call in the form for operators, and its conversion back. */
export interface HostRequest {
  readonly call: Pick<HostModelCall<PromptMessage>, 'messages' | 'system' | 'tools' | 'otherTools' | 'settings'>;
  /** The session that the host names under `providerOptions.h.session`. */
  readonly session: string | undefined;
  /** The run of the host's loop, under `providerOptions.h.run`. */
  readonly run: string | undefined;
  /** Returns the options for the model call. Members that no operator changed are those of the host. */
  toOptions(request: HostModelRequest<PromptMessage>): LanguageModelV4CallOptions;
}

/** The name of this package in the provider options of a call. */
export const ownOptions = 'h';

const settingNames = [
  'maxOutputTokens',
  'temperature',
  'topP',
  'topK',
  'presencePenalty',
  'frequencyPenalty',
  'stopSequences',
  'seed',
  'reasoning',
] as const satisfies readonly (keyof ModelSettings & keyof LanguageModelV4CallOptions)[];

/**
 * Converts a host's call: leading system messages become system blocks, function tools become definitions.
 *
 * Provider tools, the response format and headers have no equivalent in a request and reach the model unchanged.
 */
export const fromCallOptions = (
  options: LanguageModelV4CallOptions,
  provider: string,
  format: PromptFormat,
): HostRequest => {
  const { [ownOptions]: ours, ...providerOptions } = options.providerOptions ?? {};
  const systemLength = options.prompt.findIndex(({ role }) => role !== 'system');
  const split = systemLength < 0 ? options.prompt.length : systemLength;
  const systemOriginals = new Map<unknown, LanguageModelV4Message>();
  const tools = new Map<ToolDefinition, LanguageModelV4FunctionTool>();

  const system = options.prompt.slice(0, split).map((message) => {
    const block = toSystemBlock(message);
    systemOriginals.set(block, message);
    return block;
  });
  for (const tool of options.tools ?? []) if (tool.type === 'function') tools.set(toDefinition(tool), tool);
  const given = new Set<unknown>(options.prompt);
  const originals: Originals = {
    get: (item) =>
      given.has(item) ? (item as LanguageModelV4Message) : (systemOriginals.get(item) ?? format.originals.get(item)),
  };

  return {
    call: {
      system,
      messages: options.prompt.slice(split),
      tools: [...tools.keys()],
      otherTools: (options.tools ?? []).flatMap((tool) => (tool.type === 'provider' ? [tool.name] : [])),
      settings: settingsOf(options, providerOptions),
    },
    session: textOption(ours, 'session'),
    run: textOption(ours, 'run'),
    toOptions: ({ messages, historyLength, ...changed }) => ({
      ...withoutSettings(options),
      ...toSettings(changed.settings),
      prompt: toPrompt(
        {
          ...changed,
          messages: messages.slice(0, historyLength) as readonly Message[],
          tail: messages.slice(historyLength),
        },
        provider,
        originals,
      ),
      ...toToolOptions(changed, options, tools),
    }),
  };
};

const textOption = (options: ProviderOptions[string] | undefined, name: string): string | undefined => {
  const value = options?.[name];
  return typeof value === 'string' ? value : undefined;
};

const toSystemBlock = ({ content, providerOptions }: LanguageModelV4Message): SystemBlock => {
  const cacheControl = providerOptions?.['anthropic']?.['cacheControl'] as CacheMark | undefined;
  const ttl = cacheControl?.ttl;
  return { text: content as string, ...(cacheControl && { cache: ttl === undefined ? {} : { ttl } }) };
};

const toDefinition = ({
  name,
  description = '',
  inputSchema,
  providerOptions,
}: LanguageModelV4FunctionTool): ToolDefinition => ({
  name,
  description,
  inputSchema: inputSchema as ToolDefinition['inputSchema'],
  ...(providerOptions && { providerOptions }),
});

const settingsOf = (options: LanguageModelV4CallOptions, providerOptions: ProviderOptions): ModelSettings => {
  const settings: Record<string, unknown> = {};
  for (const name of settingNames) if (options[name] !== undefined) settings[name] = options[name];
  if (options.toolChoice) settings['toolChoice'] = fromToolChoice(options.toolChoice);
  if (Object.keys(providerOptions).length > 0) settings['providerOptions'] = providerOptions;
  return settings;
};

const fromToolChoice = (choice: LanguageModelV4ToolChoice): NonNullable<ModelSettings['toolChoice']> =>
  choice.type === 'tool' ? { toolName: choice.toolName } : choice.type;

const withoutSettings = (options: LanguageModelV4CallOptions): Partial<LanguageModelV4CallOptions> => {
  const { providerOptions: _, toolChoice: __, tools: ___, ...rest } = options;
  for (const name of settingNames) delete rest[name];
  return rest;
};

/** Puts provider tools after the function tools if operators changed those; otherwise preserves the order. */
const toToolOptions = (
  { tools, settings }: Pick<HostModelRequest<PromptMessage>, 'tools' | 'settings'>,
  options: LanguageModelV4CallOptions,
  originals: ReadonlyMap<ToolDefinition, LanguageModelV4FunctionTool>,
): Pick<LanguageModelV4CallOptions, 'tools' | 'toolChoice'> => {
  const functionTools = tools.map((tool) => originals.get(tool) ?? toFunctionTool(tool));
  const isUntouched =
    functionTools.length === originals.size &&
    [...originals.values()].every((tool, index) => tool === functionTools[index]);
  const providerTools = (options.tools ?? []).filter(({ type }) => type === 'provider');
  const all = isUntouched ? options.tools : [...functionTools, ...providerTools];
  if (all === undefined || all.length === 0) return {};
  return { tools: all, ...(settings.toolChoice !== undefined && { toolChoice: toToolChoice(settings.toolChoice) }) };
};
