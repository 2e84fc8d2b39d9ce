import type {
  LanguageModelV4CallOptions,
  LanguageModelV4FunctionTool,
  LanguageModelV4ToolChoice,
} from '@ai-sdk/provider';
import { wellFormed, type ModelRequest, type ModelSettings, type ToolDefinition } from '@h/turn';
import { toPrompt } from './prompt.js';
import { optionsMember } from './provider-options.js';

/**
 * Converts a request to the options of a model call.
 *
 * Replaces lone surrogates, which truncation by an operator can leave and most providers reject.
 */
export const toCallOptions = (request: ModelRequest, provider: string): LanguageModelV4CallOptions => ({
  prompt: wellFormed(toPrompt(request, provider)),
  ...toSettings(request.settings),
  ...toToolOptions(request),
});

/** Converts the settings that are set to the SDK's names. */
export const toSettings = (settings: ModelSettings): Omit<LanguageModelV4CallOptions, 'prompt'> => {
  const { toolChoice: _, stopSequences, ...rest } = settings;
  const options: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(rest)) if (value !== undefined) options[name] = value;
  if (stopSequences !== undefined) options['stopSequences'] = [...stopSequences];
  return options;
};

/** Omits the tool choice without tools, because some providers reject it. */
const toToolOptions = ({ tools, settings }: ModelRequest): Pick<LanguageModelV4CallOptions, 'tools' | 'toolChoice'> =>
  tools.length === 0
    ? {}
    : {
        tools: tools.map(toFunctionTool),
        ...(settings.toolChoice !== undefined && { toolChoice: toToolChoice(settings.toolChoice) }),
      };

export const toFunctionTool = ({
  name,
  description,
  inputSchema,
  providerOptions,
}: ToolDefinition): LanguageModelV4FunctionTool => ({
  type: 'function',
  name,
  description,
  inputSchema,
  ...optionsMember(providerOptions),
});

export const toToolChoice = (choice: NonNullable<ModelSettings['toolChoice']>): LanguageModelV4ToolChoice =>
  typeof choice === 'string' ? { type: choice } : { type: 'tool', toolName: choice.toolName };
