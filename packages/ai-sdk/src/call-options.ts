import type {
  LanguageModelV4CallOptions,
  LanguageModelV4FunctionTool,
  LanguageModelV4ToolChoice,
} from '@ai-sdk/provider';
import { wellFormed, type ModelRequest, type ModelSettings, type ToolDefinition } from '@h/turn';
import { toPrompt } from './prompt.js';
import { optionsMember } from './provider-options.js';

/**
 * A request as the options of a model call.
 *
 * Lone surrogates are replaced: an operator that cut a text in half would make the body invalid for most providers.
 */
export const toCallOptions = (request: ModelRequest, provider: string): LanguageModelV4CallOptions => ({
  prompt: wellFormed(toPrompt(request, provider)),
  ...toSettings(request.settings),
  ...toToolOptions(request),
});

/** The settings under the SDK's names; only those that are set. */
export const toSettings = (settings: ModelSettings): Omit<LanguageModelV4CallOptions, 'prompt'> => {
  const { toolChoice: _, stopSequences, ...rest } = settings;
  const options: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(rest)) if (value !== undefined) options[name] = value;
  if (stopSequences !== undefined) options['stopSequences'] = [...stopSequences];
  return options;
};

/** Without tools there is nothing to choose: some providers refuse a choice then. */
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
