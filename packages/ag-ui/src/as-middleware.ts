import type { AbstractAgent, BaseEvent, MiddlewareFunction } from '@ag-ui/client';
import { LruMap } from '@h/bounded';
import {
  bridge,
  checkOperators,
  hostOptionChecks,
  type HostArguments,
  type HostEvents,
  type HostOptions,
  type ModelChoice,
  splitArguments,
} from '@h/bridge';
import { anyFunction, checkOptions, oneOf } from '@h/options';
import { TurnError, type PipelineOperator } from '@h/turn';
import { handledEvents, mayDecide } from '@h/turn/bridge';
import { Observable } from 'rxjs';
import { groupFormat, type MessageGroup } from './messages.js';
import { MiddlewareRun, newThread, type Thread } from './middleware-run.js';
import { agentToolError } from './run-agent.js';

const host = 'AG-UI';
const owner = 'asMiddleware()';
const defaultMaxSessions = 1_000;

/** The events of a turn in middleware of AG-UI. */
export const middlewareEvents: HostEvents = {
  'model.request': {
    support: 'limited',
    as: 'the input of a run: prompt, messages and tools; settings such as the temperature belong to the agent',
  },
  'model.delta': { support: 'limited', as: 'text and reasoning; a call is passed on when it is complete' },
  'model.response': { support: 'full', as: 'the answer of a run; its text has been emitted: change the deltas' },
  'model.error': { support: 'full', as: '`RUN_ERROR`, or an error of the agent; retries work until text was emitted' },
  'tool.call': {
    support: 'limited',
    as: 'calls of tools that the client runs; see `agentTools` for those that the agent runs',
  },
  'tool.result': { support: 'limited', as: 'results of the client, in its next run' },
  'tool.progress': { support: 'none', as: 'AG-UI has no progress of tools' },
  'approval.request': { support: 'full', as: 'an interrupt, which `resume` of the next run answers' },
  'history.append': { support: 'full', as: 'remembered per thread and sent again byte for byte' },
  'history.replace': { support: 'full', as: 'remembered per thread; the client keeps its own messages' },
  'turn.continue': { support: 'full', as: 'another run of the agent within the run of the client' },
  'turn.stop': { support: 'full', as: 'the end of the run with an answer that states the reason, or `RUN_ERROR`' },
};

/** Options of {@link asMiddleware}. */
export interface MiddlewareOptions extends Pick<HostOptions, 'approve' | 'maxSessions' | 'onStop' | 'partial'> {
  /**
   * What happens when the agent runs a tool itself, which the operators learn when it has run: `'stop'` fails the run if
   * an operator decides about calls or results, `'observe'` passes the call on.
   *
   * @defaultValue `'stop'`
   */
  readonly agentTools?: 'stop' | 'observe' | undefined;
  /**
   * What happens when an operator stops the turn: `'end'` ends the run with an answer that states the reason, and the
   * outcome as its `result`; `'error'` ends it with `RUN_ERROR`.
   *
   * @defaultValue `'end'`
   */
  readonly exitBehavior?: 'end' | 'error' | undefined;
  /**
   * Returns the agent for the model name and the credential id that an operator such as `failover` chose.
   *
   * @defaultValue the next agent of the chain; the choice of another model or credential is an error
   */
  readonly resolve?: ((choice: ModelChoice) => Pick<AbstractAgent, 'run'>) | undefined;
}

/** Middleware of AG-UI with operators. */
export interface OperatorMiddleware extends MiddlewareFunction {
  /** Ends the turn of a thread and forgets its state. */
  forget(thread: string): void;
}

/**
 * Creates middleware for agents of AG-UI from operators, for a client or for a proxy before another agent.
 *
 * A thread is a session. A turn begins with a message of the user and contains the runs that bring results of its calls.
 * The agent is the model of the turn, and the client runs its tools: a denied call never reaches the client as one that
 * must run. Agents may share the middleware.
 *
 * @param given - options, if the first argument is an object, then operators
 * @throws InvalidOptionError if an option is unknown or has a wrong value
 * @throws UnsupportedOperatorError if an operator needs events that AG-UI does not have
 *
 * @example
 * ```ts
 * const agent = new HttpAgent({ url: 'http://127.0.0.1:8000/agent' });
 * agent.use(asMiddleware(loopDetect(), guardrails({ maxSteps: 40 })));
 * ```
 */
export const asMiddleware = (...given: HostArguments<MiddlewareOptions>): OperatorMiddleware => {
  const { options, operators } = splitArguments(given);
  check(options, operators);
  const { agentTools = 'stop', exitBehavior = 'end', approve, onStop, maxSessions = defaultMaxSessions } = options;
  const sessions = bridge<MessageGroup>(operators, {
    host,
    format: groupFormat,
    maxSessions,
  });
  const threads = new LruMap<string, Thread>(maxSessions);
  const judges = agentTools === 'stop' ? operators.flatMap(judgeOf) : [];
  const middleware: MiddlewareFunction = (input, next) => {
    const events = new Observable<BaseEvent>((subscriber) => {
      const { threadId } = input;
      const thread = threads.get(threadId) ?? newThread();
      threads.set(threadId, thread);
      const left = new AbortController();
      const run = new MiddlewareRun({
        input,
        session: sessions.session(threadId),
        thread,
        exitBehavior,
        approve,
        signal: left.signal,
        emit: (event) => subscriber.next(event),
        choose: (choice) => chosenAgent(next, choice, options.resolve),
        onStop: (ending) => onStop?.({ session: threadId, ...ending }),
        onAgentTool: (name) => {
          if (judges.length > 0) throw agentToolError(name, judges);
        },
      });
      run.act().then(
        () => subscriber.complete(),
        (error: unknown) => subscriber.error(error),
      );
      return () => left.abort(new TurnError('run-cancelled', 'The client cancelled the run.'));
    });
    // `@ag-ui/client` depends on another version of RxJS, whose operators accept this observable.
    return events as unknown as ReturnType<MiddlewareFunction>;
  };
  return Object.assign(middleware, {
    forget: (thread: string) => {
      threads.delete(thread);
      sessions.forget(thread);
    },
  });
};

/** The name of an operator that decides about calls or results. */
const judgeOf = (operator: PipelineOperator): readonly string[] => {
  if (!mayDecide(operator, 'tool.call') && !mayDecide(operator, 'tool.result')) return [];
  return [handledEvents(operator)?.operator ?? (operator.name || 'an operator')];
};

const chosenAgent = (
  next: Pick<AbstractAgent, 'run'>,
  { model, credential }: ModelChoice,
  resolve: MiddlewareOptions['resolve'],
): Pick<AbstractAgent, 'run'> => {
  if (model === undefined && credential === undefined) return next;
  if (resolve) return resolve({ model, credential });
  const chosen = [
    model !== undefined && `the model ${JSON.stringify(model)}`,
    credential !== undefined && `the credential ${JSON.stringify(credential)}`,
  ];
  throw new TurnError(
    'unknown-model',
    `An operator chose ${chosen.filter(Boolean).join(' and ')}. Pass \`resolve\` to ${owner} to return the agent for it.`,
  );
};

const check = (options: MiddlewareOptions, operators: readonly PipelineOperator[]): void => {
  const { approve, maxSessions, onStop, partial } = hostOptionChecks;
  checkOptions(owner, options, {
    approve,
    maxSessions,
    onStop,
    partial,
    agentTools: oneOf('stop', 'observe'),
    exitBehavior: oneOf('end', 'error'),
    resolve: anyFunction,
  });
  checkOperators(operators, {
    owner,
    host,
    events: middlewareEvents,
    alternative: 'Put the operator into the agent',
    partial: options.partial,
  });
};
