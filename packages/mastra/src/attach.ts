import { promptFormat, providerOf, toErrorInfo, type PromptMessage } from '@h/ai-sdk/bridge';
import {
  bridge,
  checkOperators,
  type HostArguments,
  type HostEvents,
  hostOptionChecks,
  type HostOptions,
  type ModelChoice,
  splitArguments,
  unknownChoice,
} from '@h/bridge';
import { anyFunction, checkOptions, InvalidOptionError, oneOf, showValue } from '@h/options';
import type { PipelineOperator, TurnEnding } from '@h/turn';
import { mayDecide } from '@h/turn/bridge';
import type { MastraLanguageModel } from '@mastra/core/agent';
import { resolveModelConfig, type MastraModelConfig } from '@mastra/core/llm';
import type { Processor } from '@mastra/core/processors';
import { MASTRA_THREAD_ID_KEY } from '@mastra/core/request-context';
import type { ToolHooks } from '@mastra/core/tools';
import { stepModel, type Step } from './step-model.js';
import { agentTools, idOf, Suspended, stepTools, type Invocation, PassedCalls } from './step-tools.js';
import { toolHooks } from './tool-hooks.js';

const host = 'Mastra';

/** The events of a turn in an agent of Mastra. */
export const attachEvents: HostEvents = {
  'model.request': { support: 'full', as: 'the model of each step, which `processInputStep` wraps' },
  'model.delta': { support: 'full', as: 'parts of `stream()` with text, reasoning or tool input' },
  'model.response': { support: 'full', as: 'the answer; with `stream()` its text has been emitted: change the deltas' },
  'model.error': {
    support: 'full',
    as: "a failed call; Mastra's own retries are off if an operator decides about it",
  },
  'tool.call': {
    support: 'full',
    as: '`execute` of every tool; tools of the client or the provider are only observed',
  },
  'tool.result': { support: 'full', as: 'the result of `execute`, also if it throws' },
  'tool.progress': { support: 'limited', as: 'what a tool writes reaches the client unchanged' },
  'approval.request': { support: 'full', as: 'a suspended run, which `approveToolCall` or `declineToolCall` resumes' },
  'history.append': {
    support: 'full',
    as: 'remembered per thread and sent again byte for byte; not added to the memory',
  },
  'history.replace': { support: 'full', as: 'remembered per thread and sent again byte for byte; the memory is kept' },
  'turn.continue': { support: 'full', as: 'further model calls within one step' },
  'turn.stop': { support: 'full', as: 'a last answer, a tripwire or an error' },
};

/** Options of {@link attach}. */
export interface AttachOptions extends HostOptions {
  /**
   * Requests the approval of a person.
   *
   * @defaultValue suspends the run until `approveToolCall()` or `declineToolCall()`
   */
  readonly approve?: HostOptions['approve'];
  /**
   * Returns the model for the model name and the credential id that an operator such as `failover` chose: anything that
   * Mastra accepts as `model`.
   *
   * @defaultValue the agent's model; the choice of another model or credential is an error
   */
  readonly resolve?: ((choice: ModelChoice) => MastraModelConfig | Promise<MastraModelConfig>) | undefined;
  /**
   * What happens when an operator stops the turn: `'end'` ends the run with an answer that gives the reason, `'tripwire'`
   * as `abort()` of a processor does, after which the memory lacks the messages of the run, `'error'` with
   * `TurnStoppedError`.
   *
   * @defaultValue `'end'`
   */
  readonly exitBehavior?: 'end' | 'tripwire' | 'error' | undefined;
}

/** What {@link attach} adds to the settings of an agent. */
export interface Attached {
  readonly inputProcessors: never[];
  readonly outputProcessors: never[];
  readonly hooks: ToolHooks;
  /** Ends the turn of a thread and forgets its state. */
  readonly forget: (thread: string) => void;
}

/**
 * Adds operators to the settings of a Mastra agent.
 *
 * Each `generate()` or `stream()` is one turn, and the thread of its memory is the session; a run without a thread is a
 * separate session. A processor wraps the model and the tools of every step, whichever way the agent obtains them, and
 * tool hooks judge the calls of runs that were suspended in another process. Histories that operators changed are stored
 * per thread and never written to the memory.
 *
 * @param settings - the settings of the agent
 * @param given - options, if the first argument is an object, then operators
 * @throws InvalidOptionError if an option is unknown or has a wrong value
 * @throws UnsupportedOperatorError if an operator needs events that Mastra does not have
 *
 * @example
 * ```ts
 * const agent = new Agent(attach({ id: 'coder', name: 'Coder', instructions, model, tools }, loopDetect(), guardrails()));
 * ```
 */
export const attach = <Settings extends object>(
  settings: Settings,
  ...given: HostArguments<AttachOptions>
): Settings & Attached => {
  const { options, operators } = splitArguments(given);
  check(settings, options, operators);
  const { exitBehavior = 'end', resolve, onStop, approve, effects, maxSessions } = options;
  const format = promptFormat();
  const sessions = bridge<PromptMessage>(operators, {
    host,
    format,
    effects,
    approve,
    maxSessions,
    describeError: toErrorInfo,
    isControlFlow: (thrown) => thrown instanceof Suspended,
    endsRuns: true,
  });
  const open = new Set<string>();
  const direct = new Set<string>();
  const passed = new PassedCalls();
  const runs = new WeakMap<object, { stopped?: TurnEnding; run: Step['run']; session?: Step['session'] }>();
  let runCount = 0;
  const ownsRetries = operators.some((operator) => mayDecide(operator, 'model.error'));
  const processor: Processor = {
    id: 'h',
    name: 'h',
    processInputStep: ({ model, tools = {}, modelSettings, requestContext, state }) => {
      const current = runs.get(state) ?? { run: { id: `run ${(runCount += 1)}`, failures: 0 } };
      runs.set(state, current);
      const name = threadOf(requestContext) ?? current.run.id;
      const session = sessions.session(name);
      current.session = session;
      const step: Step = {
        session,
        run: current.run,
        format,
        exitBehavior,
        choose: ({ model: other, credential }) => chosenModel(model, { model: other, credential }, resolve),
        onStop: (stopped) => {
          current.stopped = stopped;
          const { outcome, reason, error } = stopped;
          onStop?.({
            session: session.name,
            outcome,
            ...(reason !== undefined && { reason }),
            ...(error && { error }),
          });
        },
      };
      return {
        model: stepModel(model, step) as unknown as MastraLanguageModel,
        tools: stepTools(tools, { session, approve, open, passed }),
        ...(ownsRetries && { modelSettings: { ...modelSettings, maxRetries: 0 } }),
      };
    },
    processLLMResponse: ({ state, abort }) => {
      const { stopped } = runs.get(state) ?? {};
      if (!stopped || exitBehavior !== 'tripwire') return;
      const { outcome, reason } = stopped;
      abort(reason ?? `The agent was stopped: ${outcome}.`, { metadata: { h: { outcome, reason } } });
    },
  };
  /** Ends the turn of a run that ends after a tool call, such as at its limit of steps. Mastra skips it in a pause. */
  const ending: Processor = {
    id: processor.id,
    name: processor.id,
    processOutputResult: ({ state, messages }) => {
      runs.get(state)?.session?.end('Mastra ended the run.');
      return messages;
    },
  };
  const own = settings as {
    readonly inputProcessors?: unknown;
    readonly outputProcessors?: unknown;
    readonly hooks?: ToolHooks;
    readonly tools?: unknown;
  };
  const sessionOf = (invocation: Invocation): ReturnType<typeof sessions.session> =>
    sessions.session(threadOf(invocation.requestContext) ?? `call ${idOf(invocation) ?? ''}`);
  const wrapTools = (tools: Readonly<Record<string, unknown>>): Record<string, unknown> =>
    agentTools(tools, passed, (invocation) => ({ session: sessionOf(invocation), approve, open: direct, passed }));
  return {
    ...settings,
    ...(own.tools !== undefined && { tools: withTools(own.tools, wrapTools) }),
    inputProcessors: withProcessor(own.inputProcessors, processor) as never[],
    outputProcessors: withProcessor(own.outputProcessors, ending) as never[],
    hooks: toolHooks({ approve, open, passed, sessionOf, own: own.hooks }),
    forget: (thread) => sessions.forget(thread),
  };
};

/** Returns the processors of the agent, which may be a function, with ours as the last one. */
const withProcessor = (own: unknown, processor: Processor): unknown => {
  if (typeof own !== 'function') return [...((own as readonly unknown[] | undefined) ?? []), processor];
  return async (...given: readonly unknown[]) => [
    ...((await (own as (...given: readonly unknown[]) => unknown)(...given)) as readonly unknown[]),
    processor,
  ];
};

/** Returns the tools of the agent, which may be a function, with every `execute` wrapped. */
const withTools = (own: unknown, wrap: (tools: Readonly<Record<string, unknown>>) => unknown): unknown =>
  typeof own === 'function'
    ? async (...given: readonly unknown[]) =>
        wrap((await (own as (...given: readonly unknown[]) => unknown)(...given)) as never)
    : wrap(own as never);

/** Returns the thread of the agent's memory, which Mastra puts into the context of a run, or the one of a server. */
const threadOf = (context: { get(key: string): unknown } | undefined): string | undefined => {
  const memory = context?.get('MastraMemory') as { readonly thread?: { readonly id?: string } } | undefined;
  const id = memory?.thread?.id ?? context?.get(MASTRA_THREAD_ID_KEY);
  return typeof id === 'string' ? id : undefined;
};

const chosenModel = async (
  own: MastraLanguageModel,
  { model, credential }: ModelChoice,
  resolve: AttachOptions['resolve'],
): Promise<MastraLanguageModel | undefined> => {
  const isOwn = model === undefined || model === own.modelId || model === `${providerOf(own)}/${own.modelId}`;
  if (isOwn && credential === undefined) return undefined;
  if (!resolve) throw unknownChoice({ model, credential }, 'attach()');
  return (await resolveModelConfig(await resolve({ model, credential }))) as MastraLanguageModel;
};

const check = (settings: object, options: AttachOptions, operators: readonly PipelineOperator[]): void => {
  // Settings that an agent has taken over are private to it.
  if (typeof settings !== 'object' || settings === null || !('model' in settings) || 'generate' in settings) {
    throw new InvalidOptionError({
      owner: 'attach()',
      option: 'settings',
      message: `attach(): the first argument must be the settings of an agent with a model, but is ${showValue(settings)}. Pass what new Agent() accepts.`,
    });
  }
  checkOptions('attach()', options, {
    ...hostOptionChecks,
    resolve: anyFunction,
    exitBehavior: oneOf('end', 'tripwire', 'error'),
  });
  checkOperators(operators, {
    owner: 'attach()',
    host,
    events: attachEvents,
    alternative: 'Run the operator in harness({ model, tools })',
    partial: options.partial,
  });
};
