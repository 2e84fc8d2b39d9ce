import { createRequire } from 'node:module';
import type { LanguageModelV4, LanguageModelV4CallOptions } from '@ai-sdk/provider';
import {
  bridge,
  checkOperators,
  type HostEvents,
  hostOptionChecks,
  type HostOptions,
  type HostSession,
  type TurnStoppedError,
} from '@h/bridge';
import {
  anyArray,
  anyFunction,
  anyOf,
  anyRecord,
  anyValue,
  checkOptions,
  InvalidOptionError,
  nonEmptyString,
  oneOf,
  showValue,
} from '@h/options';
import { repairHistory, TurnError, type Message, type PipelineOperator, type TurnEnding } from '@h/turn';
import { mayDecide } from '@h/turn/bridge';
import type { LanguageModel, ModelMessage, PrepareStepFunction, StepResult, StopCondition, ToolSet } from 'ai';
import { attachTools, withoutMarks } from './attach-tools.js';
import { CallSessions, Runs } from './call-sessions.js';
import { toErrorInfo } from './error-info.js';
import { fromCallOptions, ownOptions, promptFormat, type PromptMessage } from './host-request.js';
import { GuardMark } from './guard-mark.js';
import { generate, stream, type ExitBehavior, type ModelCall } from './model-call.js';
import { fixedModel, modelSource, providerOf, type LanguageModelOptions, type ModelSource } from './model-source.js';
import { isLanguageModel, type AnyLanguageModel } from './model-version.js';

/** The number of steps after which the loop ends if `stopWhen` is not set. */
const defaultMaxSteps = 100;
const host = 'the AI SDK';

/** The events of a turn in the loops of the SDK. */
export const attachEvents: HostEvents = {
  'model.request': { support: 'full', as: 'each model call, with its prompt, tools and settings' },
  'model.delta': {
    support: 'full',
    as: 'parts of a stream with text, reasoning or tool input; all others pass unchanged',
  },
  'model.response': { support: 'full', as: 'the answer; in a stream its text has been emitted: change the deltas' },
  'model.error': { support: 'full', as: 'a failed call; retries work until a stream has emitted something' },
  'tool.call': {
    support: 'full',
    as: '`execute` of a tool; tools that the client or the provider runs are only observed',
  },
  'tool.result': { support: 'full', as: 'the result of `execute`, as `toModelOutput` converts it' },
  'tool.progress': {
    support: 'limited',
    as: 'preliminary results reach the host, each one value later if an operator may change results; operators see the last one',
  },
  'approval.request': { support: 'full', as: '`approve`' },
  'history.append': { support: 'full', as: 'remembered per session and sent again byte for byte' },
  'history.replace': { support: 'full', as: 'remembered per session and sent again byte for byte' },
  'input.received': { support: 'limited', as: 'messages that the host adds between steps arrive as `history.append`' },
  'turn.continue': { support: 'full', as: 'further model calls within one step' },
  'turn.stop': { support: 'full', as: '`stopWhen`, or a last answer with the reason' },
};

/** Events of `toolSearch()`, whose `execute` the SDK replaces in each run. */
const searchEvents: HostEvents = {
  'tool.call': { support: 'none', as: 'run without a seam' },
  'tool.result': { support: 'none', as: 'run without a seam' },
};

const isToolSearch = (tool: object): boolean => Symbol.for('vercel.ai.toolSearch') in tool;

/** Options of {@link attach}. */
export interface AttachOptions<Tools extends ToolSet = ToolSet> extends HostOptions {
  readonly model: AnyLanguageModel;
  /** The tools of the loop. Those without `execute` are returned as they are. */
  readonly tools?: Tools | undefined;
  /**
   * The name of the conversation. One call can name another one with `providerOptions: { h: { session: 'alice' } }`.
   *
   * @defaultValue each `generateText` or `streamText` is a separate session
   */
  readonly session?: string | undefined;
  /**
   * Returns the model for the model name and the credential id that an operator chose, such as `failover`.
   *
   * @defaultValue `model`; a request that names another one is an error
   */
  readonly resolve?: LanguageModelOptions['resolve'] | undefined;
  /**
   * What happens when an operator stops the turn: `'end'` ends the loop, with an answer that gives the reason if a
   * model call was due; `'error'` rejects with `TurnStoppedError`.
   *
   * @defaultValue `'end'`
   */
  readonly exitBehavior?: ExitBehavior | undefined;
  /**
   * Further conditions that end the loop.
   *
   * @defaultValue 100 steps
   */
  readonly stopWhen?: StopCondition<Tools> | readonly StopCondition<Tools>[] | undefined;
  /** Prepares each step; its messages are repaired afterwards. */
  readonly prepareStep?: PrepareStepFunction<Tools> | undefined;
}

/** What {@link attach} returns: the settings of `generateText`, `streamText` and `ToolLoopAgent`. */
export interface Attached<Tools extends ToolSet> {
  readonly model: LanguageModelV4;
  readonly tools: Tools;
  /** Ends the loop if an operator stopped the turn, or if one of the given conditions is met. */
  readonly stopWhen: StopCondition<Tools>;
  /** Begins a turn with the first step, and makes the history valid before the SDK checks it. */
  readonly prepareStep: PrepareStepFunction<Tools>;
  /** Ends the turn of a session and forgets the session. */
  readonly forget: (session: string) => void;
}

/**
 * Puts operators into the loops of the AI SDK: `generateText`, `streamText` and `ToolLoopAgent` of version 7.
 *
 * Each run of the loop is one turn. Model calls pass the operators in a wrapped model, tool calls in wrapped `execute`
 * functions. Histories that operators changed are stored per session; everything else reaches the model unchanged.
 * Set `maxRetries` of the SDK to 0, because its retries multiply with those of operators.
 *
 * @throws InvalidOptionError if an option is unknown or has a wrong value
 * @throws UnsupportedOperatorError if an operator needs events that the SDK does not have
 * @throws TurnError `unsupported-host` if the package `ai` is not of version 7
 *
 * @example
 * ```ts
 * const attached = attach({ model: anthropic('claude-sonnet-4-5'), tools, session: 'alice' }, guardrails(), loopDetect());
 * const { text } = await generateText({ ...attached, prompt: 'Hello', maxRetries: 0 });
 * ```
 */
export const attach = <Tools extends ToolSet = Record<string, never>>(
  options: AttachOptions<Tools>,
  ...operators: readonly PipelineOperator[]
): Attached<Tools> => {
  checkAttach(options);
  const { model, tools = {} as Tools, exitBehavior = 'end', onStop, partial, effects, approve, maxSessions } = options;
  checkOperators(operators, {
    owner: 'attach()',
    host,
    events: attachEvents,
    alternative: 'Run the operator in harness({ model, tools })',
    partial,
  });
  const unwrapped = Object.entries(tools).flatMap(([name, tool]) => (isToolSearch(tool) ? [JSON.stringify(name)] : []));
  if (unwrapped.length > 0) {
    checkOperators(operators, {
      owner: 'attach()',
      host: `toolSearch() of ${host} (${unwrapped.join(', ')})`,
      events: searchEvents,
      alternative: 'Pass all tools without deferLoading',
      partial,
    });
  }
  const format = promptFormat();
  const sessions = bridge<PromptMessage>(operators, {
    host,
    format,
    describeError: toErrorInfo,
    effects,
    approve,
    maxSessions,
  });
  const judgesResults = operators.some((operator) => mayDecide(operator, 'tool.result'));
  const calls = new CallSessions();
  const mark = new GuardMark();
  const runs = new Runs();
  const nameOf = (toolCallId: string | undefined, run: string | undefined): string =>
    calls.sessionOf(toolCallId, run) ?? options.session ?? 'default';
  const sessionOf = (toolCallId: string, run: string | undefined): HostSession<PromptMessage> =>
    sessions.session(nameOf(toolCallId, run));
  const notify = (session: string, { outcome, reason, error }: TurnEnding | TurnStoppedError): void =>
    onStop?.({ session, outcome, ...(reason !== undefined && { reason }), ...(error !== undefined && { error }) });
  const callOf = (call: LanguageModelV4CallOptions, { source, provider, isChosen }: ModelOfStep): ModelCall => {
    const given = withoutMarks(call, tools);
    const request = fromCallOptions(given, provider, format);
    const name = request.session ?? options.session ?? request.run ?? 'default';
    calls.clear(name);
    const session = sessions.session(name);
    return {
      session,
      host: request,
      options: given,
      exitBehavior,
      onAnswer: ({ content }) => calls.add(name, request.run, content),
      onStop: (stopped) => notify(session.name, stopped),
      ...(isChosen ? mark.mark(source) : { source }),
    };
  };
  const attachModel = (own: AnyLanguageModel, isChosen: boolean): LanguageModelV4 => {
    const source = sourceOf(own, options.resolve);
    const ofStep = { source, provider: providerOf(own), isChosen };
    return {
      specificationVersion: 'v4',
      provider: own.provider,
      modelId: own.modelId,
      supportedUrls: ownUrls(own),
      doGenerate: async (call) =>
        mark.isOn(call) ? (await source({})).doGenerate(mark.off(call)) : generate(callOf(call, ofStep)),
      doStream: async (call) =>
        mark.isOn(call) ? (await source({})).doStream(mark.off(call)) : stream(callOf(call, ofStep)),
    };
  };
  const attached = attachModel(model, false);
  return {
    model: attached,
    tools: attachTools(
      tools,
      (toolCallId, messages) => {
        const run = runs.get(messages);
        return { session: sessionOf(toolCallId, run), isOfRun: run !== undefined };
      },
      judgesResults,
    ),
    stopWhen: stopCondition(options, async (steps) => {
      const name = nameOf(steps.at(-1)?.toolCalls[0]?.toolCallId, runs.get(steps));
      const session = sessions.session(name);
      const ending = await session.stopped();
      // The next model call rejects with a failure, and with every stop if the host asks for errors.
      const isStopped = ending !== undefined && ending.outcome !== 'error' && exitBehavior === 'end';
      if (isStopped) notify(session.name, ending);
      return { isStopped, session };
    }),
    prepareStep: stepPreparation(options, runs, sessionOf, (own) =>
      isAround(own, attached) ? own : attachModel(checkedModel('prepareStep()', own), true),
    ),
    forget: (session) => {
      calls.clear(session);
      sessions.forget(session);
    },
  };
};

/** The model of a step: the one of the options, unless the host chose another one for the step or the run. */
interface ModelOfStep {
  readonly source: ModelSource;
  readonly provider: string;
  /** Whether the host chose the model, which may call the attached one. */
  readonly isChosen: boolean;
}

/** Returns the URLs of a model in an object by which {@link isAround} recognizes the models around an attached one. */
const ownUrls = ({ supportedUrls }: AnyLanguageModel): Promise<Record<string, RegExp[]>> => {
  const urls = Promise.resolve().then(() => supportedUrls);
  // The SDK may read them later, or never.
  urls.catch(() => undefined);
  return urls;
};

/** Whether a model is the attached one, or a middleware of the SDK around it: what that adds passes the operators. */
const isAround = (model: LanguageModel, { supportedUrls }: LanguageModelV4): boolean =>
  isLanguageModel(model) && model.supportedUrls === supportedUrls;

const sourceOf = (model: AnyLanguageModel, resolve: AttachOptions['resolve']): ModelSource => {
  const own = fixedModel(model);
  if (!resolve) return own;
  const chosen = modelSource({ resolve });
  return (choice) => (choice.model === undefined && choice.credential === undefined ? own(choice) : chosen(choice));
};

const stopCondition =
  <Tools extends ToolSet>(
    { stopWhen = ({ steps }) => steps.length >= defaultMaxSteps }: AttachOptions<Tools>,
    check: (
      steps: readonly StepResult<Tools>[],
    ) => Promise<{ readonly isStopped: boolean; readonly session: HostSession<PromptMessage> }>,
  ): StopCondition<Tools> =>
  async (given) => {
    const { isStopped, session } = await check(given.steps);
    if (isStopped) return true;
    const conditions = typeof stopWhen === 'function' ? [stopWhen] : stopWhen;
    const isMet = (await Promise.all(conditions.map(async (condition) => condition(given)))).includes(true);
    if (isMet) session.end('A stop condition of the host was met.');
    return isMet;
  };

/** Names the run, and repairs the history: the SDK rejects calls without a result before it calls the model. */
const stepPreparation = <Tools extends ToolSet>(
  { prepareStep }: AttachOptions<Tools>,
  runs: Runs,
  sessionOf: (toolCallId: string, run: string) => HostSession<PromptMessage>,
  guarded: (model: LanguageModel) => LanguageModel,
): PrepareStepFunction<Tools> => {
  return async (options) => {
    const { stepNumber, steps, messages: given } = options;
    const known = stepNumber === 0 ? undefined : runs.get(steps);
    // oxlint-disable-next-line h/no-clock -- the SDK gives runs no ids; this one must be unique and nothing else depends on it
    const run = known ?? crypto.randomUUID();
    runs.set(steps, run);
    const own = await prepareStep?.(options);
    const before = own?.messages ?? given;
    const { messages: repaired, repairs } = repairHistory(before as readonly Message[]);
    const missing = new Set(
      repairs.flatMap(({ problem, toolCallId = '' }) => (problem === 'missing-result' ? [toolCallId] : [])),
    );
    // A copy, because `prepareStep` of the host may return the same array in several runs.
    const messages =
      repairs.length === 0
        ? [...before]
        : (repaired.map((message) => withOutputs(message, missing, (id) => sessionOf(id, run))) as ModelMessage[]);
    runs.set(messages, run);
    return {
      ...own,
      model: guarded(own?.model ?? options.model),
      providerOptions: { ...own?.providerOptions, [ownOptions]: { ...own?.providerOptions?.[ownOptions], run } },
      messages,
    };
  };
};

/** Adds the outputs of the turn to calls that have no result in the host's history. */
const withOutputs = (
  message: Message,
  missing: ReadonlySet<string>,
  sessionOf: (toolCallId: string) => HostSession<PromptMessage>,
): Message =>
  message.role === 'tool' && missing.size > 0
    ? {
        ...message,
        content: message.content.map((part) => {
          if (part.type !== 'tool-result' || !missing.has(part.toolCallId)) return part;
          const output = sessionOf(part.toolCallId).outputOf(part.toolCallId);
          return output ? { ...part, output } : part;
        }),
      }
    : message;

const checkAttach = <Tools extends ToolSet>(options: AttachOptions<Tools>): void => {
  if (typeof options === 'string' || isLanguageModel(options)) {
    const message = `attach(): the first argument is a model. Pass it as an option: attach({ model }, …).`;
    throw new InvalidOptionError({ owner: 'attach()', option: 'model', message });
  }
  checkOptions('attach()', options, {
    model: anyValue,
    tools: anyRecord,
    session: nonEmptyString,
    resolve: anyFunction,
    ...hostOptionChecks,
    exitBehavior: oneOf('end', 'error'),
    stopWhen: anyOf(anyFunction, anyArray),
    prepareStep: anyFunction,
  });
  checkedModel('attach()', options.model);
  checkVersion(installedVersion());
};

const checkedModel = (owner: string, model: unknown): AnyLanguageModel => {
  if (isLanguageModel(model)) return model;
  throw new InvalidOptionError({
    owner,
    option: 'model',
    message: `${owner}: model must be a model of the AI SDK, but is ${showValue(model)}. Create one with its provider, such as anthropic('claude-sonnet-4-5').`,
  });
};

/** @throws TurnError `unsupported-host` if the package `ai` is not of version 7 */
export const checkVersion = (version: string | undefined): void => {
  if (version === undefined || version.startsWith('7.')) return;
  throw new TurnError(
    'unsupported-host',
    `attach() needs version 7 of the package "ai", but ${version} is installed. Run: npm install ai@7`,
  );
};

/** Returns the version of the package `ai`; `undefined` in a bundle, which has no packages. */
const installedVersion = (): string | undefined => {
  try {
    return (createRequire(import.meta.url)('ai/package.json') as { readonly version: string }).version;
  } catch {
    return undefined;
  }
};
