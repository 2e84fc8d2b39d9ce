import type { SchedulerLike } from 'rxjs';
import * as z from 'zod';
import type { TurnPriority, TurnTrigger } from './events.js';
import { jsonObjectSchema, type JSONObject } from './json.js';
import { userMessageSchema, type UserMessage, type UserPart } from './messages.js';
import type { ModelDriver, ModelSettings, SystemBlock } from './model.js';
import type { SessionStore } from './session-store.js';
import type { ToolDriver } from './tool.js';
import { wellFormed } from './well-formed.js';

/** Options of `harness`. */
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
   * How long operators may hold events when a turn is ending, in milliseconds, before it ends without them; and how long the
   * store may take over its end, before the session counts as stuck (`session-stuck`).
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

const func = z.custom<(...args: never[]) => unknown>((value) => typeof value === 'function', 'expected a function');
const withMethod = (...names: readonly string[]) =>
  z.custom<object>(
    (value) =>
      typeof value === 'object' &&
      value !== null &&
      names.every((name) => typeof (value as Record<string, unknown>)[name] === 'function'),
    `expected an object with ${names.join('() and ')}()`,
  );

const settings = z.strictObject({
  maxOutputTokens: z.int().positive().optional(),
  temperature: z.number().optional(),
  topP: z.number().optional(),
  topK: z.number().optional(),
  presencePenalty: z.number().optional(),
  frequencyPenalty: z.number().optional(),
  stopSequences: z.array(z.string()).optional(),
  seed: z.int().optional(),
  toolChoice: z.union([z.enum(['auto', 'none', 'required']), z.strictObject({ toolName: z.string() })]).optional(),
  reasoning: z.enum(['none', 'minimal', 'low', 'medium', 'high', 'xhigh']).optional(),
  providerOptions: z.record(z.string(), jsonObjectSchema).optional(),
});

const systemBlock = z.strictObject({
  text: z.string(),
  cache: z.strictObject({ ttl: z.enum(['5m', '1h']).optional() }).optional(),
});

/** What the options of a harness have to be. */
export const harnessOptionsSchema = z.strictObject({
  model: func,
  tools: withMethod('definitions', 'run').optional(),
  sessions: withMethod('open', 'locate', 'unfinished').optional(),
  system: z.union([z.string(), z.array(systemBlock)]).optional(),
  settings: settings.optional(),
  defaultModel: z.string().optional(),
  maxModelCalls: z.union([z.int().positive(), z.literal(Infinity)]).optional(),
  closeGraceMs: z.number().nonnegative().optional(),
  scheduler: withMethod('schedule', 'now').optional(),
  newId: func.optional(),
}) as unknown as z.ZodType<HarnessOptions>;

/** Providers refuse a message that says nothing. */
const saying = userMessageSchema.refine(({ content }) => content.length > 0, {
  path: ['content'],
  message: 'expected a message that says something',
});
const userParts = z.array(z.looseObject({ type: z.enum(['text', 'image', 'file']) })).min(1);

/** What a message for a running turn has to be. */
export const steeringSchema = z.union([z.string().min(1), saying]);

const signalSchema = z.instanceof(AbortSignal).optional();

/** What a turn may be resumed with. */
export const resumeOptionsSchema = z.strictObject({ signal: signalSchema });

/** What a turn has to be asked with. */
export const turnInputSchema = z.strictObject({
  session: z.string().min(1),
  input: z.union([
    z.string().min(1),
    saying,
    z.array(saying).min(1),
    userParts.refine(
      (content) => userMessageSchema.safeParse({ role: 'user', content }).success,
      'these are no user parts',
    ),
  ]),
  trigger: z.string().min(1).optional(),
  priority: z.enum(['foreground', 'normal', 'background']).optional(),
  signal: signalSchema,
  metadata: jsonObjectSchema.optional(),
  id: z.string().min(1).optional(),
}) as unknown as z.ZodType<TurnInput>;

/** What the user says, as messages without lone surrogates. */
export const toUserMessages = (input: TurnInput['input']): readonly UserMessage[] => wellFormed(asMessages(input));

const asMessages = (input: TurnInput['input']): readonly UserMessage[] => {
  if (typeof input === 'string') return [{ role: 'user', content: input }];
  if (!isList(input)) return [input];
  return isMessages(input) ? input : [{ role: 'user', content: input }];
};

const isList = (input: TurnInput['input']): input is readonly UserPart[] | readonly UserMessage[] =>
  Array.isArray(input);

const isMessages = (input: readonly UserPart[] | readonly UserMessage[]): input is readonly UserMessage[] =>
  input.every((item) => 'role' in item);
