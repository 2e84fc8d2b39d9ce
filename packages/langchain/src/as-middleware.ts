import {
  bridge,
  checkOperators,
  type HostArguments,
  type HostEvents,
  type HostModelRequest,
  hostOptionChecks,
  type HostOptions,
  type HostSession,
  type HostToolReturn,
  type ModelChoice,
  splitArguments,
  TurnStoppedError,
  unknownChoice,
} from '@h/bridge';
import { anyFunction, checkOptions, oneOf } from '@h/options';
import { TurnError, type ModelSettings, type SystemBlock, type ToolDefinition, type TurnEnding } from '@h/turn';
import { AIMessage, ToolMessage, type BaseMessage, type SystemMessage } from '@langchain/core/messages';
import { toJsonSchema } from '@langchain/core/utils/json_schema';
import { createMiddleware, type AgentMiddleware } from 'langchain';
import * as z from 'zod';
import { detailsOf, toResponse } from './answer.js';
import { resultIn, withResult } from './commands.js';
import { Interrupts, type CallInterrupts } from './interrupts.js';
import { langchainMessages, outputOf, toAIMessage, toolMessage, toSystemMessage } from './messages.js';
import { RunSessions } from './run-sessions.js';

/** The events of a turn in an agent of LangChain. */
export const middlewareEvents: HostEvents = {
  'model.request': { support: 'full', as: '`wrapModelCall`' },
  'model.delta': { support: 'limited', as: 'not shown: LangChain streams past its middleware' },
  'model.response': { support: 'full', as: '`wrapModelCall`' },
  'model.error': {
    support: 'full',
    as: '`wrapModelCall`; set `maxRetries: 0` on the model, whose retries multiply with those of operators',
  },
  'tool.call': { support: 'full', as: '`wrapToolCall`, for all calls of an answer before the first one runs' },
  'tool.result': {
    support: 'full',
    as: '`wrapToolCall`; in a command that a tool returns, the message with the result',
  },
  'tool.progress': { support: 'limited', as: 'not shown: LangChain streams past its middleware' },
  'approval.request': { support: 'full', as: '`approve`, which may call `interrupt()` of LangGraph' },
  'history.append': { support: 'full', as: 'remembered per thread and sent again byte for byte' },
  'history.replace': { support: 'full', as: 'remembered per thread; the state of the agent keeps its own messages' },
  'turn.continue': { support: 'full', as: 'another model call within the same step' },
  'turn.stop': { support: 'full', as: 'a last message, or an error' },
};

/** Options of {@link asMiddleware}. */
export interface MiddlewareOptions extends HostOptions {
  /**
   * The behavior when an operator stops the turn: `'end'` ends the agent with a message that states the reason,
   * `'error'` rejects with `TurnStoppedError`.
   *
   * @defaultValue `'end'`, as in the limits of LangChain
   */
  readonly exitBehavior?: 'end' | 'error' | undefined;
  /**
   * Returns the model for the model name and the credential that an operator such as `failover` chose.
   *
   * @defaultValue the agent's model; the choice of another model or credential ends the turn with an error
   */
  readonly resolve?: ((choice: ModelChoice) => ModelRequest['model']) | undefined;
}

type Hooks = Required<Pick<AgentMiddleware, 'wrapModelCall' | 'wrapToolCall'>>;
type ModelRequest = Parameters<Hooks['wrapModelCall']>[0];
type ToolRequest = Parameters<Hooks['wrapToolCall']>[0];
type ToolAnswer = Awaited<ReturnType<Hooks['wrapToolCall']>>;
type Command = Exclude<ToolAnswer, ToolMessage>;
type HostTool = ModelRequest['tools'][number];

/**
 * Creates a LangChain middleware from operators. Each `invoke` of the agent is one turn.
 *
 * The thread (`configurable.thread_id`) is the session. Interrupts, commands and aborts pass unchanged; approvals
 * become interrupts if `approve` calls `interrupt()` of LangGraph. A tool that throws is answered with an error
 * message, as without middleware.
 *
 * @param given - options, if the first argument is an object
 * @throws UnsupportedOperatorError if an operator needs events that LangChain does not emit
 *
 * @example
 * ```ts
 * const agent = createAgent({ model, tools, middleware: [asMiddleware(loopDetect(), guardrails({ maxSteps: 40 }))] });
 * ```
 */
export const asMiddleware = (...given: HostArguments<MiddlewareOptions>): AgentMiddleware => {
  const { options, operators } = splitArguments(given);
  checkOptions('asMiddleware()', options, {
    ...hostOptionChecks,
    exitBehavior: oneOf('end', 'error'),
    resolve: anyFunction,
  });
  const { exitBehavior = 'end', resolve, partial, onStop, approve, ...shared } = options;
  checkOperators(operators, {
    owner: 'asMiddleware()',
    host: 'LangChain',
    events: middlewareEvents,
    alternative: 'Run the operator in harness({ model, tools })',
    partial,
  });
  const host = bridge<BaseMessage>(operators, {
    ...shared,
    host: 'LangChain',
    format: langchainMessages,
    isControlFlow: isBubbleUp,
    endsRuns: true,
  });
  const runs = new RunSessions(host);
  const interrupts = new Interrupts(approve);
  const toolNames = new WeakMap<HostSession<BaseMessage>, ReadonlySet<unknown>>();
  return createMiddleware({
    name: 'h',
    stateSchema: z.object({ _hRun: z.string().optional() }),
    // oxlint-disable-next-line h/no-clock -- LangChain has no ids of runs; this one must be unique and nothing else depends on it
    beforeAgent: () => ({ _hRun: crypto.randomUUID() }),
    afterAgent: (state, { configurable }) => {
      const session = host.session(runs.nameOf(runOf(state), configurable));
      const isOwn = (name: string): boolean => toolNames.get(session)?.has(name) === true;
      if (!isContinued(session, state.messages, isOwn)) runs.end(runOf(state), configurable);
    },
    wrapModelCall: (request, handler) => {
      const { state, runtime } = request as ModelRequest;
      const session = host.session(runs.nameOf(runOf(state), runtime.configurable));
      toolNames.set(session, new Set(request.tools.map(({ name }) => name)));
      return callModel(session, request as ModelRequest, handler, { exitBehavior, resolve, onStop });
    },
    wrapToolCall: (request, handler) => {
      const { state, runtime } = request as ToolRequest;
      const session = host.session(runs.nameOf(runOf(state), runtime.configurable));
      return callTool(session, request as ToolRequest, handler, interrupts.of(session, request));
    },
  });
};

const runOf = (state: object): unknown => ('_hRun' in state ? state._hRun : undefined);

/** LangChain also calls `afterAgent` when it has answered an invalid structured output, and then continues the run. */
const isContinued = (
  session: HostSession<BaseMessage>,
  messages: readonly BaseMessage[],
  isOwnTool: (name: string) => boolean,
): boolean => {
  const last = messages.at(-1);
  if (!ToolMessage.isInstance(last) || session.outputOf(last.tool_call_id) !== undefined) return false;
  // Another middleware may have answered the calls of the agent's tools, and ended the run.
  const calls = messages.flatMap((message) => (AIMessage.isInstance(message) ? (message.tool_calls ?? []) : []));
  return !isOwnTool(calls.findLast(({ id }) => id === last.tool_call_id)?.name ?? '');
};

const callModel = async (
  session: HostSession<BaseMessage>,
  request: ModelRequest,
  handler: Parameters<Hooks['wrapModelCall']>[1],
  { exitBehavior, resolve, onStop }: Pick<MiddlewareOptions, 'exitBehavior' | 'resolve' | 'onStop'>,
): Promise<AIMessage> => {
  const { messages, systemMessage, tools, toolChoice, modelSettings, runtime, state } = request;
  const system = systemBlocks(systemMessage);
  const definitions = new Map(tools.map((tool) => [toDefinition(tool), tool]));
  const settings = toSettings(toolChoice, modelSettings);
  /** LangChain rejects a request whose prompt and message both differ from those of the previous attempt. */
  // oxlint-disable-next-line typescript/no-deprecated -- LangChain still compares this member
  let { systemPrompt } = request;
  const withSystem = (changed: readonly SystemBlock[]): Partial<ModelRequest> => {
    if (changed === system) return {};
    const message = toSystemMessage(changed);
    const before = systemPrompt;
    systemPrompt = message.text;
    // oxlint-disable-next-line typescript/no-deprecated -- as above
    return { systemPrompt: before, systemMessage: message };
  };
  const choice = (changed: HostModelRequest<BaseMessage>): Partial<ModelRequest> => {
    const { model, credential } = changed;
    if (model === undefined && credential === undefined) return {};
    if (!resolve) throw unknownChoice({ model, credential }, 'asMiddleware()');
    return { model: resolve({ model, credential }) };
  };
  let answered: AIMessage | StructuredAnswer | undefined;
  const notify = ({ outcome, reason, error }: TurnEnding): void =>
    onStop?.({ session: session.name, outcome, ...(reason !== undefined && { reason }), ...(error && { error }) });
  try {
    const { response, returned, ending } = await session.model<AIMessage | StructuredAnswer>({
      messages,
      system,
      tools: [...definitions.keys()],
      settings,
      run: runOf(state),
      signal: runtime.signal,
      perform: async (changed, { signal }) => {
        const answer: AIMessage | StructuredAnswer = await untilAborted(
          signal,
          handler({
            ...request,
            ...choice(changed),
            messages: [...changed.messages],
            ...withSystem(changed.system),
            tools: changed.tools.map((tool) => toolOf(tool, definitions)),
            ...(changed.settings !== settings && fromSettings(changed.settings)),
          }),
        );
        answered = answer;
        return { response: toResponse(isStructured(answer) ? answer.messages[0] : answer), value: answer };
      },
    });
    if (ending && exitBehavior === 'error') throw new TurnStoppedError(ending);
    if (ending) notify(ending);
    if (isStructured(answered)) {
      if (!returned) throw structureChanged();
      // LangChain has answered the call of the structured output, if any, and ends the run.
      session.end('LangChain received its structured output.');
      return returned.value as AIMessage;
    }
    if (!ending && returned) return returned.value as AIMessage;
    const finish = { finish_reason: response.finishReason, ...(ending && endingMetadata(ending)) };
    return toAIMessage(response.content, { ...detailsOf(response), response_metadata: finish });
  } catch (error) {
    // An operator that failed is no stop, and its error must not pass as an answer.
    if (!(error instanceof TurnStoppedError) || error.outcome === 'error') throw error;
    notify(error);
    if (exitBehavior === 'error') throw error;
    return new AIMessage({
      content: error.reason ?? `The agent was stopped: ${error.outcome}.`,
      response_metadata: endingMetadata(error),
    });
  }
};

/** What LangChain returns for an answer with the structured output of `responseFormat`; its type omits this. */
interface StructuredAnswer {
  readonly structuredResponse: unknown;
  /** The answer of the model, and what LangChain adds to it. */
  readonly messages: readonly [AIMessage, ...BaseMessage[]];
}

const isStructured = (answer: AIMessage | StructuredAnswer | undefined): answer is StructuredAnswer =>
  answer !== undefined && 'structuredResponse' in answer;

const structureChanged = (): TurnError =>
  new TurnError(
    'structured-output-changed',
    'An operator changed or continued an answer after LangChain had read the structured output from it. Remove `responseFormat` from createAgent(), or the operator that changes answers.',
  );

const endingMetadata = ({ outcome, reason }: TurnEnding): { readonly h: object } => ({
  h: { outcome, ...(reason !== undefined && { reason }) },
});

const callTool = async (
  session: HostSession<BaseMessage>,
  request: ToolRequest,
  handler: Parameters<Hooks['wrapToolCall']>[1],
  interrupts: CallInterrupts,
): Promise<ToolAnswer> => {
  const { tool, toolCall, runtime } = request;
  const { id = '', args } = toolCall;
  // Another middleware may have chosen another tool than that of the call.
  const name = typeof tool?.name === 'string' ? tool.name : toolCall.name;
  let command: Command | undefined;
  const { outcome, returned } = await session.tool<ToolAnswer>({
    id,
    name,
    input: args,
    parse: (input) => input,
    signal: runtime.signal,
    approve: interrupts.approve,
    run: async (call) => {
      try {
        await interrupts.replay();
        const input = call.input as typeof args;
        const answer = await handler(input === args ? request : { ...request, toolCall: { ...toolCall, args: input } });
        if (ToolMessage.isInstance(answer)) return returnOf(answer, answer);
        command = answer;
        return returnOf(resultIn(answer, id), answer);
      } catch (error) {
        if (isBubbleUp(error) || runtime.signal?.aborted) throw error;
        const answer = failure(id, name, error);
        return returnOf(answer, answer);
      }
    },
  });
  if (returned) return returned.value;
  const result = toolMessage(id, name, outcome.output);
  if (command === undefined) return result;
  // A command without a result has nothing that the model reads.
  return resultIn(command, id) ? withResult(command, id, result) : command;
};

const returnOf = (result: ToolMessage | undefined, value: ToolAnswer): HostToolReturn<ToolAnswer> => {
  if (!result) return { outcome: { status: 'ok', output: { type: 'text', value: '[Command]' } }, value };
  const output = outputOf(result);
  if (result.status !== 'error') return { outcome: { status: 'ok', output }, value };
  return { outcome: { status: 'failed', output, error: { name: 'Error', message: result.text } }, value };
};

/**
 * Creates the message that LangChain returns for an error of a tool without middleware. With one, it ends the agent.
 */
const failure = (id: string, name: string, error: unknown): ToolMessage =>
  toolMessage(id, name, { type: 'error-text', value: `${String(error)}\n Please fix your mistakes.` });

/** Whether an error is control flow of LangGraph: an interrupt or a command for a parent graph. */
const isBubbleUp = (thrown: unknown): boolean =>
  typeof thrown === 'object' && thrown !== null && (thrown as { is_bubble_up?: unknown }).is_bubble_up === true;

const untilAborted = <Value>(signal: AbortSignal, value: Value | PromiseLike<Value>): Promise<Value> =>
  new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason as Error);
    signal.addEventListener('abort', abort, { once: true });
    Promise.resolve(value)
      .then(resolve, reject)
      .finally(() => signal.removeEventListener('abort', abort));
  });

const systemBlocks = (message: SystemMessage | undefined): readonly SystemBlock[] => {
  if (!message) return [];
  if (typeof message.content === 'string') return message.content === '' ? [] : [{ text: message.content }];
  return message.content.flatMap((block) => (block.type === 'text' ? [{ text: String(block.text) }] : []));
};

const toDefinition = (tool: HostTool): ToolDefinition => {
  const { name, description, schema } = tool as Partial<Record<string, unknown>>;
  const inputSchema: unknown = typeof schema === 'object' && schema !== null ? toJsonSchema(schema) : {};
  return {
    name: typeof name === 'string' ? name : '',
    description: typeof description === 'string' ? description : '',
    inputSchema: inputSchema as ToolDefinition['inputSchema'],
  };
};

const toolOf = (definition: ToolDefinition, tools: ReadonlyMap<ToolDefinition, HostTool>): HostTool => {
  const tool = tools.get(definition) ?? [...tools].find(([{ name }]) => name === definition.name)?.[1];
  if (tool) return tool;
  throw new TurnError(
    'unknown-tool',
    `An operator added the tool ${JSON.stringify(definition.name)} to the request, which the agent does not have. Add it to \`tools\` of createAgent().`,
  );
};

const toSettings = (choice: ModelRequest['toolChoice'], settings: ModelRequest['modelSettings']): ModelSettings => ({
  ...settings,
  ...(choice !== undefined && { toolChoice: typeof choice === 'string' ? choice : { toolName: choice.function.name } }),
});

const fromSettings = ({
  toolChoice,
  ...settings
}: ModelSettings): Pick<ModelRequest, 'toolChoice' | 'modelSettings'> => ({
  modelSettings: settings,
  ...(toolChoice !== undefined && {
    toolChoice:
      typeof toolChoice === 'string'
        ? toolChoice
        : { type: 'function' as const, function: { name: toolChoice.toolName } },
  }),
});
