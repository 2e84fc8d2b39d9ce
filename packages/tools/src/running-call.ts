import { later, maxTimerMs } from '@h/options';
import { isPromise, LazyAbort, type JSONValue, type ToolOutcome, type ToolRunContext } from '@h/turn';
import type { SchedulerLike } from 'rxjs';
import type { ToolContext, ToolReturn } from './define-tool.js';
import type { InputCheck } from './json-schema.js';
import { checkFailed, type Job } from './job.js';
import { invalidInput, returned, thrown, timedOut } from './outcomes.js';
import { marked } from './replay-control.js';

type AbortedAs = 'timed-out' | 'cancelled';

/** Receives the reports of a running call. */
export interface CallHost {
  readonly scheduler: SchedulerLike;
  readonly context: ToolRunContext;
  progress(job: Job, value: JSONValue): void;
  /** Called once with the outcome. */
  done(call: RunningCall, outcome: ToolOutcome): void;
  /** Called when a tool settles after its call timed out or was cancelled. */
  late(job: Job, outcome: ToolOutcome, abortedAs: AbortedAs, durationMs: number): void;
}

/** Runs one call under its deadline and answers it exactly once. */
export class RunningCall {
  readonly job: Job;
  /** Value of `ReplayControl.touches` when the call began. */
  readonly touches: number | undefined;
  readonly #timeoutMs: number;
  readonly #host: CallHost;
  readonly #startedAt: number;
  readonly #abort = new LazyAbort();
  #stopTimer: (() => void) | undefined;
  #abortedAs: AbortedAs | undefined;
  #isOpen = true;

  constructor(job: Job, timeoutMs: number, host: CallHost, touches: number | undefined) {
    this.job = job;
    this.touches = touches;
    this.#timeoutMs = timeoutMs;
    this.#host = host;
    this.#startedAt = host.scheduler.now();
  }

  /** Runs the tool. Returns the outcome of a synchronous tool; another one is passed to the host. */
  start(): ToolOutcome | undefined {
    const { context } = this.#host;
    // A limit beyond the longest timer is treated as no limit.
    const deadlineAt = this.#timeoutMs > maxTimerMs ? undefined : this.#startedAt + this.#timeoutMs;
    const outcome = attempt(
      this.job,
      new CallContext(this.job, context, deadlineAt, this.#abort, (value) => this.#progress(value)),
    );
    if (!(outcome instanceof Promise)) {
      // A progress event may have made the subscriber unsubscribe.
      if (this.#abortedAs !== undefined) this.#settle(outcome);
      this.#isOpen = false;
      return this.#finished(outcome);
    }
    if (this.#isOpen && this.#timeoutMs <= maxTimerMs) {
      this.#stopTimer = later(this.#host.scheduler, this.#timeoutMs, () => this.#expire());
    }
    void outcome.then((settled) => this.#settle(settled));
    return undefined;
  }

  /** Aborts the call without answering it. */
  cancel(reason: Error): void {
    if (this.#isOpen) this.#abortAs('cancelled', reason);
  }

  #progress(value: JSONValue): void {
    if (this.#isOpen) this.#host.progress(this.job, value);
  }

  #settle(outcome: ToolOutcome): void {
    if (this.#abortedAs !== undefined) {
      this.#host.late(this.job, outcome, this.#abortedAs, this.#elapsed());
      return;
    }
    this.#close();
    this.#host.done(this, this.#finished(outcome));
  }

  #expire(): void {
    const timeoutMs = this.#timeoutMs;
    this.#abortAs('timed-out', new DOMException(`The call took longer than ${timeoutMs} ms.`, 'TimeoutError'));
    this.#host.done(this, { ...timedOut(timeoutMs, this.job.effect === 'read-only'), durationMs: timeoutMs });
  }

  #abortAs(as: AbortedAs, reason: Error): void {
    this.#abortedAs = as;
    this.#close();
    this.#abort.abort(reason);
  }

  #close(): void {
    this.#isOpen = false;
    this.#stopTimer?.();
  }

  #finished(outcome: ToolOutcome): ToolOutcome {
    const durationMs = this.#elapsed();
    if (this.job.tool.external) return { ...outcome, durationMs, details: marked(outcome.details, { external: true }) };
    // The most common outcome is spelled out: a spread takes several times as long.
    const { status, output, details } = outcome;
    return status === 'ok' && details === undefined ? { status, output, durationMs } : { ...outcome, durationMs };
  }

  #elapsed(): number {
    return Math.max(0, this.#host.scheduler.now() - this.#startedAt);
  }
}

/** A class: creating an object literal with a getter takes longer than the rest of a call. */
class CallContext implements ToolContext {
  readonly call: ToolContext['call'];
  readonly turn: string;
  readonly session: string;
  readonly step: number;
  readonly deadlineAt: number | undefined;
  readonly progress: ToolContext['progress'];
  readonly #abort: LazyAbort;

  constructor(
    { call }: Job,
    { turn, session, step }: ToolRunContext,
    deadlineAt: number | undefined,
    abort: LazyAbort,
    progress: ToolContext['progress'],
  ) {
    this.call = { id: call.id, name: call.name };
    this.turn = turn;
    this.session = session;
    this.step = step;
    this.deadlineAt = deadlineAt;
    this.progress = progress;
    this.#abort = abort;
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }
}

/** Returns the outcome of the tool. Never throws or rejects. */
const attempt = (job: Job, context: ToolContext): ToolOutcome | Promise<ToolOutcome> => {
  const { input } = job;
  if ('then' in input) return attemptChecked(job, input, context);
  return input.ok ? attemptWith(job, input.value, context) : invalidInput(job.tool.name, input.issues);
};

const attemptWith = (job: Job, input: unknown, context: ToolContext): ToolOutcome | Promise<ToolOutcome> => {
  try {
    const result = job.tool.run(input, context);
    return isPromise(result) ? awaited(result) : returned(result);
  } catch (error) {
    return thrown(error);
  }
};

const attemptChecked = async (job: Job, check: PromiseLike<InputCheck>, context: ToolContext): Promise<ToolOutcome> => {
  try {
    const input = await check;
    // The call may have been aborted during the check; then the tool must not start.
    context.signal.throwIfAborted();
    return input.ok ? await attemptWith(job, input.value, context) : invalidInput(job.tool.name, input.issues);
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
