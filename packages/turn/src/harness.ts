import { nonEmptyString } from '@h/options';
import { asyncScheduler, Observable } from 'rxjs';
import { Approvals } from './runner/approvals.js';
import { checked } from './checks/data-checks.js';
import { toErrorInfo, TurnError } from './contract/errors.js';
import { checkDecision } from './checks/event-checks.js';
import type { ApprovalDecision, NewEventOf, TurnEvent, TurnState } from './contract/events.js';
import { isPromise, type MaybePromise } from './maybe-promise.js';
import { memorySessions } from './journal/memory-sessions.js';
import type { UserMessage } from './contract/messages.js';
import type { ModelRequest } from './contract/model.js';
import {
  checkHarnessOptions,
  checkResumeOptions,
  checkTurnInput,
  toSteeringMessage,
  toUserMessages,
  type HarnessOptions,
  type TurnInput,
} from './options.js';
import { checkOperators, PipelinePlan, type PipelineOperator } from './operators/pipeline.js';
import type { RunnerOptions } from './runner/runner-options.js';
import { TurnRun } from './runner/runner.js';
import { SessionGate } from './journal/session-gate.js';
import type { UnfinishedTurn } from './contract/session-store.js';
import type { ToolDefinition } from './contract/tool.js';

/** A turn that has not ended. */
export interface RunningTurn {
  readonly turn: string;
  readonly session: string;
  readonly state: TurnState;
  readonly step: number;
}

/** A pipeline with its drivers. Runs turns. */
export interface Agent {
  /**
   * Returns a turn as a cold observable: each subscription runs it once, and unsubscribing ends it. It emits the
   * events that leave the pipeline, `turn.end` last, and never errors.
   *
   * @throws InvalidInputError if the input has the wrong shape
   */
  turn(input: TurnInput): Observable<TurnEvent>;
  /**
   * Resumes a turn whose process died, from the session store. Recorded events are emitted again, marked `replayed`.
   * Interrupted work is repeated only where that is safe.
   *
   * @param options - `signal` cancels the turn, as in `turn()`
   */
  resume(turn: string, options?: Pick<TurnInput, 'signal'>): Observable<TurnEvent>;
  /**
   * Ends a turn whose process died, without running anything: emits its journal, marked `replayed`, answers calls
   * that may have run as `interrupted`, and ends the turn with the outcome `error`. No operator takes part. A turn
   * that has ended does not change.
   *
   * @example
   * ```ts
   * for (const { turn } of await agent.unfinished()) await reply(agent.finish(turn));
   * ```
   */
  finish(turn: string, reason?: string): Observable<TurnEvent>;
  /**
   * Sends a message to the running turn of a session. It is delivered at the next step boundary; tool calls that have
   * not begun are answered `skipped`.
   *
   * @returns `false` if no turn is running there; start one instead. Messages that could not be delivered are listed in
   * `turn.end`.
   *
   * @param id - id of the message, in `input.received` and in `delivers` of the `history.append` that delivers it. A
   * turn accepts each id once.
   */
  steer(session: string, message: string | UserMessage, id?: string): boolean;
  /**
   * Answers an approval request.
   *
   * @returns `false` if no turn waits for it
   */
  answer(approvalId: string, decision: ApprovalDecision | ApprovalDecision['decision']): boolean;
  /** Lists the turns that have not ended, queued ones included. */
  running(): readonly RunningTurn[];
  /**
   * Lists turns whose process died before they ended; pass them to `resume` or `finish`. A turn that runs here is never
   * among them, also if the store has lost sight of this process.
   */
  unfinished(): MaybePromise<readonly UnfinishedTurn[]>;
  /** The operators, in order. */
  readonly operators: readonly PipelineOperator[];
}

/** Drivers without operators. */
export interface Harness {
  /**
   * Adds operators around the loop, in the order in which they see events: interceptors and any RxJS operator.
   *
   * @throws InvalidOptionError with the position of an argument that is not an operator, such as a factory that was
   * not called
   */
  pipe(...operators: readonly PipelineOperator[]): Agent;
}

/**
 * Creates the loop of an agent from a model, tools and sessions. `pipe()` adds the operators.
 *
 * @throws InvalidOptionError if an option has the wrong shape or is unknown
 *
 * @example
 * ```ts
 * const agent = harness({ model }).pipe(tap((event) => console.log(event.type)));
 * const { text } = await reply(agent.turn({ session: 'alice', input: 'Hello' }));
 * ```
 */
export const harness = (options: HarnessOptions): Harness => {
  checkHarnessOptions(options);
  const pipe: Harness['pipe'] = (...operators) => {
    checkOperators(operators, 'harness().pipe()');
    return createAgent(options, operators);
  };
  return Object.assign({ pipe }, { turn: withoutPipe });
};

/** For programs without types. */
const withoutPipe = (): never => {
  throw new TurnError(
    'no-pipe',
    'harness() returns no agent yet. Call pipe(), also without operators: harness({ model }).pipe().turn(…).',
  );
};

const createAgent = (options: HarnessOptions, operators: readonly PipelineOperator[]): Agent => {
  const sessions = options.sessions ?? memorySessions();
  // oxlint-disable-next-line h/no-clock -- ids must be unique across processes; a resumed turn reads them from its journal
  const uniqueId = (): string => crypto.randomUUID();
  const newId = options.newId ? idFactory(options.newId) : uniqueId;
  const gate = new SessionGate(sessions);
  const approvals = new Approvals();
  const runs = new Set<TurnRun>();
  const shared: RunnerOptions = {
    ...requestFactory(options),
    model: options.model,
    tools: options.tools,
    pipeline: new PipelinePlan(operators),
    gate,
    approvals,
    scheduler: options.scheduler ?? asyncScheduler,
    maxModelCalls: options.maxModelCalls ?? 1000,
    closeGraceMs: options.closeGraceMs ?? 5000,
  };
  const run = (
    id: string | undefined,
    signal: AbortSignal | undefined,
    begin: (run: TurnRun, cancelled: string | undefined) => void,
  ): Observable<TurnEvent> =>
    new Observable((subscriber) => {
      let turn = id;
      let failure: unknown;
      try {
        turn ??= newId();
      } catch (error) {
        failure = error;
      }
      const started = new TurnRun(turn ?? uniqueId(), shared, subscriber);
      runs.add(started);
      const onAbort = (): void => started.cancel(abortReason(signal));
      signal?.addEventListener('abort', onAbort, { once: true });
      subscriber.add(() => {
        runs.delete(started);
        signal?.removeEventListener('abort', onAbort);
        started.abandon();
      });
      if (turn === undefined) started.fail('The turn has no id.', failure);
      else begin(started, signal?.aborted === true ? abortReason(signal) : undefined);
    });
  return {
    operators,
    turn: (given) => {
      checkTurnInput(given);
      const { session, input, trigger = 'user', priority, signal, metadata, id } = given;
      const messages = toUserMessages(input);
      const start: NewEventOf<'turn.start'> = {
        type: 'turn.start',
        session,
        input: messages,
        trigger,
        ...(priority !== undefined && { priority }),
        ...(metadata !== undefined && { metadata }),
      };
      return run(id, signal, (started, cancelled) => started.begin(start, cancelled));
    },
    resume: (turn, options = {}) => {
      const id = checked(nonEmptyString, turn, 'resume()', 'turn');
      checkResumeOptions(options);
      return run(id, options.signal, (started, cancelled) => started.resume(cancelled));
    },
    finish: (turn, reason = 'The process ended before the turn did.') => {
      const id = checked(nonEmptyString, turn, 'finish()', 'turn');
      return run(id, undefined, (started) => started.finish(reason));
    },
    steer: (session, message, id) => {
      const given = toSteeringMessage(message);
      const messageId = id === undefined ? newId() : checked(nonEmptyString, id, 'steer()', 'id');
      return gate.holderOf(session)?.steer(messageId, given) ?? false;
    },
    answer: (approvalId, decision) => approvals.answer(approvalId, checkDecision(decision)),
    running: () => [...runs].map(({ turn, session, phase, step }) => ({ turn, session, state: phase, step })),
    unfinished: async () => {
      const turns = await sessions.unfinished();
      const own = new Set([...runs].map(({ turn }) => turn));
      return turns.filter(({ turn }) => !own.has(turn));
    },
  };
};

/** Checks what `newId` of the caller does: it may throw or return anything. */
const idFactory = (newId: () => string) => (): string => {
  let id: unknown;
  try {
    id = newId();
  } catch (error) {
    const { message } = toErrorInfo(error);
    throw new TurnError(
      'new-id-failed',
      `newId() of harness() threw ${JSON.stringify(message)}. It must return a new id.`,
      {
        cause: error,
      },
    );
  }
  // A promise is refused; its rejection must not end the process.
  if (isPromise(id)) id.then(undefined, () => undefined);
  return checked(nonEmptyString, id, 'harness()', 'newId()') as string;
};

/** Builds the request of a step without copying the parts that do not change between steps. */
const requestFactory = (options: HarnessOptions): Pick<RunnerOptions, 'request' | 'definitions'> => {
  const system = typeof options.system === 'string' ? [{ text: options.system }] : (options.system ?? []);
  const settings = options.settings ?? {};
  let known: readonly ToolDefinition[] | undefined;
  let byName: ReadonlyMap<string, ToolDefinition> = new Map();
  const noTools: readonly ToolDefinition[] = [];
  const tools = (): readonly ToolDefinition[] => options.tools?.definitions() ?? noTools;
  const model = options.defaultModel === undefined ? {} : { model: options.defaultModel };
  let request: Omit<ModelRequest, 'messages'> = { ...model, system, tail: [], tools: noTools, settings };
  return {
    request: () => {
      const current = tools();
      if (current !== request.tools) request = { ...request, tools: current };
      return request;
    },
    definitions: () => {
      const current = tools();
      if (current !== known) byName = new Map(current.map((definition) => [definition.name, definition]));
      known = current;
      return byName;
    },
  };
};

const abortReason = (signal: AbortSignal | undefined): string => {
  const reason: unknown = signal?.reason;
  return reason === undefined ? 'The signal was aborted.' : toErrorInfo(reason).message;
};
