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
} from '@h/options';
import { exponentialBackoff, type Backoff } from './backoff.js';
import type { ModelChoice } from './chain.js';
import { classifyError, type ClassifyOptions, type ErrorClass, type ErrorReason } from '@h/provider-errors';
import type { CredentialPool } from './pool/credential-pool.js';
import { reasonActions, type ReasonAction } from './reasons.js';

/** What a reason may be answered with instead of what the table says. */
export type ActionChanges = Partial<Pick<ReasonAction, 'retry' | 'maxRetries' | 'rotate' | 'fallBack'>>;

/** Options of {@link failover}. */
export interface FailoverOptions {
  /**
   * Credentials, see `createCredentialPool`. Their ids travel in `model.request`, and the driver asks the pool for the keys.
   *
   * @defaultValue none: requests keep the credential that they have, and cooldowns of models last for the turn
   */
  readonly pool?: CredentialPool | undefined;
  /**
   * Models in the order in which they are asked, as the driver names them: `provider/model`. The model that a request
   * names already comes first. With none there is nothing to fall back to.
   *
   * @defaultValue `[]`
   */
  readonly models?: readonly (string | ModelChoice)[] | undefined;
  /**
   * The model that a user insists on for this turn: nobody else is asked.
   *
   * @defaultValue `model` of the turn's metadata
   */
  readonly chosenModel?: ((start: TurnEventOf<'turn.start'>) => string | undefined) | undefined;
  /**
   * How often the same model is asked again with the same credential after a failure that may pass, in one step.
   *
   * @defaultValue `3`
   */
  readonly maxRetries?: number | undefined;
  /**
   * How many calls a step may make in all, the first included.
   *
   * @defaultValue `12`
   */
  readonly maxAttempts?: number | undefined;
  /**
   * How long a step may take from its first call to the beginning of its last, in milliseconds.
   *
   * @defaultValue `600_000`
   */
  readonly maxElapsedMs?: number | undefined;
  /**
   * How long one wait may be, in milliseconds: for a retry, or until the first of those that are left alone is free. What
   * would take longer is not waited for.
   *
   * @defaultValue `120_000`, twice what a rate limit takes the first time
   */
  readonly maxWaitMs?: number | undefined;
  /**
   * How long to wait before a retry. What the provider asks for is waited in any case.
   *
   * @defaultValue `exponentialBackoff()`
   */
  readonly backoff?: Backoff | undefined;
  /**
   * Says why a call failed, for what only you know about your providers.
   *
   * @defaultValue `classifyError`
   *
   * @example
   * ```ts
   * failover({ classify: (error, options) => (error.status === 418 ? { ...classifyError(error, options), reason: 'overloaded' } : classifyError(error, options)) });
   * ```
   */
  readonly classify?: ((error: ErrorInfo, options: ClassifyOptions) => ErrorClass) | undefined;
  /** Other actions than those of the table, by reason. */
  readonly actions?: Readonly<Partial<Record<ErrorReason, ActionChanges>>> | undefined;
  /**
   * A number from 0 to 1, for the jitter of delays.
   *
   * @defaultValue `Math.random`
   */
  readonly random?: (() => number) | undefined;
}

/** Options with their defaults. */
export interface FailoverSettings {
  readonly pool: CredentialPool | undefined;
  readonly models: readonly (string | ModelChoice)[];
  readonly chosenModel: (start: TurnEventOf<'turn.start'>) => string | undefined;
  readonly maxRetries: number;
  readonly maxAttempts: number;
  readonly maxElapsedMs: number;
  readonly maxWaitMs: number;
  readonly backoff: Backoff;
  readonly classify: (error: ErrorInfo, options: ClassifyOptions) => ErrorClass;
  readonly actions: Readonly<Record<ErrorReason, ReasonAction>>;
  readonly random: () => number;
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
    pool: objectWithMethods('acquire', 'failed', 'succeeded', 'key'),
    models: arrayOf(aModel),
    chosenModel: anyFunction,
    maxRetries: integerFrom(0, Infinity),
    maxAttempts: integerFrom(1, Infinity),
    maxElapsedMs: numberFrom(0, Infinity),
    maxWaitMs: numberFrom(0, Infinity),
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
    backoff = exponentialBackoff(),
    classify = classifyError,
    actions = {},
    // oxlint-disable-next-line h/no-clock -- the default chance, which callers may replace
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
    backoff,
    classify,
    actions: actionsWith(actions),
    random,
  };
};

const actionsWith = (changes: NonNullable<FailoverOptions['actions']>): FailoverSettings['actions'] => {
  const table = Object.entries(reasonActions).map(
    ([reason, action]) => [reason, { ...action, ...changes[reason as ErrorReason] }] as const,
  );
  return Object.fromEntries(table) as Record<ErrorReason, ReasonAction>;
};
