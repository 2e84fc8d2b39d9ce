import { TurnStoppedError, type HostModelRequest, type HostSession } from '@h/bridge';
import { TurnError, type ModelDelta, type ModelSettings, type ToolDefinition, type TurnEnding } from '@h/turn';
import {
  ContentBlockEvent,
  MaxTokensError,
  Message,
  ModelStreamUpdateEvent,
  TextBlock,
  type AgentStreamEvent,
  type InvokeModelStage,
  type MiddlewareHandlerOf,
  type Model,
} from '@strands-agents/sdk';
import { toResponse, toResult, type Returned, type StageResult } from './answer.js';
import { emitting, readStage } from './emitting.js';
import { alternating, systemBlocks, toSystemPrompt, withCachePoint } from './messages.js';

type Handler = MiddlewareHandlerOf<typeof InvokeModelStage>;
type Context = Parameters<Handler>[0];
type Next = Parameters<Handler>[1];
type ToolSpec = Context['toolSpecs'][number];

/** A model call of Strands. */
export interface ModelStage {
  readonly session: HostSession<Message>;
  /** Messages that Strands wrote. */
  readonly own: WeakSet<Message>;
  /** Identifies the invocation, or its repetition after a failed call. */
  readonly run: unknown;
  readonly choose: (own: Model, choice: Pick<HostModelRequest<Message>, 'model' | 'credential'>) => Model;
  readonly exitBehavior: 'end' | 'error';
  readonly onFailure: () => void;
  readonly onStop: (ending: TurnEnding) => void;
}

/** Calls the model through the operators. */
export const invokeModel = (stage: ModelStage, context: Context, next: Next): ReturnType<Handler> =>
  emitting(async (emit, left) => {
    const { agent, messages, model, systemPrompt, toolSpecs, toolChoice } = context;
    for (const message of messages) stage.own.add(message);
    const system = systemBlocks(systemPrompt);
    const specs = new Map(toolSpecs.map((spec) => [toDefinition(spec), spec]));
    const definitions = [...specs.keys()];
    const settings = toSettings(toolChoice);
    const output = new StreamOutput(context, emit);
    const toContext = (changed: HostModelRequest<Message>, signal: AbortSignal): Context => ({
      ...context,
      model: withSignal(stage.choose(model, changed), signal),
      messages: toMessages(changed, stage.own),
      ...(changed.system !== system && { systemPrompt: toSystemPrompt(changed.system) }),
      toolSpecs: changed.tools.map((tool) => toSpec(tool, specs)),
      ...(changed.settings !== settings && fromSettings(changed.settings)),
    });
    let last: StageResult | undefined;
    try {
      const { response, returned, ending } = await stage.session.model<Returned>({
        messages,
        system,
        tools: definitions,
        settings,
        run: stage.run,
        signal: AbortSignal.any([agent.cancelSignal, left]),
        canRestart: () => !output.hasEmitted,
        onDelta: (delta) => output.delta(delta),
        perform: async (changed, modelContext) => {
          const { signal } = modelContext;
          last = undefined;
          output.begin((delta) => modelContext.onDelta(delta));
          const value = await returnedBy(
            readStage(next(toContext(changed, signal)), signal, (event) => output.take(event)),
          );
          if ('result' in value) last = value.result;
          return { response: toResponse(value), value };
        },
      });
      if (ending && stage.exitBehavior === 'error') throw new TurnStoppedError(ending);
      if (ending) stage.onStop(ending);
      const { value } = returned ?? {};
      if (value && 'truncated' in value) throw value.truncated;
      const result = value?.result ?? toResult(response, last);
      output.end(result.message, value !== undefined);
      return { result: ending ? { ...result, stopReason: ending.outcome } : result };
    } catch (error) {
      if (agent.cancelSignal.aborted) return { result: answer('Cancelled by user', 'cancelled') };
      if (!(error instanceof TurnStoppedError) || error.outcome === 'error') {
        stage.onFailure();
        throw error;
      }
      const { outcome, reason } = error;
      stage.onStop(error);
      if (stage.exitBehavior === 'error') throw error;
      const result = answer(reason ?? `The agent was stopped: ${outcome}.`, outcome);
      result.message.metadata = { custom: { h: { outcome, ...(reason !== undefined && { reason }) } } };
      output.end(result.message, false);
      return { result };
    }
  });

const answer = (text: string, stopReason: string): StageResult => ({
  message: new Message({ role: 'assistant', content: [new TextBlock(text)] }),
  stopReason,
});

const returnedBy = async (stage: Promise<{ readonly result: StageResult }>): Promise<Returned> => {
  try {
    return await stage;
  } catch (error) {
    // Operators decide about a truncated answer; Strands receives the error if they do not change it.
    if (error instanceof MaxTokensError) return { truncated: error };
    throw error;
  }
};

/** Passes the events of a model call on, as they left the operators. */
class StreamOutput {
  /** Whether text has been emitted, which cannot be retracted. */
  hasEmitted = false;
  readonly #context: Context;
  readonly #emit: (event: AgentStreamEvent) => void;
  #onDelta: (delta: ModelDelta) => void = () => undefined;
  #expected: { readonly delta: ModelDelta; readonly event: ModelStreamUpdateEvent } | undefined;
  /** Complete blocks, which wait until the operators have decided about the answer. */
  #blocks: ContentBlockEvent[] = [];
  #call = { toolCallId: '', toolName: '' };

  constructor(context: Context, emit: (event: AgentStreamEvent) => void) {
    this.#context = context;
    this.#emit = emit;
  }

  /** Begins an attempt. */
  begin(onDelta: (delta: ModelDelta) => void): void {
    this.#onDelta = onDelta;
    this.#blocks = [];
  }

  /** Handles an event of the model. */
  take(event: AgentStreamEvent): void {
    if (event instanceof ContentBlockEvent) {
      this.#blocks.push(event);
      return;
    }
    const delta = event instanceof ModelStreamUpdateEvent ? this.#deltaOf(event) : undefined;
    if (!delta) return this.#emit(event);
    this.#expected = { delta, event: event as ModelStreamUpdateEvent };
    return this.#onDelta(delta);
  }

  /** Emits a delta that left the operators. */
  delta(delta: ModelDelta): void {
    this.hasEmitted = true;
    const { agent, invocationState } = this.#context;
    if (this.#expected?.delta === delta) return this.#emit(this.#expected.event);
    const changed =
      delta.type === 'text'
        ? { type: 'textDelta' as const, text: delta.text }
        : delta.type === 'reasoning'
          ? { type: 'reasoningContentDelta' as const, text: delta.text }
          : { type: 'toolUseInputDelta' as const, input: delta.text };
    const event = { type: 'modelContentBlockDeltaEvent' as const, delta: changed };
    return this.#emit(new ModelStreamUpdateEvent({ agent, event, invocationState }));
  }

  /** Emits the blocks of the answer. */
  end({ content }: Message, isUnchanged: boolean): void {
    const { agent, invocationState } = this.#context;
    const blocks = isUnchanged
      ? this.#blocks
      : content.map((contentBlock) => new ContentBlockEvent({ agent, contentBlock, invocationState }));
    for (const block of blocks) this.#emit(block);
  }

  #deltaOf({ event }: ModelStreamUpdateEvent): ModelDelta | undefined {
    if (event.type === 'modelContentBlockStartEvent' && event.start?.type === 'toolUseStart') {
      const { toolUseId: toolCallId, name: toolName } = event.start;
      this.#call = { toolCallId, toolName };
    }
    if (event.type !== 'modelContentBlockDeltaEvent') return undefined;
    const { delta } = event;
    if (delta.type === 'textDelta') return { type: 'text', text: delta.text };
    if (delta.type === 'toolUseInputDelta') return { type: 'tool-input', ...this.#call, text: delta.input };
    return delta.type === 'reasoningContentDelta' && delta.text !== undefined
      ? { type: 'reasoning', text: delta.text }
      : undefined;
  }
}

/** Returns the model with one more signal: Strands passes only the signal of the agent. */
const withSignal = (model: Model, signal: AbortSignal): Model =>
  new Proxy(model, {
    get: (target, key) => {
      if (key === 'streamAggregated') {
        return (messages: Message[], options: Parameters<Model['streamAggregated']>[1] = {}) => {
          const { cancelSignal } = options;
          const signals = cancelSignal ? AbortSignal.any([cancelSignal, signal]) : signal;
          return target.streamAggregated(messages, { ...options, cancelSignal: signals });
        };
      }
      const value: unknown = Reflect.get(target, key, target);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });

const toMessages = (
  { messages, historyLength, cacheMessages }: HostModelRequest<Message>,
  own: WeakSet<Message>,
): Message[] => {
  const marked = messages.map((message, index) =>
    cacheMessages && index === historyLength - 1 ? withCachePoint(message, cacheMessages.ttl) : message,
  );
  return alternating(marked, (message) => own.has(message));
};

const toDefinition = ({ name, description, inputSchema }: ToolSpec): ToolDefinition => ({
  name,
  description,
  inputSchema: (inputSchema ?? {}) as ToolDefinition['inputSchema'],
});

const toSpec = (tool: ToolDefinition, specs: ReadonlyMap<ToolDefinition, ToolSpec>): ToolSpec => {
  const unchanged = specs.get(tool);
  if (unchanged) return unchanged;
  const spec = [...specs.values()].find(({ name }) => name === tool.name);
  if (spec) return { ...spec, description: tool.description, inputSchema: tool.inputSchema };
  throw new TurnError(
    'unknown-tool',
    `An operator added the tool ${JSON.stringify(tool.name)} to the request, which the agent does not have. Add it to \`tools\` of the agent.`,
  );
};

const toSettings = (choice: Context['toolChoice']): ModelSettings => {
  if (!choice) return {};
  if ('tool' in choice) return { toolChoice: { toolName: choice.tool.name } };
  return { toolChoice: 'any' in choice ? 'required' : 'auto' };
};

/** Strands has no choice `none`, so the model may call tools then. */
const fromSettings = ({ toolChoice }: ModelSettings): Pick<Context, 'toolChoice'> => {
  if (toolChoice === undefined) return {};
  if (typeof toolChoice === 'object') return { toolChoice: { tool: { name: toolChoice.toolName } } };
  return { toolChoice: toolChoice === 'required' ? { any: {} } : { auto: {} } };
};
