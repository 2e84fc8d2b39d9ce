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
} from '@h/options';
import type { Hook } from '../hook.js';

/** A draft answer, as the judge receives it. */
export interface Draft {
  readonly text: string;
  /** The history, the draft included. */
  readonly messages: Iterable<Message>;
  /** How often it has been sent back already. */
  readonly sentBack: number;
}

/** What is left of a turn's budget; what is not named is not limited. */
export interface RemainingBudget {
  readonly timeMs?: number | undefined;
  readonly tokens?: number | undefined;
}

/** What a judge may use. */
export interface ReflectionContext {
  /** Aborted when the judge's time is up, and when the turn is over. */
  readonly signal: AbortSignal;
  /** How long it may take, in milliseconds. */
  readonly timeMs: number;
  /** How many tokens it may use, if that is limited. */
  readonly tokens?: number | undefined;
}

/** What a judge says: nothing to complain of, or what to do better. */
export type ReflectionVerdict =
  | { readonly verdict: 'accept' }
  | { readonly verdict: 'revise'; readonly feedback: string };

/** What became of a reflection. There always is one. */
export type ReflectionResult =
  | ReflectionVerdict
  | {
      readonly verdict: 'skipped';
      readonly why: 'budget' | 'cancelled' | 'deadline' | 'failed';
      readonly message: string;
    };

/** Options of {@link reflection}. */
export interface ReflectionOptions {
  /** Looks at the draft: a model that is asked, a set of checks. */
  readonly judge: (draft: Draft, context: ReflectionContext) => ReflectionVerdict | PromiseLike<ReflectionVerdict>;
  /** Returns what is left of the turn's budget. Without it nothing is limited. */
  readonly remaining?: (() => RemainingBudget) | undefined;
  /**
   * The number of tokens that must be left for a reflection.
   *
   * @defaultValue `2_000`, a short question about a draft and its answer
   */
  readonly minTokens?: number | undefined;
  /**
   * The time that must be left, in milliseconds.
   *
   * @defaultValue `5_000`, about what a small model takes
   */
  readonly minTimeMs?: number | undefined;
  /**
   * How long the judge may take, in milliseconds, however much is left.
   *
   * @defaultValue `30_000`
   */
  readonly timeoutMs?: number | undefined;
  /**
   * How often it may send a turn back. The option of `hooks()` with this name counts besides.
   *
   * @defaultValue `1`: a second look seldom finds what the first has not
   */
  readonly maxSendBacks?: number | undefined;
  /**
   * What the model reads before the judge's feedback.
   *
   * @defaultValue `'A review of your answer found something to improve. Revise it, and answer again in full:'`
   */
  readonly prompt?: string | undefined;
  /**
   * The clock of the deadline.
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
 * Has a judge look at the draft answer before the turn ends, and sends it back where that finds something.
 *
 * It never costs a turn its answer: without the budget or the time for it, and when the judge fails, the draft is kept,
 * and a notice `hook.notice` says why.
 *
 * @throws InvalidOptionError `invalid-option`
 *
 * @example
 * ```ts
 * hooks([reflection({ judge: async ({ text }) => (text.includes('TODO') ? { verdict: 'revise', feedback: 'A TODO is left.' } : { verdict: 'accept' }) })]);
 * ```
 */
export const reflection = (options: ReflectionOptions): Hook => {
  checkOptions('reflection()', options, checks);
  const { maxSendBacks = 1, prompt = defaultPrompt } = options;
  return {
    name: 'reflection',
    // The deadline is the reflection's own.
    timeoutMs: Infinity,
    beforeEnd: async ({ text, messages, sentBack, signal, notify }) => {
      if (text === '' || sentBack >= maxSendBacks) return undefined;
      const result = await reflect({ text, messages, sentBack }, options, signal);
      if (result.verdict === 'revise') {
        return { proceed: `${prompt}\n\n${result.feedback}`, reason: 'The reflection wants it revised.' };
      }
      if (result.verdict === 'skipped' && result.why !== 'cancelled') notify(result.message, { why: result.why });
      return undefined;
    },
  };
};

/**
 * Asks the judge about a draft, within what is left. It never fails: whatever goes wrong is a result.
 *
 * @example
 * ```ts
 * const { verdict } = await reflect({ text: 'Done.', messages: [], sentBack: 0 }, { judge });
 * ```
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
      return skipped('budget', `${left.tokens} tokens are left; it takes ${minTokens}.`);
    }
    if ((left.timeMs ?? Infinity) < minTimeMs) {
      return skipped('deadline', `${left.timeMs} ms are left; it takes ${minTimeMs}.`);
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
  return isVerdict ? result : skipped('failed', `the judge answered ${showValue(given)}, which is no verdict.`);
};

/** The judge's word, or that its time is up: whichever comes first. */
const limited = (
  timeMs: number,
  scheduler: SchedulerLike,
  signal: AbortSignal | undefined,
  ask: (signal: AbortSignal) => ReflectionVerdict | PromiseLike<ReflectionVerdict>,
): Promise<ReflectionResult> =>
  new Promise((resolve, reject) => {
    const own = new AbortController();
    const timer =
      timeMs > 2_147_483_647
        ? undefined
        : scheduler.schedule(() => giveUp('deadline', `the judge took longer than ${timeMs} ms.`), timeMs);
    const done = (): void => {
      timer?.unsubscribe();
      signal?.removeEventListener('abort', cancel);
    };
    const giveUp = (why: Skipped['why'], message: string): void => {
      done();
      resolve(skipped(why, message));
      own.abort();
    };
    const cancel = (): void => giveUp('cancelled', 'the turn is over.');
    signal?.addEventListener('abort', cancel, { once: true });
    if (signal?.aborted === true) {
      cancel();
      return;
    }
    Promise.resolve(own.signal).then(ask).finally(done).then(resolve, reject);
  });
