import { AsyncLocalStorage } from 'node:async_hooks';
import {
  type AttachStop,
  bridge,
  checkOperators,
  type HostEvents,
  hostOptionChecks,
  type HostOptions,
  type ModelChoice,
  type TurnStoppedError,
  unknownChoice,
} from '@h/bridge';
import {
  anyFunction,
  anyObject,
  checkOptions,
  instanceOf,
  InvalidOptionError,
  nonEmptyString,
  oneOf,
  required,
} from '@h/options';
import { TurnError, type AssistantPart, type PipelineOperator } from '@h/turn';
import { mayDecide } from '@h/turn/bridge';
import {
  Agent,
  Runner,
  type AgentInputItem,
  type IndividualRunOptions,
  type Model,
  type ModelProvider,
  type NonStreamRunOptions,
  type RunConfig,
  type RunResult,
  RunState,
  type StreamedRunResult,
  type StreamRunOptions,
} from '@openai/agents';
import {
  agentWrapper,
  reachableAgents,
  runWrapper,
  type AgentSeams,
  type AnyAgent,
  type AnyContext,
} from './attach-agent.js';
import { itemFormat, type ItemGroup } from './items.js';
import { PausedAgent } from './paused-agent.js';
import { respond, stream, type ModelCallContext } from './model-call.js';

/** The number of model calls after which the SDK ends a run if `maxTurns` is not set. */
const defaultMaxTurns = 100;
const host = 'the OpenAI Agents SDK';

/** The events of a turn in the runs of the SDK. */
export const attachEvents: HostEvents = {
  'model.request': { support: 'full', as: 'each model call of an agent, with its history, tools and settings' },
  'model.delta': {
    support: 'limited',
    as: '`output_text_delta`; raw events are dropped if an operator changes deltas',
  },
  'model.response': { support: 'full', as: 'the answer; in a stream its text has been emitted: change the deltas' },
  'model.error': { support: 'full', as: 'a failed call; retries work until a stream has emitted text' },
  'tool.call': {
    support: 'full',
    as: '`invoke` of function and MCP tools, and handoffs: a denied handoff ends the run',
  },
  'tool.result': { support: 'full', as: 'the value of `invoke`; errors that the SDK turns to text are failures' },
  'tool.progress': { support: 'limited', as: 'the SDK has no progress of function tools' },
  'approval.request': { support: 'full', as: '`approve`; `needsApproval` of the SDK works beside it' },
  'history.append': { support: 'full', as: 'remembered per session and sent again byte for byte' },
  'history.replace': { support: 'full', as: 'remembered per session; the session of the SDK keeps its own items' },
  'input.received': { support: 'limited', as: 'items that the SDK adds between steps arrive as `history.append`' },
  'turn.continue': { support: 'full', as: 'further model calls within one step' },
  'turn.stop': { support: 'full', as: 'a last answer with the reason, which is the final output' },
};

/** Events of tools that the SDK or the provider runs itself. */
const hostedEvents: HostEvents = {
  'tool.call': { support: 'none', as: 'run without a seam' },
  'tool.result': { support: 'none', as: 'run without a seam' },
};

/** Options of {@link attach}. */
export interface AttachOptions<Given extends AnyAgent = AnyAgent> extends HostOptions {
  /** The agent. It and the agents that it hands over to are cloned, not changed. */
  readonly agent: Given;
  /**
   * The name of the conversation, for runs without a `session` of the SDK.
   *
   * @defaultValue each run is a separate session
   */
  readonly session?: string | undefined;
  /** The settings of the SDK's `Runner`, such as `modelProvider`. */
  readonly runner?: Partial<RunConfig> | undefined;
  /**
   * Returns the model for the model name and the credential id that an operator chose, such as `failover`.
   *
   * @defaultValue the agent's model; a request that names another one is an error
   */
  readonly resolve?: ((choice: ModelChoice) => Model | Promise<Model>) | undefined;
  /**
   * What happens when an operator stops the turn: `'end'` ends the run with an answer that gives the reason, `'error'`
   * rejects with `TurnStoppedError`. An agent with a structured output always rejects.
   *
   * @defaultValue `'end'`
   */
  readonly exitBehavior?: 'end' | 'error' | undefined;
}

type Input<Given extends AnyAgent> = string | AgentInputItem[] | RunState<AnyContext, Given>;

/** What {@link attach} returns. */
export interface Attached<Given extends AnyAgent> {
  /** Runs the agent, as `run()` of the SDK does. The session of the SDK, if given, names the conversation. */
  run<Context = undefined>(
    input: Input<Given>,
    options?: NonStreamRunOptions<Context, Given>,
  ): Promise<RunResult<Context, Given>>;
  run<Context = undefined>(
    input: Input<Given>,
    options: StreamRunOptions<Context, Given>,
  ): Promise<StreamedRunResult<Context, Given>>;
  /** Ends the turn of a session and forgets the session. */
  forget(session: string): void;
}

/** The run in whose asynchronous context the SDK calls models and tools. */
interface Scope {
  readonly session: string;
  /** Identifies the run. */
  readonly run: object;
  /** Names of the function tools that pass through the operators. */
  readonly tools: Set<string>;
  /** Calls of the latest answer, by name. */
  calls: readonly { readonly id: string; readonly name: string }[];
}

/** One for all attached agents, because Node copies the value of each storage to every promise of the process. */
const scopes = new AsyncLocalStorage<ReadonlyMap<object, Scope>>();

/**
 * Puts operators into the runs of an agent of the OpenAI Agents SDK, and of all agents that it hands over to.
 *
 * Each run is one turn. Model calls pass the operators in wrapped models, tool calls in cloned function tools. Histories
 * that operators changed are stored per session; everything else reaches the model unchanged. A call of an unknown tool
 * is answered with an error instead of ending the run. Set `maxRetries` of the OpenAI client to 0, because its retries
 * multiply with those of operators.
 *
 * @throws InvalidOptionError if an option is unknown or has a wrong value
 * @throws UnsupportedOperatorError if an operator needs events that the SDK, or a hosted tool of the agent, does not have
 *
 * @example
 * ```ts
 * const { run } = attach({ agent, session: 'alice' }, guardrails(), loopDetect());
 * const { finalOutput } = await run('Hello');
 * ```
 */
export const attach = <Given extends AnyAgent>(
  options: AttachOptions<Given>,
  ...operators: readonly PipelineOperator[]
): Attached<Given> => {
  checkAttach(options, operators);
  const { agent, runner: config = {}, exitBehavior = 'end', onStop, resolve, effects, approve, maxSessions } = options;
  const isControlFlow = (thrown: unknown): boolean => thrown instanceof PausedAgent;
  const shared = { host, format: itemFormat, effects, approve, isControlFlow, maxSessions };
  const sessions = bridge<ItemGroup>(operators, shared);
  /** Sessions of agents within tool calls that paused for an approval. */
  const paused = new Set<string>();
  const forget = (session: string): void => {
    paused.delete(session);
    sessions.forget(session);
  };
  const owner = {};
  const within = <Result>(session: string, run: () => Result, calls: Scope['calls'] = []): Result =>
    scopes.run(new Map(scopes.getStore()).set(owner, { session, run: {}, tools: new Set(), calls }), run);
  const current = (): Scope => {
    const scope = scopes.getStore()?.get(owner);
    if (scope) return scope;
    throw new TurnError(
      'no-run',
      'An attached agent was called outside of run() of attach(). Call that run() instead.',
    );
  };
  const passesRawEvents = !operators.some((operator) => mayDecide(operator, 'model.delta'));
  const choose: ModelCallContext['choose'] = async ({ model, credential }): Promise<Model | undefined> => {
    if (model === undefined && credential === undefined) return undefined;
    if (resolve) return resolve({ model, credential });
    throw unknownChoice({ model, credential }, 'attach()');
  };
  const callContext = (): ModelCallContext => {
    const scope = current();
    const session = sessions.session(scope.session);
    return {
      session,
      run: scope.run,
      tools: scope.tools,
      choose,
      exitBehavior,
      passesRawEvents,
      onAnswer: (content) => {
        scope.calls = callsIn(content);
      },
      onStop: (stop) => onStop?.(stopOf(session.name, stop)),
    };
  };
  const models = new WeakMap<Model, Model>();
  const wrapModel = (model: Model): Model => {
    const known = models.get(model) ?? attachModel(model, callContext);
    models.set(model, known);
    models.set(known, known);
    return known;
  };
  const seams: AgentSeams = {
    wrapModel,
    session: () => sessions.session(current().session),
    within: async (callId, run) => {
      const session = `${current().session}/${callId}`;
      try {
        const value = await within(session, run);
        forget(session);
        return value;
      } catch (error) {
        if (isControlFlow(error)) paused.add(session);
        else forget(session);
        throw error;
      }
    },
    onTool: (name) => void current().tools.add(name),
    handoffs: new WeakSet(),
    takeCall: (name) => {
      const scope = current();
      const found = scope.calls.find((call) => call.name === name);
      scope.calls = scope.calls.filter((call) => call !== found);
      return found?.id;
    },
  };
  const attached = agentWrapper(seams)(agent) as Given;
  const withSeams = runWrapper(seams);
  const runner = wrapRunner(config, wrapModel);
  const names = new SessionNames(options.session);

  const run = async (input: Input<Given>, given: IndividualRunOptions<AnyContext, Given> = {}): Promise<unknown> => {
    if (given.conversationId !== undefined || given.previousResponseId !== undefined) throw serverHistory();
    const { name, isTemporary } = await names.of(input, given);
    const end = (isInterrupted: boolean, failure?: unknown): void => {
      if (isInterrupted) return;
      sessions.session(name).end('The run has ended.', failure instanceof Error ? failure : undefined);
      for (const nested of paused) if (nested.startsWith(`${name}/`)) forget(nested);
      if (isTemporary) sessions.forget(name);
    };
    // An abort cancels the turn.
    const fail = (error: unknown): void => end(false, given.signal?.aborted === true ? undefined : error);
    const settings = { maxTurns: defaultMaxTurns, ...given } as NonStreamRunOptions<AnyContext, Given>;
    const start = async (): Promise<RunResult<AnyContext, Given>> => {
      const isForeign = input instanceof RunState && !names.isKnown(input);
      return runner.run(attached, isForeign ? await restored(attached, input) : input, settings);
    };
    try {
      const result = await within(name, () => withSeams(start), pendingHandoffs(input));
      names.remember(result.state, name);
      const { completed } = result as unknown as { readonly completed?: Promise<void> };
      if (completed === undefined) end(result.interruptions.length > 0);
      else void completed.then(() => end(result.interruptions.length > 0), fail);
      return result;
    } catch (error) {
      // A run that found its session busy must not end the turn of the run that it met.
      if (!(error instanceof TurnError && error.code === 'session-busy')) fail(error);
      throw error;
    }
  };
  return { run: run as Attached<Given>['run'], forget };
};

/** Rebuilds a state that was restored with the agent itself, whose model and tools do not pass through the operators. */
const restored = async <Given extends AnyAgent>(
  agent: Given,
  state: RunState<AnyContext, Given>,
): Promise<RunState<AnyContext, Given>> => RunState.fromStringWithContext(agent, state.toString(), state._context);

const attachModel = (model: Model, context: () => ModelCallContext): Model => ({
  getResponse: (request) => respond(model, request, context()),
  getStreamedResponse: (request) => stream(model, request, context()),
  ...(model.supportsPromptModelSelection !== undefined && {
    supportsPromptModelSelection: model.supportsPromptModelSelection,
  }),
  ...(model.getRetryAdvice && { getRetryAdvice: model.getRetryAdvice.bind(model) }),
});

/** Creates a runner whose models pass through the operators, and which answers calls of unknown tools. */
const wrapRunner = (config: Partial<RunConfig>, wrapModel: (model: Model) => Model): Runner => {
  const { modelProvider } = new Runner(config).config;
  const provider: ModelProvider = { getModel: async (name) => wrapModel(await modelProvider.getModel(name)) };
  return new Runner({
    toolNotFoundBehavior: 'return_error_to_model',
    ...config,
    modelProvider: provider,
    ...(typeof config.model === 'object' && { model: wrapModel(config.model) }),
  });
};

/** Names the sessions of runs. */
class SessionNames {
  readonly #fixed: string | undefined;
  readonly #states = new WeakMap<object, string>();
  #count = 0;

  constructor(fixed: string | undefined) {
    this.#fixed = fixed;
  }

  async of(
    input: unknown,
    { session }: Pick<IndividualRunOptions<AnyContext, AnyContext>, 'session'>,
  ): Promise<{ readonly name: string; readonly isTemporary: boolean }> {
    const known = typeof input === 'object' && input !== null ? this.#states.get(input) : undefined;
    const name = known ?? (await session?.getSessionId()) ?? this.#fixed;
    return { name: name ?? `run-${(this.#count += 1)}`, isTemporary: name === undefined };
  }

  /** Whether a state comes from a run of the attached agent. */
  isKnown(state: object): boolean {
    return this.#states.has(state);
  }

  /** Remembers the session of a run, which may be resumed after an approval. */
  remember(state: object, name: string): void {
    this.#states.set(state, name);
  }
}

const callsIn = (content: readonly AssistantPart[]): Scope['calls'] =>
  content.flatMap((part) => (part.type === 'tool-call' ? [{ id: part.toolCallId, name: part.toolName }] : []));

/** The handoffs of the answer at which a run paused. The SDK makes them when the run is resumed. */
const pendingHandoffs = (input: unknown): Scope['calls'] =>
  input instanceof RunState
    ? ((input as RunState<AnyContext, AnyAgent>)._lastProcessedResponse?.handoffs ?? []).map(
        ({ toolCall: { callId, name } }) => ({ id: callId, name }),
      )
    : [];

const stopOf = (session: string, { outcome, reason, error }: TurnStoppedError): AttachStop => ({
  session,
  outcome,
  ...(reason !== undefined && { reason }),
  ...(error !== undefined && { error }),
});

const serverHistory = (): TurnError =>
  new TurnError(
    'unsupported-option',
    'run() of attach() does not support `conversationId` and `previousResponseId`, because operators cannot change a history that OpenAI stores. Pass a `session`.',
  );

const checkAttach = <Given extends AnyAgent>(
  options: AttachOptions<Given>,
  operators: readonly PipelineOperator[],
): void => {
  if (options instanceof Agent) {
    throw new InvalidOptionError({
      owner: 'attach()',
      option: 'agent',
      message: 'attach(): the first argument is an agent, but must be options. Pass { agent }.',
    });
  }
  checkOptions('attach()', options, {
    agent: required(instanceOf(Agent, 'an Agent of @openai/agents')),
    session: nonEmptyString,
    runner: anyObject,
    resolve: anyFunction,
    ...hostOptionChecks,
    exitBehavior: oneOf('end', 'error'),
  });
  const { agent, partial } = options;
  const check = { owner: 'attach()', partial };
  const alternative = 'Run the operator in harness({ model, tools })';
  checkOperators(operators, { ...check, host, events: attachEvents, alternative });
  const hosted = [...reachableAgents(agent)].flatMap(({ tools }) => tools.filter(({ type }) => type !== 'function'));
  if (hosted.length === 0) return;
  const names = [...new Set(hosted.map(({ name }) => JSON.stringify(name)))].join(', ');
  checkOperators(operators, {
    ...check,
    host: `tools that ${host} or the provider runs (${names})`,
    events: hostedEvents,
    alternative: 'Replace them by function tools',
  });
};
