import type { JSONValue, MaybePromise, ToolOutcome, ToolRunContext } from '@h/turn';
import type { SchedulerLike, Subscription } from 'rxjs';
import type { ToolContext, ToolReturn } from './define-tool.js';
import { checkFailed, type Job } from './job.js';
import { LazyAbort } from './lazy-abort.js';
import { invalidInput, returned, thrown, timedOut } from './outcomes.js';
import { marked } from './replay-control.js';

/** Longest delay that a timer takes; a longer limit is none. */
const longestDelayMs = 2_147_483_647;

/** What a running call reports to. */
export interface CallHost {
  readonly scheduler: SchedulerLike;
  readonly context: ToolRunContext;
  progress(job: Job, value: JSONValue): void;
  /** The one answer. Comes before {@link startCall} returns where the tool is synchronous. */
  done(job: Job, outcome: ToolOutcome): void;
  /** The tool has settled after it had been given up. */
  late(job: Job, outcome: ToolOutcome, givenUpAs: 'timed-out' | 'cancelled', durationMs: number): void;
}

/** A call that has begun. */
export interface RunningCall {
  /** Gives the call up without an answer. */
  cancel(reason: Error): void;
}

/** Runs one call under its deadline and answers it once, whatever the tool does. */
export const startCall = (job: Job, timeoutMs: number, host: CallHost): RunningCall => {
  const { scheduler } = host;
  const abort = new LazyAbort();
  const startedAt = scheduler.now();
  let timer: Subscription | undefined;
  let givenUpAs: 'timed-out' | 'cancelled' | undefined;
  let isOpen = true;

  const close = (): void => {
    isOpen = false;
    timer?.unsubscribe();
  };
  const settle = (outcome: ToolOutcome): void => {
    const durationMs = Math.max(0, scheduler.now() - startedAt);
    if (givenUpAs !== undefined) {
      host.late(job, outcome, givenUpAs, durationMs);
      return;
    }
    close();
    host.done(job, finished(job, outcome, durationMs));
  };
  const giveUp = (as: 'timed-out' | 'cancelled', reason: Error): void => {
    givenUpAs = as;
    close();
    abort.abort(reason);
  };
  const expire = (): void => {
    giveUp('timed-out', new DOMException(`The call took longer than ${timeoutMs} ms.`, 'TimeoutError'));
    host.done(job, { ...timedOut(timeoutMs, job.effect === 'read-only'), durationMs: timeoutMs });
  };

  const { turn, session, step } = host.context;
  const context: ToolContext = {
    call: { id: job.call.id, name: job.call.name },
    turn,
    session,
    step,
    deadlineAt: timeoutMs > longestDelayMs ? undefined : startedAt + timeoutMs,
    get signal() {
      return abort.signal;
    },
    progress: (value) => {
      if (isOpen) host.progress(job, value);
    },
  };
  const running = attempt(job, context);
  if (!isPending(running)) {
    settle(running);
    return { cancel: () => undefined };
  }
  if (timeoutMs <= longestDelayMs) timer = scheduler.schedule(expire, timeoutMs);
  void running.then(settle);
  return {
    cancel: (reason) => {
      if (isOpen) giveUp('cancelled', reason);
    },
  };
};

const finished = (job: Job, outcome: ToolOutcome, durationMs: number): ToolOutcome => ({
  ...outcome,
  ...(job.tool.external && { details: marked(outcome.details, { external: true }) }),
  durationMs,
});

/** The outcome of the tool, now or later; never throws and never rejects. */
const attempt = (job: Job, context: ToolContext): ToolOutcome | Promise<ToolOutcome> => {
  if ('then' in job.input) return attemptChecked(job, job.input, context);
  if (!job.input.ok) return invalidInput(job.tool.name, job.input.issues);
  try {
    const result = job.tool.run(job.input.value, context);
    return isThenable(result) ? awaited(result) : returned(result);
  } catch (error) {
    return thrown(error);
  }
};

const attemptChecked = async (job: Job, check: PromiseLike<{ ok: boolean }>, context: ToolContext): Promise<ToolOutcome> => {
  try {
    const input = (await check) as Exclude<Job['input'], PromiseLike<unknown>>;
    // Given up while the check was under way: then the tool is not to begin.
    context.signal.throwIfAborted();
    return await attempt({ ...job, input }, context);
  } catch (error) {
    return checkFailed(job.tool, error);
  }
};

const awaited = async (result: PromiseLike<ToolReturn>): Promise<ToolOutcome> => {
  try {
    return returned(await result);
  } catch (error) {
    return thrown(error);
  }
};

const isThenable = (value: MaybePromise<ToolReturn>): value is PromiseLike<ToolReturn> =>
  typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';

const isPending = (value: ToolOutcome | Promise<ToolOutcome>): value is Promise<ToolOutcome> => value instanceof Promise;
