import type { JSONValue, MaybePromise, ToolOutcome, ToolRunContext } from '@h/turn';
import type { SchedulerLike, Subscription } from 'rxjs';
import type { ToolContext, ToolReturn } from './define-tool.js';
import type { InputCheck } from './input-schema.js';
import { checkFailed, type Job } from './job.js';
import { LazyAbort } from './lazy-abort.js';
import { invalidInput, returned, thrown, timedOut } from './outcomes.js';
import { marked } from './replay-control.js';

/** Longest delay that a timer takes; a longer limit is none. */
const longestDelayMs = 2_147_483_647;

type GivenUp = 'timed-out' | 'cancelled';

/** What a running call reports to. */
export interface CallHost {
  readonly scheduler: SchedulerLike;
  readonly context: ToolRunContext;
  progress(job: Job, value: JSONValue): void;
  /** The one answer. */
  done(call: RunningCall, outcome: ToolOutcome): void;
  /** The tool has settled after it had been given up. */
  late(job: Job, outcome: ToolOutcome, givenUpAs: GivenUp, durationMs: number): void;
}

/** One call under its deadline, answered once, whatever its tool does. */
export class RunningCall {
  readonly job: Job;
  /** How often something had been touched when it began. */
  readonly touches: number | undefined;
  readonly #timeoutMs: number;
  readonly #host: CallHost;
  readonly #startedAt: number;
  readonly #abort = new LazyAbort();
  #timer: Subscription | undefined;
  #givenUpAs: GivenUp | undefined;
  #isOpen = true;

  constructor(job: Job, timeoutMs: number, host: CallHost, touches: number | undefined) {
    this.job = job;
    this.touches = touches;
    this.#timeoutMs = timeoutMs;
    this.#host = host;
    this.#startedAt = host.scheduler.now();
  }

  /** Runs the tool. The answer of a synchronous one is returned, that of another told to the host. */
  start(): ToolOutcome | undefined {
    const { context } = this.#host;
    const deadlineAt = this.#timeoutMs > longestDelayMs ? undefined : this.#startedAt + this.#timeoutMs;
    const outcome = attempt(
      this.job,
      new CallContext(this.job, context, deadlineAt, this.#abort, (value) => this.#progress(value)),
    );
    if (!(outcome instanceof Promise)) {
      // A tool that reports progress may lose its subscriber over it.
      if (this.#givenUpAs !== undefined) this.#settle(outcome);
      this.#isOpen = false;
      return this.#finished(outcome);
    }
    if (this.#isOpen && this.#timeoutMs <= longestDelayMs) {
      this.#timer = this.#host.scheduler.schedule(() => this.#expire(), this.#timeoutMs);
    }
    void outcome.then((settled) => this.#settle(settled));
    return undefined;
  }

  /** Gives the call up without an answer. */
  cancel(reason: Error): void {
    if (this.#isOpen) this.#giveUp('cancelled', reason);
  }

  #progress(value: JSONValue): void {
    if (this.#isOpen) this.#host.progress(this.job, value);
  }

  #settle(outcome: ToolOutcome): void {
    if (this.#givenUpAs !== undefined) {
      this.#host.late(this.job, outcome, this.#givenUpAs, this.#elapsed());
      return;
    }
    this.#close();
    this.#host.done(this, this.#finished(outcome));
  }

  #expire(): void {
    const timeoutMs = this.#timeoutMs;
    this.#giveUp('timed-out', new DOMException(`The call took longer than ${timeoutMs} ms.`, 'TimeoutError'));
    this.#host.done(this, { ...timedOut(timeoutMs, this.job.effect === 'read-only'), durationMs: timeoutMs });
  }

  #giveUp(as: GivenUp, reason: Error): void {
    this.#givenUpAs = as;
    this.#close();
    this.#abort.abort(reason);
  }

  #close(): void {
    this.#isOpen = false;
    this.#timer?.unsubscribe();
  }

  #finished(outcome: ToolOutcome): ToolOutcome {
    const durationMs = this.#elapsed();
    if (this.job.tool.external) return { ...outcome, durationMs, details: marked(outcome.details, { external: true }) };
    // The commonest outcome is written out, because a spread takes several times as long.
    const { status, output, details } = outcome;
    return status === 'ok' && details === undefined ? { status, output, durationMs } : { ...outcome, durationMs };
  }

  #elapsed(): number {
    return Math.max(0, this.#host.scheduler.now() - this.#startedAt);
  }
}

/** A class, because an object with a getter of its own takes longer to make than everything else about a call. */
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

/** The outcome of the tool, now or later; never throws and never rejects. */
const attempt = (job: Job, context: ToolContext): ToolOutcome | Promise<ToolOutcome> => {
  const { input } = job;
  if ('then' in input) return attemptChecked(job, input, context);
  return input.ok ? attemptWith(job, input.value, context) : invalidInput(job.tool.name, input.issues);
};

const attemptWith = (job: Job, input: unknown, context: ToolContext): ToolOutcome | Promise<ToolOutcome> => {
  try {
    const result = job.tool.run(input, context);
    return isThenable(result) ? awaited(result) : returned(result);
  } catch (error) {
    return thrown(error);
  }
};

const attemptChecked = async (job: Job, check: PromiseLike<InputCheck>, context: ToolContext): Promise<ToolOutcome> => {
  try {
    const input = await check;
    // Given up while the check was under way: then the tool is not to begin.
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

const isThenable = (value: MaybePromise<ToolReturn>): value is PromiseLike<ToolReturn> =>
  typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';
