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
  /** Runs the tools. Without it every call is answered `unknown-tool`. */
  readonly tools?: ToolDriver | undefined;
  /**
   * Where sessions and journals are stored.
   *
   * @defaultValue a new in-memory store, {@link memorySessions}
   */
  readonly sessions?: SessionStore | undefined;
  /** The system prompt, for pipelines without `@h/prompt`. */
  readonly system?: string | readonly SystemBlock[] | undefined;
  /** Settings of every model call. Operators may change them for each call. */
  readonly settings?: ModelSettings | undefined;
  /** The name of the model, as the driver knows it. */
  readonly defaultModel?: string | undefined;
  /**
   * The maximum number of model calls in a turn, retries included. A backstop behind `@h/guardrails` that ends a turn
   * whose guards are missing or broken.
   *
   * @defaultValue `1000`, several times the model calls of the longest turns of current coding agents
   */
  readonly maxModelCalls?: number | undefined;
  /**
   * Time limit in milliseconds for operators that hold events while a turn ends, and for the store's last writes.
   * After it the turn ends without the operators, or the session counts as stuck (`session-stuck`).
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
   * Generates ids of turns and received messages.
   *
   * @defaultValue `crypto.randomUUID`
   */
  readonly newId?: (() => string) | undefined;
}

/** The input of a turn. */
export interface TurnInput {
  /** The id of the conversation. */
  readonly session: string;
  /** The message of the user. */
  readonly input: string | readonly UserPart[] | UserMessage | readonly UserMessage[];
  /** @defaultValue `'user'` */
  readonly trigger?: TurnTrigger | undefined;
  readonly priority?: TurnPriority | undefined;
  /** Cancels the turn when it is aborted. Operators stay connected until the turn has ended. */
  readonly signal?: AbortSignal | undefined;
  /** Data about the origin of the turn for operators (a channel, a user id). */
  readonly metadata?: JSONObject | undefined;
  /** The id of the turn. @defaultValue a new one */
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

/** Providers reject an empty message. */
const saying = userMessageSchema.refine(({ content }) => content.length > 0, {
  path: ['content'],
  message: 'expected a non-empty message',
});
const userParts = z.array(z.looseObject({ type: z.enum(['text', 'image', 'file']) })).min(1);

export const steeringSchema = z.union([z.string().min(1), saying]);

const signalSchema = z.instanceof(AbortSignal).optional();

export const resumeOptionsSchema = z.strictObject({ signal: signalSchema });

export const turnInputSchema = z.strictObject({
  session: z.string().min(1),
  input: z.union([
    z.string().min(1),
    saying,
    z.array(saying).min(1),
    userParts.refine(
      (content) => userMessageSchema.safeParse({ role: 'user', content }).success,
      'expected a list of user parts',
    ),
  ]),
  trigger: z.string().min(1).optional(),
  priority: z.enum(['foreground', 'normal', 'background']).optional(),
  signal: signalSchema,
  metadata: jsonObjectSchema.optional(),
  id: z.string().min(1).optional(),
}) as unknown as z.ZodType<TurnInput>;

/** Converts the input to messages and replaces lone surrogates. */
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
