import {
  bridge,
  checkOperators,
  describeError,
  type HostArguments,
  type HostEvents,
  hostOptionChecks,
  type HostOptions,
  type ModelChoice,
  splitArguments,
  unknownChoice,
} from '@h/bridge';
import { anyFunction, checkOptions, oneOf } from '@h/options';
import { TurnError, type ErrorInfo, type PipelineOperator, type TurnEnding } from '@h/turn';
import {
  AgentResultEvent,
  ExecuteToolStage,
  InvokeModelStage,
  ModelThrottledError,
  type Agent,
  type LocalAgent,
  type Message,
  type Model,
  type Plugin,
} from '@strands-agents/sdk';
import { messageFormat } from './messages.js';
import { invokeModel } from './model-stage.js';
import { executeTool, isInterrupt } from './tool-stage.js';

const host = 'Strands';

/** The events of a turn in an agent of Strands. */
export const pluginEvents: HostEvents = {
  'model.request': {
    support: 'full',
    as: '`InvokeModelStage`; of the settings, the tool choice: all others belong to the model',
  },
  'model.delta': { support: 'full', as: 'stream events with text, reasoning or tool input' },
  'model.response': { support: 'full', as: 'the result of the stage; its text has been emitted: change the deltas' },
  'model.error': {
    support: 'full',
    as: 'an error of the stage; retries work until text has been emitted; set `retryStrategy: null` on the agent',
  },
  'tool.call': { support: 'full', as: '`ExecuteToolStage`, for all calls of an answer before the first one runs' },
  'tool.result': { support: 'full', as: 'the result of the stage' },
  'tool.progress': { support: 'limited', as: 'stream events of tools reach the host unchanged' },
  'approval.request': { support: 'full', as: 'an interrupt, which `interruptResponse` answers' },
  'history.append': { support: 'full', as: 'remembered per session and sent again byte for byte' },
  'history.replace': { support: 'full', as: 'remembered per session; the agent keeps its own messages' },
  'turn.continue': { support: 'full', as: 'another model call within the same cycle' },
  'turn.stop': { support: 'full', as: 'a last message with the outcome as `stopReason`, or an error' },
};

/** Options of {@link asPlugin}. */
export interface PluginOptions extends HostOptions {
  /**
   * Requests the approval of a person.
   *
   * @defaultValue interrupts the agent; its next invocation brings the decision as `interruptResponse`
   */
  readonly approve?: HostOptions['approve'];
  /**
   * Returns the model for the model name and the credential id that an operator such as `failover` chose.
   *
   * @defaultValue the agent's model; the choice of another model or credential is an error
   */
  readonly resolve?: ((choice: ModelChoice) => Model) | undefined;
  /**
   * What happens when an operator stops the turn: `'end'` ends the invocation with a message that states the reason and
   * the outcome as `stopReason`, `'error'` rejects with `TurnStoppedError`.
   *
   * @defaultValue `'end'`
   */
  readonly exitBehavior?: 'end' | 'error' | undefined;
}

/** A plugin of Strands with operators. */
export interface OperatorPlugin extends Plugin {
  /** Ends the turn of a session and forgets its state. */
  forget(session: string): void;
}

/**
 * Creates a plugin for agents of Strands from operators. Each invocation of an agent is one turn.
 *
 * The session of the agent (`sessionId`) is the session, so several agents can share a plugin. Interrupts of tools and
 * cancellation pass unchanged.
 *
 * @param given - options, if the first argument is an object, then operators
 * @throws InvalidOptionError if an option is unknown or has a wrong value
 * @throws UnsupportedOperatorError if an operator needs events that Strands does not have
 *
 * @example
 * ```ts
 * const agent = new Agent({ model, tools, plugins: [asPlugin(loopDetect(), guardrails({ maxSteps: 40 }))] });
 * ```
 */
export const asPlugin = (...given: HostArguments<PluginOptions>): OperatorPlugin => {
  const { options, operators } = splitArguments(given);
  check(options, operators);
  const { exitBehavior = 'end', resolve, onStop, approve, effects, maxSessions } = options;
  const sessions = bridge<Message>(operators, {
    host,
    format: messageFormat,
    effects,
    maxSessions,
    describeError: describeFailure,
    isControlFlow: isInterrupt,
    endsRuns: true,
  });
  /** The turn of each invocation. A call that Strands repeats after a failure begins a new turn. */
  const runs = new WeakMap<object, object>();
  const own = new WeakSet<Message>();
  return {
    name: 'h',
    forget: (session) => sessions.forget(session),
    initAgent: (agent) => {
      const { addMiddleware } = agent as Partial<Agent>;
      if (addMiddleware === undefined) throw noMiddleware(agent);
      const add = addMiddleware.bind(agent as Agent);
      add(InvokeModelStage, (context, next) => {
        const { invocationState } = context;
        const run = runs.get(invocationState) ?? {};
        runs.set(invocationState, run);
        const session = sessions.session(agent.sessionId);
        const stage = {
          session,
          own,
          run,
          exitBehavior,
          choose: (own: Model, { model, credential }: Partial<ModelChoice>) =>
            chosenModel(own, { model, credential }, resolve),
          onFailure: () => runs.delete(invocationState),
          onStop: ({ outcome, reason, error }: TurnEnding) =>
            onStop?.({
              session: session.name,
              outcome,
              ...(reason !== undefined && { reason }),
              ...(error && { error }),
            }),
        };
        return invokeModel(stage, context, next);
      });
      add(ExecuteToolStage, (context, next) =>
        executeTool({ session: sessions.session(agent.sessionId), approve }, context, next),
      );
      // An invocation may end after a tool call, without another model call: with a structured output, or in a swarm.
      agent.addHook(AgentResultEvent, ({ result: { stopReason } }) => {
        if (pauses.has(stopReason)) return;
        // A swarm aborts the signal of an invocation that has completed, too.
        const isAborted = stopReason === 'cancelled';
        sessions.session(agent.sessionId).end('Strands ended the invocation.', undefined, isAborted);
      });
    },
  };
};

/** Why an invocation ends that another one continues. */
const pauses: ReadonlySet<string> = new Set(['interrupt', 'checkpoint']);

/** Strands wraps the errors of providers, so the status of a response is that of a cause. */
const describeFailure = (thrown: unknown): ErrorInfo => {
  const info = describeError(thrown);
  const { cause } = thrown as { readonly cause?: unknown };
  const found = info.status === undefined && cause !== undefined ? describeError(cause) : undefined;
  const status = found?.status ?? (thrown instanceof ModelThrottledError ? 429 : undefined);
  return {
    ...info,
    ...(found?.headers && { headers: found.headers }),
    ...(info.status === undefined && status !== undefined && { status }),
  };
};

const chosenModel = (own: Model, { model, credential }: ModelChoice, resolve: PluginOptions['resolve']): Model => {
  if ((model === undefined || model === own.modelId) && credential === undefined) return own;
  if (resolve) return resolve({ model, credential });
  throw unknownChoice({ model, credential }, 'asPlugin()');
};

const noMiddleware = (agent: LocalAgent): TurnError =>
  new TurnError(
    'unsupported-host',
    `The agent ${JSON.stringify(agent.id)} has no addMiddleware(). Use @strands-agents/sdk 1.19 or newer.`,
  );

const check = (options: PluginOptions, operators: readonly PipelineOperator[]): void => {
  checkOptions('asPlugin()', options, {
    ...hostOptionChecks,
    resolve: anyFunction,
    exitBehavior: oneOf('end', 'error'),
  });
  checkOperators(operators, {
    owner: 'asPlugin()',
    host,
    events: pluginEvents,
    alternative: 'Run the operator in harness({ model, tools })',
    partial: options.partial,
  });
};
