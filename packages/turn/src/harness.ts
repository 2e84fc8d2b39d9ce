import { asyncScheduler, Observable, type SchedulerLike } from 'rxjs';
import * as z from 'zod';
import { Approvals } from './approvals.js';
import type { ApprovalDecision, NewEventOf, TurnEvent, TurnPriority, TurnState, TurnTrigger } from './events.js';
import { jsonObjectSchema, type JSONObject } from './json.js';
import { memorySessions } from './memory-sessions.js';
import { userMessageSchema, type UserMessage, type UserPart } from './messages.js';
import type { ModelDriver, ModelRequest, ModelSettings, SystemBlock } from './model.js';
import type { PipelineOperator } from './pipeline.js';
import { TurnRun, type RunnerOptions } from './runner.js';
import { SessionGate } from './session-gate.js';
import type { MaybePromise, SessionStore, UnfinishedTurn } from './session-store.js';
import type { ToolDefinition, ToolDriver } from './tool.js';
import { checked } from './validation.js';

/** Options of {@link harness}. */
export interface HarnessOptions {
  /** Calls the model. */
  readonly model: ModelDriver;
  /** Runs the tools. Without it every call is answered as unknown. */
  readonly tools?: ToolDriver | undefined;
  /**
   * Where sessions and journals are kept.
   *
   * @defaultValue a store in memory of its own, {@link memorySessions}
   */
  readonly sessions?: SessionStore | undefined;
  /** The system prompt, for pipelines without `@h/prompt`. */
  readonly system?: string | readonly SystemBlock[] | undefined;
  /** Settings of every model call. Operators may change them per call. */
  readonly settings?: ModelSettings | undefined;
  /** The model to ask, as the driver names it. */
  readonly defaultModel?: string | undefined;
  /**
   * How many model calls a turn may make, retries included. The last resort behind `@h/guardrails`: it keeps a turn
   * whose guards are missing or broken from running for ever.
   *
   * @defaultValue `1000`, a few times what the longest single turns of today's coding agents make
   */
  readonly maxModelCalls?: number | undefined;
  /**
   * How long operators may hold events when a turn is ending, in milliseconds, before it ends without them.
   *
   * @defaultValue `5000`
   */
  readonly closeGraceMs?: number | undefined;
  /**
   * The clock and the timers.
   *
   * @defaultValue `asyncScheduler`
   */
  readonly scheduler?: SchedulerLike | undefined;
  /**
   * Makes ids of turns and of received messages.
   *
   * @defaultValue `crypto.randomUUID`
   */
  readonly newId?: (() => string) | undefined;
}

/** What a turn is asked to do. */
export interface TurnInput {
  /** The conversation it belongs to. */
  readonly session: string;
  /** What the user says. */
  readonly input: string | readonly UserPart[] | UserMessage | readonly UserMessage[];
  /** @defaultValue `'user'` */
  readonly trigger?: TurnTrigger | undefined;
  readonly priority?: TurnPriority | undefined;
  /** Ends the turn when it is aborted, with its operators watching. */
  readonly signal?: AbortSignal | undefined;
  /** Anything that operators want to know of where the turn comes from (a channel, a user id). */
  readonly metadata?: JSONObject | undefined;
  /** Id of the turn. @defaultValue a new one */
  readonly id?: string | undefined;
}

/** A turn that is under way. */
export interface RunningTurn {
  readonly turn: string;
  readonly session: string;
  readonly state: TurnState;
  readonly step: number;
}

/** A pipeline with its drivers: runs turns. */
export interface Agent {
  /**
   * A turn, as a cold observable: nothing happens before it is subscribed to, each subscription runs it once, and
   * unsubscribing ends it. It emits what leaves the pipeline, `turn.end` last, and never errors.
   *
   * @throws InvalidInputError when the input has the wrong shape
   */
  turn(input: TurnInput): Observable<TurnEvent>;
  /**
   * Goes on with a turn whose process died, from the session store. What was recorded is shown again, marked
   * `replayed`; what was under way is repeated only where that is safe.
   */
  resume(turn: string): Observable<TurnEvent>;
  /**
   * Gives a message to the turn that runs in this session. It is delivered at the next step boundary; tool calls that
   * have not begun are answered `skipped`.
   *
   * @returns `false` when no turn runs there: start one instead. What was taken in and could not be delivered any
   * more is listed in `turn.end`.
   */
  steer(session: string, message: string | UserMessage): boolean;
  /**
   * Answers a request for approval.
   *
   * @returns `false` when no turn waits for it
   */
  answer(approvalId: string, decision: ApprovalDecision | ApprovalDecision['decision']): boolean;
  /** The turns under way, queued ones included. */
  running(): readonly RunningTurn[];
  /** Turns that never ended because their process died; to be resumed. */
  unfinished(): MaybePromise<readonly UnfinishedTurn[]>;
  /** The operators, in order. */
  readonly operators: readonly PipelineOperator[];
}

/** Drivers that wait for their operators. */
export interface Harness {
  /** Puts operators around the loop, in the order in which they see events: ours and any of RxJS. */
  pipe(...operators: readonly PipelineOperator[]): Agent;
}

/**
 * An agent's loop: model, tools and sessions, to be completed by operators.
 *
 * @throws InvalidInputError when an option has the wrong shape or is unknown
 *
 * @example
 * ```ts
 * const agent = harness({ model }).pipe(tap((event) => console.log(event.type)));
 * const { text } = await reply(agent.turn({ session: 'alice', input: 'Hello' }));
 * ```
 */
export const harness = (options: HarnessOptions): Harness => {
  checked(harnessOptionsSchema, options, 'The options of harness()');
  return { pipe: (...operators) => createAgent(options, operators) };
};

const createAgent = (options: HarnessOptions, operators: readonly PipelineOperator[]): Agent => {
  const sessions = options.sessions ?? memorySessions();
  // oxlint-disable-next-line h/no-clock -- ids have to be new in every process; a replay finds them in the journal
  const newId = options.newId ?? (() => crypto.randomUUID());
  const gate = new SessionGate<TurnRun>(sessions);
  const approvals = new Approvals();
  const runs = new Set<TurnRun>();
  const shared: RunnerOptions = {
    ...requestFactory(options),
    model: options.model,
    tools: options.tools,
    operators,
    gate,
    approvals,
    scheduler: options.scheduler ?? asyncScheduler,
    maxModelCalls: options.maxModelCalls ?? 1000,
    closeGraceMs: options.closeGraceMs ?? 5000,
  };
  const run = (turn: () => string, signal: AbortSignal | undefined, begin: (run: TurnRun, cancelled: string | undefined) => void): Observable<TurnEvent> =>
    new Observable((subscriber) => {
      const started = new TurnRun(turn(), shared, subscriber);
      runs.add(started);
      const onAbort = (): void => started.cancel(abortReason(signal));
      signal?.addEventListener('abort', onAbort, { once: true });
      subscriber.add(() => {
        runs.delete(started);
        signal?.removeEventListener('abort', onAbort);
        started.abandon();
      });
      begin(started, signal?.aborted === true ? abortReason(signal) : undefined);
    });
  return {
    operators,
    turn: (given) => {
      const { session, input, trigger = 'user', priority, signal, metadata, id } = checked(turnInputSchema, given, 'The input of turn()');
      const messages = toUserMessages(input);
      const start: NewEventOf<'turn.start'> = {
        type: 'turn.start',
        session,
        input: messages,
        trigger,
        ...(priority !== undefined && { priority }),
        ...(metadata !== undefined && { metadata }),
      };
      return run(() => id ?? newId(), signal, (started, cancelled) => started.begin(start, cancelled));
    },
    resume: (turn) => run(() => checked(z.string().min(1), turn, 'The turn to resume'), undefined, (started) => started.resume()),
    steer: (session, message) => {
      const given = typeof message === 'string' ? { role: 'user' as const, content: message } : message;
      const checkedMessage = checked(userMessageSchema, given, 'The message of steer()');
      return gate.holderOf(session)?.steer(newId(), checkedMessage) ?? false;
    },
    answer: (approvalId, decision) => {
      const given = typeof decision === 'string' ? { decision } : decision;
      const answer = checked(approvalDecisionSchema, given, 'The decision of answer()');
      return approvals.answer(approvalId, answer);
    },
    running: () => [...runs].map(({ turn, session, phase, step }) => ({ turn, session, state: phase, step })),
    unfinished: () => sessions.unfinished(),
  };
};

/** Makes the request of a step, without copying what stays the same from step to step. */
const requestFactory = (options: HarnessOptions): Pick<RunnerOptions, 'request' | 'definitions'> => {
  const system = typeof options.system === 'string' ? [{ text: options.system }] : (options.system ?? []);
  const settings = options.settings ?? {};
  let known: readonly ToolDefinition[] | undefined;
  let byName: ReadonlyMap<string, ToolDefinition> = new Map();
  const noTools: readonly ToolDefinition[] = [];
  const noTail: ModelRequest['tail'] = [];
  const tools = (): readonly ToolDefinition[] => options.tools?.definitions() ?? noTools;
  return {
    request: (): Omit<ModelRequest, 'messages'> => ({
      ...(options.defaultModel !== undefined && { model: options.defaultModel }),
      system,
      tail: noTail,
      tools: tools(),
      settings,
    }),
    definitions: () => {
      const current = tools();
      if (current !== known) byName = new Map(current.map((definition) => [definition.name, definition]));
      known = current;
      return byName;
    },
  };
};

const toUserMessages = (input: TurnInput['input']): readonly UserMessage[] => {
  if (typeof input === 'string') return [{ role: 'user', content: input }];
  if (!isList(input)) return [input];
  return isMessages(input) ? input : [{ role: 'user', content: input }];
};

const isList = (input: TurnInput['input']): input is readonly UserPart[] | readonly UserMessage[] => Array.isArray(input);

const isMessages = (input: readonly UserPart[] | readonly UserMessage[]): input is readonly UserMessage[] =>
  input.every((item) => 'role' in item);

const abortReason = (signal: AbortSignal | undefined): string => {
  const reason: unknown = signal?.reason;
  return reason instanceof Error ? reason.message : typeof reason === 'string' ? reason : 'The signal was aborted.';
};

const userParts = z.array(z.looseObject({ type: z.enum(['text', 'image', 'file']) })).min(1);

const turnInputSchema = z.strictObject({
  session: z.string().min(1),
  input: z.union([
    z.string().min(1),
    userMessageSchema,
    z.array(userMessageSchema).min(1),
    userParts.refine((content) => userMessageSchema.safeParse({ role: 'user', content }).success, 'these are no user parts'),
  ]),
  trigger: z.string().min(1).optional(),
  priority: z.enum(['foreground', 'normal', 'background']).optional(),
  signal: z.instanceof(AbortSignal).optional(),
  metadata: jsonObjectSchema.optional(),
  id: z.string().min(1).optional(),
}) as unknown as z.ZodType<TurnInput>;

const approvalDecisionSchema = z.strictObject({
  decision: z.enum(['once', 'session', 'always', 'deny']),
  pattern: z.string().optional(),
  reason: z.string().optional(),
}) as z.ZodType<ApprovalDecision>;

const func = z.custom<(...args: never[]) => unknown>((value) => typeof value === 'function', 'expected a function');
const withMethod = (...names: readonly string[]) =>
  z.custom<object>(
    (value) => typeof value === 'object' && value !== null && names.every((name) => typeof (value as Record<string, unknown>)[name] === 'function'),
    `expected an object with ${names.join('() and ')}()`,
  );

const harnessOptionsSchema = z.strictObject({
  model: func,
  tools: withMethod('definitions', 'run').optional(),
  sessions: withMethod('open', 'locate', 'unfinished').optional(),
  system: z.union([z.string(), z.array(z.looseObject({ text: z.string() }))]).optional(),
  settings: z.looseObject({}).optional(),
  defaultModel: z.string().optional(),
  maxModelCalls: z.union([z.int().positive(), z.literal(Infinity)]).optional(),
  closeGraceMs: z.number().nonnegative().optional(),
  scheduler: withMethod('schedule', 'now').optional(),
  newId: func.optional(),
}) as unknown as z.ZodType<HarnessOptions>;
