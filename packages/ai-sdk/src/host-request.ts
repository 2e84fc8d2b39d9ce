import type {
  LanguageModelV4CallOptions,
  LanguageModelV4FunctionTool,
  LanguageModelV4Message,
  LanguageModelV4ToolChoice,
} from '@ai-sdk/provider';
import {
  MessageList,
  type CacheMark,
  type Message,
  type ModelRequest,
  type ModelSettings,
  type ProviderOptions,
  type SystemBlock,
  type ToolDefinition,
  type UserMessage,
} from '@h/turn';
import { toFunctionTool, toSettings, toToolChoice } from './call-options.js';
import { toPrompt } from './prompt.js';

/** A host's model call as operators see it, and the way back. */
export interface HostRequest {
  readonly request: ModelRequest;
  /** The session that the host names under `providerOptions.h.session`. */
  readonly session: string | undefined;
  /** The user's messages at the end of the prompt, and all that is before them. */
  readonly input: readonly UserMessage[];
  readonly before: MessageList;
  /** The options of the call that is to be made. What no operator has touched is as the host gave it. */
  toOptions(request: ModelRequest): LanguageModelV4CallOptions;
}

/** The name under which the host speaks to us in its provider options. */
const own = 'h';

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
 * Reads a host's call. System messages at its beginning become system blocks, function tools become definitions.
 *
 * The provider's own tools, the response format and headers have no place in a request; they go to the model as they
 * are.
 */
export const fromCallOptions = (options: LanguageModelV4CallOptions, provider: string): HostRequest => {
  const { [own]: ours, ...providerOptions } = options.providerOptions ?? {};
  const systemLength = options.prompt.findIndex(({ role }) => role !== 'system');
  const split = systemLength < 0 ? options.prompt.length : systemLength;
  const originals = new Map<unknown, LanguageModelV4Message>();
  const tools = new Map<ToolDefinition, LanguageModelV4FunctionTool>();

  const system = options.prompt.slice(0, split).map((message) => {
    const block = toSystemBlock(message);
    originals.set(block, message);
    return block;
  });
  const messages = options.prompt.slice(split);
  for (const message of messages) originals.set(message, message);
  for (const tool of options.tools ?? []) if (tool.type === 'function') tools.set(toDefinition(tool), tool);

  const request: ModelRequest = {
    system,
    messages: MessageList.of(messages as readonly Message[]),
    tail: [],
    tools: [...tools.keys()],
    settings: settingsOf(options, providerOptions),
  };
  const inputStart = messages.findLastIndex(({ role }) => role !== 'user') + 1;

  return {
    request,
    session: typeof ours?.['session'] === 'string' ? ours['session'] : undefined,
    input: messages.slice(inputStart) as readonly UserMessage[],
    before: MessageList.of(messages.slice(0, inputStart) as readonly Message[]),
    toOptions: (changed) => ({
      ...withoutSettings(options),
      ...toSettings(changed.settings),
      prompt: toPrompt(changed, provider, originals),
      ...toToolOptions(changed, options, tools),
    }),
  };
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

/** The provider's own tools follow the function tools, where operators changed these; nothing moves otherwise. */
const toToolOptions = (
  { tools, settings }: ModelRequest,
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
