import type { HostModelCall, HostModelRequest } from '@h/bridge';
import { TurnError, type JSONObject, type ModelSettings, type SystemBlock, type ToolDefinition } from '@h/turn';
import {
  getCurrentTools,
  getInitialSystemMessage,
  getSystemMessageText,
  normalizeContext,
  renderSystemMessageUpdate,
  withoutInitialSystemMessage,
  type Message,
  type SimpleStreamOptions,
  type SystemMessage,
  type Tool,
  type TranscriptContext,
} from '@earendil-works/pi-ai';

/** A request of pi in the form for operators, and its conversion back. */
export interface PiRequest {
  readonly call: Required<Pick<HostModelCall<Message>, 'messages' | 'system' | 'tools' | 'settings'>>;
  /** Returns the transcript for the model: the one of pi if no operator changed it. */
  toContext(changed: HostModelRequest<Message>): TranscriptContext;
  /** Returns the options for the model. */
  toOptions(changed: HostModelRequest<Message>): SimpleStreamOptions;
}

/**
 * Converts a request of pi.
 *
 * The leading system message becomes the system prompt; tools are those that the transcript declares by then. Answers
 * that failed or were aborted are omitted, because providers of pi do not send them either.
 */
export const fromRequest = (context: TranscriptContext, options: SimpleStreamOptions): PiRequest => {
  const leading = getInitialSystemMessage(context.messages);
  const text = leading ? getSystemMessageText(leading) : '';
  const system: readonly SystemBlock[] = text === '' ? [] : [{ text }];
  const messages = withoutInitialSystemMessage(context.messages).filter(isSent);
  const definitions = new Map(getCurrentTools(context.messages).map((tool) => [toDefinition(tool), tool]));
  const tools = [...definitions.keys()];
  const settings = toSettings(options);

  const isGiven = (changed: HostModelRequest<Message>): boolean =>
    changed.system === system && isSame(changed.tools, tools) && isSame(changed.messages, messages);
  return {
    call: { messages, system, tools, settings },
    toContext: (changed) => {
      if (isGiven(changed)) return context;
      const toolsAdded = changed.tools.map((tool) => toolOf(tool, definitions));
      const head = headOf(changed.system === system ? leading : textMessage(changed.system, leading), toolsAdded);
      return normalizeContext({ messages: [...head, ...changed.messages.map(withoutTools)] });
    },
    toOptions: (changed) => ({
      ...options,
      ...(changed.settings !== settings && fromSettings(changed.settings, settings)),
      ...(isLongCached(changed) && options.cacheRetention === undefined && { cacheRetention: 'long' }),
    }),
  };
};

const isSame = <Item>(items: readonly Item[], others: readonly Item[]): boolean =>
  items.length === others.length && items.every((item, index) => item === others[index]);

const isSent = (message: Message): boolean => {
  if (message.role === 'system') return renderSystemMessageUpdate(message) !== '';
  return message.role !== 'assistant' || (message.stopReason !== 'error' && message.stopReason !== 'aborted');
};

const toDefinition = ({ name, description, parameters }: Tool): ToolDefinition => ({
  name,
  description,
  inputSchema: parameters as unknown as JSONObject,
});

const toolOf = (definition: ToolDefinition, tools: ReadonlyMap<ToolDefinition, Tool>): Tool => {
  const own = tools.get(definition);
  if (own) return own;
  const named = [...tools.values()].find(({ name }) => name === definition.name);
  if (named) {
    const { description, inputSchema } = definition;
    return { ...named, description, parameters: inputSchema };
  }
  throw new TurnError(
    'unknown-tool',
    `An operator added the tool ${JSON.stringify(definition.name)} to the request, which the agent does not have. Add it to \`tools\` of attach().`,
  );
};

const textMessage = (system: readonly SystemBlock[], leading: SystemMessage | undefined): SystemMessage => ({
  role: 'system',
  content: system.map(({ text }) => text).join('\n\n'),
  timestamp: leading?.timestamp ?? 0,
});

const headOf = (message: SystemMessage | undefined, toolsAdded: Tool[]): readonly SystemMessage[] => {
  const { toolsAdded: _, ...head } = message ?? { role: 'system' as const, content: '', timestamp: 0 };
  if (toolsAdded.length > 0) return [{ ...head, toolsAdded }];
  return message ? [head] : [];
};

/** Removes the declarations of tools from a later system message: the leading one declares all of them. */
const withoutTools = (message: Message): Message => {
  if (message.role !== 'system') return message;
  const { toolsAdded: _, toolsRemoved: __, ...rest } = message;
  return rest;
};

const isLongCached = ({ system, cacheMessages }: HostModelRequest<Message>): boolean =>
  cacheMessages?.ttl === '1h' || system.some(({ cache }) => cache?.ttl === '1h');

const toSettings = ({ temperature, maxTokens, reasoning, toolChoice }: SimpleStreamOptions): ModelSettings => ({
  ...(temperature !== undefined && { temperature }),
  ...(maxTokens !== undefined && { maxOutputTokens: maxTokens }),
  ...(reasoning !== undefined && { reasoning }),
  ...(toolChoice !== undefined && { toolChoice }),
});

/** Converts the settings that an operator changed. */
const fromSettings = (changed: ModelSettings, given: ModelSettings): SimpleStreamOptions => {
  const options: SimpleStreamOptions = {};
  for (const name of Object.keys({ ...given, ...changed }) as (keyof ModelSettings)[]) {
    if (changed[name] === given[name]) continue;
    switch (name) {
      case 'temperature':
        Object.assign(options, { temperature: changed.temperature });
        break;
      case 'maxOutputTokens':
        Object.assign(options, { maxTokens: changed.maxOutputTokens });
        break;
      case 'reasoning':
        Object.assign(options, { reasoning: changed.reasoning === 'none' ? undefined : changed.reasoning });
        break;
      case 'toolChoice':
        Object.assign(options, { toolChoice: choiceOf(changed.toolChoice) });
        break;
      default:
        throw unsupportedSetting(name, changed[name]);
    }
  }
  return options;
};

const choiceOf = (choice: ModelSettings['toolChoice']): SimpleStreamOptions['toolChoice'] => {
  if (choice === undefined || choice === 'auto' || choice === 'none') return choice;
  throw unsupportedSetting('toolChoice', choice);
};

const unsupportedSetting = (name: string, value: unknown): TurnError =>
  new TurnError(
    'unsupported-setting',
    `An operator set ${name} to ${JSON.stringify(value)}, which requests of pi cannot express. Set it in \`samplingParams\` or \`onPayload\` of the model of pi.`,
  );
