import type { ErrorInfo, TurnEventOf } from '@h/turn';
import {
  anyBoolean,
  anyFunction,
  anyObject,
  nonEmptyString,
  checkOptions,
  anyOf,
  arrayOf,
  numberFrom,
  objectOf,
  objectWithMethods,
  required,
  integerFrom,
  InvalidOptionError,
  showValue,
} from '@h/options';
import { exponentialBackoff, type Backoff } from './backoff.js';
import type { ModelChoice } from './chain.js';
import {
  classifyError,
  type ClassifyOptions,
  type ErrorClass,
  type ErrorReason,
  type FailureScope,
} from '@h/provider-errors';
import type { CredentialPool } from './pool/credential-pool.js';
import type { DecisionLimits } from './decide.js';
import { reasonActions, type ReasonAction } from './reason-actions.js';

/** Changes to the action for a reason. */
export type ActionChanges = Partial<Pick<ReasonAction, 'retry' | 'maxRetries' | 'rotate' | 'fallBack'>>;

/** Options of {@link failover}. */
export interface FailoverOptions {
  /**
   * Credentials, see `createCredentialPool`. `model.request` carries their ids; the driver gets the keys from the pool.
   *
   * @defaultValue none: requests keep their credential, and cooldowns of models last for the turn
   */
  readonly pool?: CredentialPool | undefined;
  /**
   * Models in the order in which they are asked, under the names of the driver: `provider/model`. A model that the
   * request names comes first. Without models there is no fallback.
   *
   * @defaultValue `[]`
   */
  readonly models?: readonly (string | ModelChoice)[] | undefined;
  /**
   * The model that the user insists on for this turn. It has no fallback.
   *
   * @defaultValue `model` of the turn's metadata
   */
  readonly chosenModel?: ((start: TurnEventOf<'turn.start'>) => string | undefined) | undefined;
  /**
   * Maximum number of retries with the same model and credential in one step.
   *
   * @defaultValue `3`, which the default backoff spreads over at most 7 s
   */
  readonly maxRetries?: number | undefined;
  /**
   * Maximum number of calls in one step, the first included.
   *
   * @defaultValue `12`, enough for three models with three retries each
   */
  readonly maxAttempts?: number | undefined;
  /**
   * The longest time from the first call of a step to the beginning of its last, in milliseconds.
   *
   * @defaultValue `600_000`, the time limit of one request in the SDKs of OpenAI and Anthropic
   */
  readonly maxElapsedMs?: number | undefined;
  /**
   * The longest wait for a retry or for the end of a cooldown, in milliseconds. Longer retries switch to another
   * credential or model. If nothing else is available, `maxStatedWaitMs` limits a wait that the provider asked for.
   *
   * @defaultValue `120_000`, twice the first cooldown of a rate limit
   */
  readonly maxWaitMs?: number | undefined;
  /**
   * The longest wait that the provider asked for while nothing else is available, in milliseconds. `0` for callers that
   * retry on their own.
   *
   * @defaultValue `maxElapsedMs`
   */
  readonly maxStatedWaitMs?: number | undefined;
  /**
   * The delay before a retry. A longer wait that the provider asks for takes precedence.
   *
   * @defaultValue `exponentialBackoff()`
   */
  readonly backoff?: Backoff | undefined;
  /**
   * Classifies errors, for what only you know about your providers.
   *
   * @defaultValue `classifyError` of `@h/provider-errors`
   *
   * @example
   * ```ts
   * failover({
   *   classify: (error, options) => {
   *     const found = classifyError(error, options);
   *     return error.status === 418 ? { ...found, reason: 'overloaded' } : found;
   *   },
   * });
   * ```
   */
  readonly classify?: ((error: ErrorInfo, options: ClassifyOptions) => ErrorClass) | undefined;
  /** Changes to the actions of the table, by reason. */
  readonly actions?: Readonly<Partial<Record<ErrorReason, ActionChanges>>> | undefined;
  /**
   * A number from 0 to 1, for the jitter of delays.
   *
   * @defaultValue `Math.random`
   */
  readonly random?: (() => number) | undefined;
}

/** Options with their defaults. */
export interface FailoverSettings extends DecisionLimits {
  readonly pool: CredentialPool | undefined;
  readonly models: readonly (string | ModelChoice)[];
  readonly chosenModel: (start: TurnEventOf<'turn.start'>) => string | undefined;
  readonly classify: (error: ErrorInfo, options: ClassifyOptions) => ErrorClass;
}

const aModel = {
  ...anyOf(
    nonEmptyString,
    objectOf({ model: required(nonEmptyString), provider: nonEmptyString, settings: anyObject }),
  ),
  expected: 'the name of a model or { model, provider, settings }',
};

const anAction = objectOf({
  retry: anyBoolean,
  maxRetries: integerFrom(0, Infinity),
  rotate: anyBoolean,
  fallBack: anyBoolean,
});

/** The options, checked and completed. @throws InvalidOptionError `invalid-option` */
export const settingsOf = (options: FailoverOptions): FailoverSettings => {
  checkOptions('failover()', options, {
    pool: objectWithMethods('acquire', 'failed', 'succeeded', 'key', 'redact'),
    models: arrayOf(aModel),
    chosenModel: anyFunction,
    maxRetries: integerFrom(0, Infinity),
    maxAttempts: integerFrom(1, Infinity),
    maxElapsedMs: numberFrom(0, Infinity),
    maxWaitMs: numberFrom(0, Infinity),
    maxStatedWaitMs: numberFrom(0, Infinity),
    backoff: anyFunction,
    classify: anyFunction,
    actions: objectOf(Object.fromEntries(Object.keys(reasonActions).map((reason) => [reason, anAction]))),
    random: anyFunction,
  });
  const {
    pool,
    models = [],
    chosenModel = ({ metadata }) => (typeof metadata?.['model'] === 'string' ? metadata['model'] : undefined),
    maxRetries = 3,
    maxAttempts = 12,
    maxElapsedMs = 600_000,
    maxWaitMs = 120_000,
    maxStatedWaitMs = maxElapsedMs,
    backoff = exponentialBackoff(),
    classify = classifyError,
    actions = {},
    // oxlint-disable-next-line h/no-clock -- the default source of randomness, which callers may replace
    random = () => Math.random(),
  } = options;
  return {
    pool,
    models,
    chosenModel,
    maxRetries,
    maxAttempts,
    maxElapsedMs,
    maxWaitMs,
    maxStatedWaitMs,
    backoff: checkedBackoff(backoff),
    classify: checkedClassify(classify),
    actions: actionsWith(actions),
    random,
  };
};

const scopes: readonly unknown[] = ['request', 'profile', 'model', 'service'] satisfies readonly FailureScope[];

/** Without these checks, a bad result would end the turn with an error that names no option, or end it silently. */
const checkedClassify =
  (classify: FailoverSettings['classify']): FailoverSettings['classify'] =>
  (error, options) => {
    const found = classify(error, options);
    const { reason, scope, retryable } = (found as Partial<ErrorClass> | null | undefined) ?? {};
    const isKnown = typeof reason === 'string' && Object.hasOwn(reasonActions, reason);
    if (isKnown && scopes.includes(scope) && typeof retryable === 'boolean') return found;
    throw badResult('classify', '{ reason, scope, retryable }, as classifyError() of @h/provider-errors does', found);
  };

const checkedBackoff =
  (backoff: Backoff): Backoff =>
  (retry, random) => {
    const delayMs: unknown = backoff(retry, random);
    if (typeof delayMs === 'number' && !Number.isNaN(delayMs)) return delayMs;
    throw badResult('backoff', 'a number of milliseconds', delayMs);
  };

const badResult = (option: string, expected: string, found: unknown): InvalidOptionError =>
  new InvalidOptionError({
    owner: 'failover()',
    option,
    message: `failover(): "${option}" must return ${expected}; received ${showValue(found)}.`,
  });

const actionsWith = (changes: NonNullable<FailoverOptions['actions']>): FailoverSettings['actions'] => {
  const table = Object.entries(reasonActions).map(
    ([reason, action]) => [reason, { ...action, ...changes[reason as ErrorReason] }] as const,
  );
  return Object.fromEntries(table) as Record<ErrorReason, ReasonAction>;
};
