import {
  bridge,
  checkOperators,
  type HostEvents,
  hostOptionChecks,
  type HostOptions,
  type HostSession,
} from '@h/bridge';
import { anyArray, anyFunction, checkOptions, nonEmptyString, oneOf, required } from '@h/options';
import { TurnError, type PipelineOperator, type TurnEnding } from '@h/turn';
import type { AgentTool, FinishTurn, StreamFn } from '@earendil-works/pi-agent-core';
import type { Message, SimpleStreamOptions } from '@earendil-works/pi-ai';
import { AnswerStream } from './answer-stream.js';
import { attachTool, type PiTool } from './attach-tools.js';
import { piMessages } from './messages.js';
import { callModel, failureOf, type ResolveModel } from './model-call.js';

const host = 'pi';

/** The events of a turn in the agent loop of pi. */
export const attachEvents: HostEvents = {
  'model.request': { support: 'full', as: '`streamFn`, with the transcript, tools and options' },
  'model.delta': { support: 'full', as: 'text, thinking and tool input of the stream, which pi shows as they leave' },
  'model.response': { support: 'full', as: 'the answer, which replaces the partial message' },
  'model.error': { support: 'full', as: 'a failed call; when it is repeated, the partial message starts over' },
  'tool.call': { support: 'full', as: '`execute` of a tool, after the `beforeToolCall` of the agent' },
  'tool.result': { support: 'full', as: 'the result of `execute`, before the `afterToolCall` of the agent' },
  'tool.progress': { support: 'limited', as: 'updates of a tool reach the listeners of pi; operators see the result' },
  'approval.request': { support: 'full', as: '`approve`' },
  'history.append': { support: 'full', as: 'remembered per session and sent again byte for byte' },
  'history.replace': { support: 'full', as: 'remembered per session; the state of the agent keeps its own messages' },
  'input.received': { support: 'limited', as: 'steering messages arrive as `history.append`' },
  'turn.continue': { support: 'full', as: 'further model calls within one answer' },
  'turn.stop': { support: 'full', as: '`finishTurn`, or a last answer with the reason' },
};

/** Options of {@link attach}. */
export interface AttachOptions<Tools extends readonly PiTool[] = readonly PiTool[]> extends HostOptions {
  /** Calls a model, such as `streamSimple` of the models of pi. */
  readonly streamFn: StreamFn;
  /** The tools of the agent. */
  readonly tools?: Tools | undefined;
  /**
   * The name of the conversation.
   *
   * @defaultValue `sessionId` of the agent; without one, each transcript is a session
   */
  readonly session?: string | undefined;
  /**
   * Returns the model and the key for the model name and the credential id that an operator such as `failover` chose.
   *
   * @defaultValue those of the agent; a request that names others is an error
   */
  readonly resolve?: ResolveModel | undefined;
  /**
   * What happens when an operator stops the turn: `'end'` ends the run, with an answer that gives the reason if a model
   * call was due; `'error'` makes that answer a failed one, so that `errorMessage` of the agent has the reason.
   *
   * @defaultValue `'end'`
   */
  readonly exitBehavior?: 'end' | 'error' | undefined;
  /** The `finishTurn` of the agent, which is called unless an operator stopped the turn. */
  readonly finishTurn?: FinishTurn | undefined;
}

/** What {@link attach} returns: options of the `Agent` of pi, and its tools. */
export interface Attached<Tools extends readonly PiTool[]> {
  readonly streamFn: StreamFn;
  readonly tools: Tools extends readonly (infer Tool)[] ? Tool[] : AgentTool[];
  /** Ends the run if an operator stopped the turn. */
  readonly finishTurn: FinishTurn;
  /** Ends the turn of a session and forgets the session. */
  readonly forget: (session: string) => void;
}

/**
 * Puts operators into the agent loop of pi: `Agent`, `agentLoop` and `agentLoopContinue`.
 *
 * Each run of the loop is one turn; a queued follow-up begins another. Model calls pass the operators in `streamFn`, tool
 * calls in wrapped `execute` functions. Histories that operators changed are stored per session; everything else reaches
 * the model unchanged. Pass both `finishTurn` and `streamFn` to the loop: without the former, a run that was stopped at a
 * tool makes one more model call, which is stopped.
 *
 * @throws InvalidOptionError if an option is unknown or has a wrong value
 * @throws UnsupportedOperatorError if an operator needs events that pi does not have
 *
 * @example
 * ```ts
 * const attached = attach({ streamFn: models.streamSimple, tools: [weather] }, guardrails({ maxSteps: 40 }), loopDetect());
 * const agent = new Agent({ ...attached, initialState: { model, tools: attached.tools } });
 * await agent.prompt('Good morning');
 * ```
 */
export const attach = <const Tools extends readonly PiTool[] = readonly []>(
  options: AttachOptions<Tools>,
  ...operators: readonly PipelineOperator[]
): Attached<Tools> => {
  checkAttach(options);
  const { streamFn, tools = [], exitBehavior = 'end', effects, approve, maxSessions, resolve } = options;
  checkOperators(operators, {
    owner: 'attach()',
    host,
    events: attachEvents,
    alternative: 'Run the operator in harness({ model, tools })',
    partial: options.partial,
  });
  const sessions = bridge<Message>(operators, { host, format: piMessages, effects, approve, maxSessions });
  const runs = new Runs(options.session, (session) => sessions.session(session).isActive);
  const notify = (session: HostSession<Message>, step: Step, { outcome, reason, error }: TurnEnding): void => {
    if (step.isStopped) return;
    step.isStopped = true;
    options.onStop?.({
      session: session.name,
      outcome,
      ...(reason !== undefined && { reason }),
      ...(error !== undefined && { error }),
    });
  };
  return {
    streamFn: (model, context, streamOptions = {}) => {
      // oxlint-disable-next-line h/no-clock -- messages of pi have a time of creation; nothing else depends on it
      const out = new AnswerStream(model, Date.now());
      let step: Step;
      try {
        step = runs.begin(context.messages, streamOptions);
      } catch (error) {
        out.fail(failureOf(error, out.partial));
        return out.stream;
      }
      const session = sessions.session(step.session);
      const failure = step.isFirst ? failureBefore(context.messages) : undefined;
      if (failure !== undefined) session.end(failure.message, failure);
      const onStop = (ending: TurnEnding): void => notify(session, step, ending);
      const call = { session, streamFn, model, context, options: streamOptions, resolve, exitBehavior, onStop };
      callModel(call, out);
      return out.stream;
    },
    tools: tools.map((tool) =>
      attachTool(tool, (_id, signal) => {
        const step = runs.at(signal);
        const onTerminate = (): void => {
          step.terminated += 1;
        };
        return { session: sessions.session(step.session), onTerminate };
      }),
    ) as unknown as Attached<Tools>['tools'],
    finishTurn: async (turn, signal) => {
      const step = runs.at(signal);
      const session = sessions.session(step.session);
      if (exitBehavior === 'end' && (await isStopped(session, step, notify))) return { action: 'end' };
      const decision = (await options.finishTurn?.(turn, signal)) ?? undefined;
      const calls = turn.message.content.filter(({ type }) => type === 'toolCall').length;
      const isTerminated = calls > 0 && step.terminated >= calls;
      if (decision?.action === 'end' || isTerminated) session.end('The agent of pi ended its run.');
      return decision;
    },
    forget: (session) => sessions.forget(session),
  };
};

/** Whether an operator stopped the turn in this step. A failure stops the next model call instead. */
const isStopped = async (
  session: HostSession<Message>,
  step: Step,
  notify: (session: HostSession<Message>, step: Step, ending: TurnEnding) => void,
): Promise<boolean> => {
  if (step.isStopped) return true;
  const ending = await session.stopped();
  if (ending === undefined || ending.outcome === 'error') return false;
  notify(session, step, ending);
  return true;
};

/** The latest model call of a run, and what came of it. */
interface Step {
  readonly session: string;
  /** Whether it is the first model call of its run. */
  readonly isFirst: boolean;
  /** The number of calls whose tools asked to end the run. */
  terminated: number;
  isStopped: boolean;
}

/** Maps runs of pi to sessions. A run has its own signal, which pi passes to models and tools. */
class Runs {
  readonly #session: string | undefined;
  readonly #steps = new WeakMap<AbortSignal, Step>();
  readonly #isActive: (session: string) => boolean;
  /** Transcripts without a name, by their first message and by the last messages of their requests. */
  readonly #transcripts = new WeakMap<object, Transcript>();
  #unsignaled: Step | undefined;
  #count = 0;

  /** @param isActive - whether the turn of a session has not ended */
  constructor(session: string | undefined, isActive: (session: string) => boolean) {
    this.#session = session;
    this.#isActive = isActive;
  }

  /** Begins a step of a run. */
  begin(messages: readonly Message[], { signal, sessionId }: SimpleStreamOptions): Step {
    if (signal === undefined && this.#session === undefined) throw namelessRun(sessionId);
    const known = signal && this.#steps.get(signal);
    const session = this.#session ?? sessionId ?? this.#transcriptOf(messages, known?.session);
    const step = { session, isFirst: known === undefined, terminated: 0, isStopped: false };
    if (signal) this.#steps.set(signal, step);
    else this.#unsignaled = step;
    return step;
  }

  /** Returns the latest step of a run. */
  at(signal: AbortSignal | undefined): Step {
    const step = signal ? this.#steps.get(signal) : this.#unsignaled;
    return step ?? { session: this.#session ?? 'default', isFirst: false, terminated: 0, isStopped: false };
  }

  /** @param ofRun - the session of the run, if it is not the first step */
  #transcriptOf(messages: readonly Message[], ofRun: string | undefined): string {
    const [first] = messages;
    const last = messages.at(-1);
    if (first === undefined || last === undefined) return ofRun ?? this.#nextName();
    const known = messages.findLast((message) => this.#transcripts.has(message)) ?? last;
    const found = this.#transcripts.get(known);
    const isOther =
      ofRun === undefined
        ? // The messages are a copy: the original has further ones, and its turn has not ended.
          found && !messages.includes(found.last) && this.#isActive(found.session)
        : found?.session !== ofRun;
    const transcript = found && !isOther ? found : { session: ofRun ?? this.#nextName(), last };
    transcript.last = last;
    if (!this.#transcripts.has(first)) this.#transcripts.set(first, transcript);
    this.#transcripts.set(last, transcript);
    return transcript.session;
  }

  #nextName(): string {
    return `transcript-${(this.#count += 1)}`;
  }
}

/** A transcript without a name. */
interface Transcript {
  readonly session: string;
  /** The last message of the latest request. */
  last: Message;
}

/** The error that ended the run before, for instance of `transformContext`, of which pi notifies only its subscribers. */
const failureBefore = (messages: readonly Message[]): Error | undefined => {
  const last = messages.findLast((message) => message.role === 'assistant');
  return last?.stopReason === 'error' ? new Error(last.errorMessage ?? 'The run of pi failed.') : undefined;
};

const namelessRun = (sessionId: string | undefined): TurnError =>
  new TurnError(
    'unknown-session',
    `A run without a signal${sessionId === undefined ? '' : ` of the agent ${JSON.stringify(sessionId)}`} cannot be told from others. Pass a signal to agentLoop(), or \`session\` to attach().`,
  );

const checkAttach = (options: AttachOptions): void => {
  checkOptions('attach()', options, {
    streamFn: required(anyFunction),
    tools: anyArray,
    session: nonEmptyString,
    resolve: anyFunction,
    ...hostOptionChecks,
    exitBehavior: oneOf('end', 'error'),
    finishTurn: anyFunction,
  });
};
