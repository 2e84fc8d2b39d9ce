import type { HostModelRequest } from '@h/bridge';
import { TurnError, type ModelSettings as TurnSettings, type SystemBlock, type ToolDefinition } from '@h/turn';
import type { ModelRequest } from '@openai/agents';
import { groupItems, type ItemGroup } from './items.js';

/** A model call of the host in the terms of a turn. */
export interface HostCall {
  readonly messages: readonly ItemGroup[];
  readonly system: readonly SystemBlock[];
  readonly tools: readonly ToolDefinition[];
  readonly settings: TurnSettings;
  readonly signal: AbortSignal | undefined;
}

/** Converts a request of the SDK. */
export const hostCall = ({
  input,
  systemInstructions = '',
  tools,
  handoffs,
  modelSettings,
  signal,
}: ModelRequest): HostCall => ({
  messages: groupItems(input),
  system: systemInstructions === '' ? [] : [{ text: systemInstructions }],
  tools: [
    ...tools.flatMap((tool) =>
      tool.type === 'function' ? [definition(tool.name, tool.description, tool.parameters)] : [],
    ),
    ...handoffs.map((given) => definition(given.toolName, given.toolDescription, given.inputJsonSchema)),
  ],
  settings: toTurnSettings(modelSettings),
  signal,
});

const definition = (name: string, description: string, schema: object): ToolDefinition => ({
  name,
  description,
  inputSchema: schema as ToolDefinition['inputSchema'],
});

/** Builds the host's request. What no operator changed keeps its identity. */
export const toHostRequest = (
  request: ModelRequest,
  call: HostCall,
  changed: HostModelRequest<ItemGroup>,
  signal: AbortSignal,
): ModelRequest => {
  const names = new Set(changed.tools.map(({ name }) => name));
  const isSameTools = changed.tools === call.tools;
  for (const name of names) {
    if (call.tools.every((tool) => tool.name !== name)) throw unknownTool(name);
  }
  const order = new Map(changed.tools.map(({ name }, index) => [name, index]));
  const place = (name: string): number => order.get(name) ?? Infinity;
  return {
    ...request,
    signal,
    input: changed.messages.flat(),
    ...(changed.system !== call.system && { systemInstructions: changed.system.map(({ text }) => text).join('\n\n') }),
    ...(changed.settings !== call.settings && {
      modelSettings: toHostSettings(request.modelSettings, changed.settings),
    }),
    ...(!isSameTools && {
      tools: request.tools
        .filter((tool) => tool.type !== 'function' || names.has(tool.name))
        .toSorted((one, other) => place(one.name) - place(other.name)),
      handoffs: request.handoffs.filter(({ toolName }) => names.has(toolName)),
    }),
  };
};

const unknownTool = (name: string): TurnError =>
  new TurnError(
    'unknown-tool',
    `An operator added the tool ${JSON.stringify(name)} to the request, which the agent does not have. Add it to the tools of the agent.`,
  );

type HostSettings = ModelRequest['modelSettings'];

const toTurnSettings = ({
  maxTokens,
  temperature,
  topP,
  presencePenalty,
  frequencyPenalty,
  toolChoice,
  reasoning,
}: HostSettings): TurnSettings => ({
  ...(maxTokens !== undefined && { maxOutputTokens: maxTokens }),
  ...(temperature !== undefined && { temperature }),
  ...(topP !== undefined && { topP }),
  ...(presencePenalty !== undefined && { presencePenalty }),
  ...(frequencyPenalty !== undefined && { frequencyPenalty }),
  ...(toolChoice !== undefined && { toolChoice: isMode(toolChoice) ? toolChoice : { toolName: toolChoice } }),
  ...(reasoning?.effort && { reasoning: reasoning.effort }),
});

const isMode = (choice: string): choice is 'auto' | 'none' | 'required' =>
  choice === 'auto' || choice === 'none' || choice === 'required';

const toHostSettings = (own: HostSettings, changed: TurnSettings): HostSettings => {
  const {
    maxOutputTokens,
    temperature,
    topP,
    presencePenalty,
    frequencyPenalty,
    toolChoice,
    reasoning,
    seed,
    stopSequences,
  } = changed;
  const {
    maxTokens: _1,
    temperature: _2,
    topP: _3,
    presencePenalty: _4,
    frequencyPenalty: _5,
    toolChoice: _6,
    reasoning: { effort: _7, ...otherReasoning } = {},
    ...rest
  } = own;
  const ownReasoning = { ...otherReasoning, ...(reasoning !== undefined && { effort: reasoning }) };
  const extra = { ...(seed !== undefined && { seed }), ...(stopSequences && { stop: [...stopSequences] }) };
  return {
    ...rest,
    ...(maxOutputTokens !== undefined && { maxTokens: maxOutputTokens }),
    ...(temperature !== undefined && { temperature }),
    ...(topP !== undefined && { topP }),
    ...(presencePenalty !== undefined && { presencePenalty }),
    ...(frequencyPenalty !== undefined && { frequencyPenalty }),
    ...(toolChoice !== undefined && { toolChoice: typeof toolChoice === 'string' ? toolChoice : toolChoice.toolName }),
    ...(Object.keys(ownReasoning).length > 0 && { reasoning: ownReasoning }),
    ...(Object.keys(extra).length > 0 && { providerData: { ...own.providerData, ...extra } }),
  };
};
