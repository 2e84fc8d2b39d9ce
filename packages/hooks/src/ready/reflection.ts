import { toErrorInfo, type Message } from '@h/turn';
import { asyncScheduler, type SchedulerLike } from 'rxjs';
import {
  anyFunction,
  nonEmptyString,
  checkOptions,
  numberFrom,
  objectWithMethods,
  required,
  showValue,
  integerFrom,
  later,
} from '@h/options';
import type { Hook } from '../hook.js';

/** The draft answer that the judge receives. */
export interface Draft {
  readonly text: string;
  /** The history, including the draft. */
  readonly messages: Iterable<Message>;
  /** The number of times that the reflection has sent the turn back. */
  readonly sentBack: number;
}

/** The remaining budget of a turn. A missing member means that there is no limit. */
export interface RemainingBudget {
  readonly timeMs?: number | undefined;
  readonly tokens?: number | undefined;
}

/** The context of the judge. */
export interface ReflectionContext {
  /** Aborted when the judge exceeds its time limit, and when the turn ends. */
  readonly signal: AbortSignal;
  /** Time limit of the judge in milliseconds. */
  readonly timeMs: number;
  /** The remaining tokens, if they are limited. */
  readonly tokens?: number | undefined;
}

/** The verdict of the judge: accept the draft, or revise it according to the feedback. */
export type ReflectionVerdict =
  | { readonly verdict: 'accept' }
  | { readonly verdict: 'revise'; readonly feedback: string };

/** The result of a reflection. A failure has the verdict `skipped`. */
export type ReflectionResult =
  | ReflectionVerdict
  | {
      readonly verdict: 'skipped';
      readonly why: 'budget' | 'cancelled' | 'deadline' | 'failed';
      readonly message: string;
    };

/** Options of {@link reflection}. */
export interface ReflectionOptions {
  /** Judges the draft, for example with a model or a set of checks. */
  readonly judge: (draft: Draft, context: ReflectionContext) => ReflectionVerdict | PromiseLike<ReflectionVerdict>;
  /** Returns the remaining budget of the turn. Without this function, there is no limit. */
  readonly remaining?: (() => RemainingBudget) | undefined;
  /**
   * The minimum of remaining tokens for a reflection.
   *
   * @defaultValue `2_000`, enough for a short prompt about a draft and its answer
   */
  readonly minTokens?: number | undefined;
  /**
   * The minimum of remaining time for a reflection, in milliseconds.
   *
   * @defaultValue `5_000`, about the response time of a small model
   */
  readonly minTimeMs?: number | undefined;
  /**
   * Time limit of the judge in milliseconds, in addition to the remaining time of the turn.
   *
   * @defaultValue `30_000`, six times the response time of a small model
   */
  readonly timeoutMs?: number | undefined;
  /**
   * The maximum number of times that the reflection sends a turn back. `maxSendBacks` of `hooks()` applies as well.
   *
   * @defaultValue `1`; a second reflection seldom finds more
   */
  readonly maxSendBacks?: number | undefined;
  /**
   * The text before the feedback of the judge.
   *
   * @defaultValue `'A review of your answer found something to improve. Revise it, and answer again in full:'`
   */
  readonly prompt?: string | undefined;
  /**
   * The clock for the time limit.
   *
   * @defaultValue `asyncScheduler`
   */
  readonly scheduler?: SchedulerLike | undefined;
}

const checks = {
  judge: required(anyFunction),
  remaining: anyFunction,
  minTokens: numberFrom(0, Infinity),
  minTimeMs: numberFrom(0, Infinity),
  timeoutMs: numberFrom(0, Infinity),
  maxSendBacks: integerFrom(0, Infinity),
  prompt: nonEmptyString,
  scheduler: objectWithMethods('schedule', 'now'),
};

const defaultPrompt = 'A review of your answer found something to improve. Revise it, and answer again in full:';

/**
 * Passes the draft answer to a judge before the turn ends, and sends it back if the judge requests a revision.
 *
 * The turn always retains its answer: if the budget or the time is insufficient, or if the judge fails, the draft
 * becomes the answer, and the notice `hook.notice` contains the reason.
 *
 * @throws InvalidOptionError `invalid-option`
 *
 * @example
 * ```ts
 * const judge = ({ text }: Draft): ReflectionVerdict =>
 *   text.includes('TODO') ? { verdict: 'revise', feedback: 'A TODO is left.' } : { verdict: 'accept' };
 * hooks([reflection({ judge })]);
 * ```
 */
export const reflection = (options: ReflectionOptions): Hook => {
  checkOptions('reflection()', options, checks);
  const { maxSendBacks = 1, prompt = defaultPrompt } = options;
  return {
    name: 'reflection',
    // `reflect()` applies its own time limit.
    timeoutMs: Infinity,
    beforeEnd: async ({ text, messages, sentBack, signal, notify }) => {
      if (text === '' || sentBack >= maxSendBacks) return undefined;
      const result = await reflect({ text, messages, sentBack }, options, signal);
      if (result.verdict === 'revise') {
        return { proceed: `${prompt}\n\n${result.feedback}`, reason: 'The reflection requested a revision.' };
      }
      if (result.verdict === 'skipped' && result.why !== 'cancelled') notify(result.message, { why: result.why });
      return undefined;
    },
  };
};

/**
 * Passes a draft to the judge, within the remaining budget. It never throws: a failure returns the verdict `skipped`.
 */
export const reflect = async (
  draft: Draft,
  options: ReflectionOptions,
  signal?: AbortSignal,
): Promise<ReflectionResult> => {
  const {
    judge,
    remaining,
    minTokens = 2_000,
    minTimeMs = 5_000,
    timeoutMs = 30_000,
    scheduler = asyncScheduler,
  } = options;
  try {
    const left = remaining?.() ?? {};
    if ((left.tokens ?? Infinity) < minTokens) {
      return skipped('budget', `${left.tokens} tokens are left, less than minTokens (${minTokens}).`);
    }
    if ((left.timeMs ?? Infinity) < minTimeMs) {
      return skipped('deadline', `${left.timeMs} ms are left, less than minTimeMs (${minTimeMs}).`);
    }
    const timeMs = Math.min(timeoutMs, left.timeMs ?? Infinity);
    const result = await limited(timeMs, scheduler, signal, (own) =>
      judge(draft, { signal: own, timeMs, ...(left.tokens !== undefined && { tokens: left.tokens }) }),
    );
    return verdictIn(result);
  } catch (error) {
    return skipped('failed', toErrorInfo(error).message);
  }
};

type Skipped = Extract<ReflectionResult, { readonly verdict: 'skipped' }>;

const skipped = (why: Skipped['why'], message: string): Skipped => ({
  verdict: 'skipped',
  why,
  message: `The reflection was skipped (${why}): ${message}`,
});

const verdictIn = (result: ReflectionResult): ReflectionResult => {
  const given: unknown = result;
  const { verdict, feedback } = (typeof given === 'object' && given !== null ? given : {}) as {
    readonly verdict?: unknown;
    readonly feedback?: unknown;
  };
  const isVerdict =
    verdict === 'accept' ||
    verdict === 'skipped' ||
    (verdict === 'revise' && typeof feedback === 'string' && feedback !== '');
  return isVerdict ? result : skipped('failed', `the judge answered ${showValue(given)}, which is not a verdict.`);
};

/** Returns the verdict of the judge, or `skipped` if the time limit or an abort comes first. */
const limited = (
  timeMs: number,
  scheduler: SchedulerLike,
  signal: AbortSignal | undefined,
  ask: (signal: AbortSignal) => ReflectionVerdict | PromiseLike<ReflectionVerdict>,
): Promise<ReflectionResult> =>
  new Promise((resolve, reject) => {
    const own = new AbortController();
    const stopTimer = later(scheduler, timeMs, () => skip('deadline', `the judge took longer than ${timeMs} ms.`));
    const done = (): void => {
      stopTimer();
      signal?.removeEventListener('abort', cancel);
    };
    const skip = (why: Skipped['why'], message: string): void => {
      done();
      resolve(skipped(why, message));
      own.abort();
    };
    const cancel = (): void => skip('cancelled', 'the turn is over.');
    signal?.addEventListener('abort', cancel, { once: true });
    if (signal?.aborted === true) {
      cancel();
      return;
    }
    Promise.resolve(own.signal).then(ask).finally(done).then(resolve, reject);
  });
