import type { SchedulerLike } from 'rxjs';
import {
  anyFunction,
  anyObject,
  anyOf,
  anyString,
  arrayOf,
  checkOptions,
  instanceOf,
  integerFrom,
  nonEmptyString,
  numberFrom,
  objectOf,
  objectWithMethods,
  oneOf,
  recordOf,
  required,
  type OptionCheck,
  type OptionChecks,
} from '@h/options';
import { checked, jsonObject, toInputError } from './checks/data-checks.js';
import { priority } from './checks/event-checks.js';
import type { TurnPriority, TurnTrigger } from './contract/events.js';
import type { JSONObject } from './contract/json.js';
import { sentMessage, userPart } from './checks/message-checks.js';
import type { UserMessage, UserPart } from './contract/messages.js';
import type { ModelDriver, ModelSettings, SystemBlock } from './contract/model.js';
import type { SessionStore } from './contract/session-store.js';
import type { ToolDriver } from './contract/tool.js';
import { wellFormed } from './transcript/well-formed.js';

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
   * if its guards are missing or fail.
   *
   * @defaultValue `1000`, several times the model calls of the longest turns of current coding agents
   */
  readonly maxModelCalls?: number | undefined;
  /**
   * Time limit in milliseconds for operators that hold events while a turn ends, and for the store's last writes.
   * After it the turn ends without the operators, or the session counts as stuck (`session-stuck`).
   *
   * @defaultValue `5000`, less than the 10 s after which Docker kills a process
   */
  readonly closeGraceMs?: number | undefined;
  /**
   * The clock and the timers.
   *
   * @defaultValue `asyncScheduler`
   */
  readonly scheduler?: SchedulerLike | undefined;
  /**
   * Generates ids of turns and received messages. If it throws or returns anything but a non-empty string, the turn
   * ends with the outcome `error`, and `steer()` throws.
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

const anyNumber = numberFrom(-Number.MAX_VALUE);

const settings = objectOf({
  maxOutputTokens: integerFrom(1),
  temperature: anyNumber,
  topP: anyNumber,
  topK: anyNumber,
  presencePenalty: anyNumber,
  frequencyPenalty: anyNumber,
  stopSequences: arrayOf(anyString),
  seed: integerFrom(Number.MIN_SAFE_INTEGER),
  toolChoice: anyOf(oneOf('auto', 'none', 'required'), objectOf({ toolName: required(anyString) })),
  reasoning: oneOf('none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'),
  providerOptions: recordOf(jsonObject),
});

const systemBlock = objectOf({ text: required(anyString), cache: objectOf({ ttl: oneOf('5m', '1h') }) });

const harnessChecks: OptionChecks<HarnessOptions> = {
  model: required({ ...anyFunction, expected: 'a model driver, such as languageModel(…) of @h/ai-sdk' }),
  tools: { ...objectWithMethods('definitions', 'run'), expected: 'a tool driver, such as toolDriver([…]) of @h/tools' },
  sessions: objectWithMethods('open', 'locate', 'unfinished'),
  system: anyOf(anyString, arrayOf(systemBlock)),
  settings,
  defaultModel: anyString,
  maxModelCalls: integerFrom(1, Infinity),
  closeGraceMs: numberFrom(0),
  scheduler: objectWithMethods('schedule', 'now'),
  newId: anyFunction,
};

/** @throws InvalidOptionError if an option is unknown, is missing or has the wrong shape */
export const checkHarnessOptions = (options: HarnessOptions): void => checkOptions('harness()', options, harnessChecks);

/** The check for the form that the input of a turn has. */
const formOf = (input: unknown): OptionCheck | undefined => {
  if (typeof input === 'string') return nonEmptyString;
  if (!Array.isArray(input)) return sentMessage;
  if (input.length === 0) return undefined;
  return arrayOf(input.some((item) => anyObject.accepts(item) && 'role' in item) ? sentMessage : userPart);
};

const turnInput: OptionCheck = {
  expected: 'a non-empty string, a user message, or a non-empty array of user messages or user parts',
  accepts: (value) => formOf(value)?.accepts(value) === true,
  faultIn: (value) => formOf(value)?.faultIn?.(value),
};

const signal = instanceOf(AbortSignal);

const turnChecks: OptionChecks<TurnInput> = {
  session: required(nonEmptyString),
  input: required(turnInput),
  trigger: nonEmptyString,
  priority,
  signal,
  metadata: jsonObject,
  id: nonEmptyString,
};

/** @throws InvalidInputError if a member is unknown, is missing or has the wrong shape */
export const checkTurnInput = (input: TurnInput): void => checkOptions('turn()', input, turnChecks, toInputError);

/** @throws InvalidInputError if an option is unknown or has the wrong shape */
export const checkResumeOptions = (options: Pick<TurnInput, 'signal'>): void =>
  checkOptions('resume()', options, { signal }, toInputError);

/** Checks and converts the message of `steer()`. */
export const toSteeringMessage = (message: string | UserMessage): UserMessage => {
  checked(typeof message === 'string' ? nonEmptyString : sentMessage, message, 'steer()', 'message');
  return wellFormed(typeof message === 'string' ? { role: 'user', content: message } : message);
};

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
