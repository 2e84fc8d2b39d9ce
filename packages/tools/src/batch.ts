import type { ToolCall, ToolDriverOutput, ToolOutcome, ToolRunContext } from '@h/turn';
import type { SchedulerLike } from 'rxjs';
import { isOutcome, prepare, type Job } from './job.js';
import type { LateResults } from './late-results.js';
import { notRun } from './outcomes.js';
import { marked, replayed, type ReplayControl } from './replay-control.js';
import { RunningCall, type CallHost } from './running-call.js';
import type { EffectiveTools } from './toolset.js';
import { planWaves } from './waves.js';

/** Settings that all calls of a step share. */
export interface BatchSettings {
  readonly tools: EffectiveTools;
  readonly scheduler: SchedulerLike;
  readonly concurrency: number;
  /** Time limit of tools that declare none, in milliseconds. */
  readonly timeoutMs: number;
  /** When all tools must have ended, as milliseconds since 1970. */
  readonly deadlineAt: number | undefined;
  readonly replay: ReplayControl | undefined;
  readonly late: LateResults;
}

/** Receives each result once, and the completion. */
export interface BatchObserver {
  next(output: ToolDriverOutput): void;
  complete(): void;
}

const cancelledReason = 'The turn ended before this call completed.';

/** The calls of one step: prepared together, run in waves, each answered once. */
export class Batch {
  readonly #settings: BatchSettings;
  readonly #observer: BatchObserver;
  readonly #host: CallHost;
  readonly #context: ToolRunContext;
  readonly #running = new Set<RunningCall>();
  readonly #followers = new Map<string, Job[]>();
  #waves: readonly (readonly Job[])[] = [];
  /** Rounds of calls in the waves after the current one. */
  #roundsAfter = 0;
  #wave = 0;
  #next = 0;
  #isAdvancing = false;
  #isClosed = false;

  constructor(settings: BatchSettings, context: ToolRunContext, observer: BatchObserver) {
    this.#settings = settings;
    this.#context = context;
    this.#observer = observer;
    this.#host = {
      scheduler: settings.scheduler,
      context,
      progress: ({ call }, progress) => observer.next({ type: 'progress', id: call.id, progress }),
      done: (call, outcome) => this.#done(call, outcome),
      late: (job, outcome, reportedAs, durationMs) => this.#late(job, outcome, reportedAs, durationMs),
    };
  }

  start(calls: readonly ToolCall[]): void {
    const jobs: Job[] = [];
    for (const call of calls) {
      const prepared = prepare(call, this.#settings.tools);
      if (isOutcome(prepared)) this.#answer(call, prepared);
      else jobs.push(prepared);
    }
    this.#waves = planWaves(jobs);
    for (const wave of this.#waves.slice(1)) this.#roundsAfter += this.#roundsOf(wave.length);
    this.#advance();
  }

  /** Answers open calls as cancelled and completes. */
  cancel(): void {
    if (this.#isClosed) return;
    const open = [
      ...[...this.#running].map(({ job }) => job),
      ...[...this.#followers.values()].flat(),
      ...this.#unstarted(),
    ];
    this.stop();
    for (const job of open) {
      this.#observer.next({ type: 'result', id: job.call.id, outcome: notRun('cancelled', cancelledReason) });
    }
    this.#observer.complete();
  }

  /** Stops running calls without answering. */
  stop(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    const reason = new DOMException('The turn no longer waits for this call.', 'AbortError');
    for (const call of this.#running) call.cancel(reason);
    this.#running.clear();
  }

  #unstarted(): readonly Job[] {
    return [...(this.#waves[this.#wave]?.slice(this.#next) ?? []), ...this.#waves.slice(this.#wave + 1).flat()];
  }

  #advance(): void {
    if (this.#isAdvancing) return;
    this.#isAdvancing = true;
    while (!this.#isClosed) {
      const wave = this.#waves[this.#wave];
      if (wave === undefined) {
        this.#isClosed = true;
        this.#observer.complete();
      } else if (this.#next < wave.length && this.#running.size < this.#settings.concurrency) {
        this.#next += 1;
        this.#begin(wave[this.#next - 1] as Job);
      } else if (this.#running.size > 0) {
        break;
      } else {
        this.#wave += 1;
        this.#next = 0;
        this.#roundsAfter -= this.#roundsOf(this.#waves[this.#wave]?.length ?? 0);
      }
    }
    this.#isAdvancing = false;
  }

  #begin(job: Job): void {
    if (this.#context.signal.aborted) {
      this.#answer(job.call, notRun('cancelled', cancelledReason));
      return;
    }
    if (this.#context.skipSignal.aborted) {
      this.#answer(
        job.call,
        notRun('skipped', 'Not run: a new message arrived first. Repeat the call if it is still needed.'),
      );
      return;
    }
    if (this.#answerFromReplay(job)) return;
    const timeoutMs = Math.min(job.tool.timeoutMs ?? this.#settings.timeoutMs, this.#share());
    if (timeoutMs < 1) {
      this.#answer(
        job.call,
        notRun('skipped', 'Not run: no time is left for tools in this turn. Answer with what is known.'),
      );
      return;
    }
    if (this.#follows(job)) return;
    if (job.effect !== 'read-only') this.#settings.replay?.touch(job.resources);
    const call = new RunningCall(job, timeoutMs, this.#host, this.#settings.replay?.touches);
    this.#running.add(call);
    const outcome = call.start();
    if (outcome !== undefined) this.#done(call, outcome);
  }

  #answerFromReplay(job: Job): boolean {
    const earlier = job.key === undefined ? undefined : this.#settings.replay?.find(job.key);
    if (earlier === undefined) return false;
    this.#answer(job.call, replayed(earlier.outcome, earlier.id));
    return true;
  }

  /** Returns whether the same call is running in this wave; its outcome then answers this call as well. */
  #follows(job: Job): boolean {
    if (job.key === undefined || this.#settings.replay === undefined) return false;
    const followers = this.#followers.get(job.key);
    if (followers === undefined) this.#followers.set(job.key, []);
    else followers.push(job);
    return followers !== undefined;
  }

  /** Returns an equal share of the remaining time for each remaining round, in milliseconds. */
  #share(): number {
    const { deadlineAt, scheduler } = this.#settings;
    if (deadlineAt === undefined) return Infinity;
    const left = (this.#waves[this.#wave]?.length ?? 0) - this.#next + 1;
    return Math.floor((deadlineAt - scheduler.now()) / (this.#roundsOf(left) + this.#roundsAfter));
  }

  #roundsOf(calls: number): number {
    return Math.ceil(calls / this.#settings.concurrency);
  }

  #done(call: RunningCall, outcome: ToolOutcome): void {
    if (this.#isClosed) return;
    const { job } = call;
    this.#running.delete(call);
    const { replay } = this.#settings;
    const isFresh = replay?.touches === call.touches;
    if (job.effect !== 'read-only') replay?.touch(job.resources);
    const followers = job.key === undefined ? undefined : this.#followers.get(job.key);
    if (job.key !== undefined) {
      this.#followers.delete(job.key);
      if (isFresh) replay?.remember(job.key, { id: job.call.id, outcome, resources: job.resources });
    }
    this.#answer(job.call, outcome);
    for (const follower of followers ?? []) this.#answer(follower.call, shared(outcome, job.call.id));
    this.#advance();
  }

  #late(job: Job, outcome: ToolOutcome, reportedAs: 'timed-out' | 'cancelled', durationMs: number): void {
    if (job.effect !== 'read-only') this.#settings.replay?.touch(job.resources);
    if (outcome.status !== 'ok') return;
    const { turn, session } = this.#context;
    this.#settings.late.add(session, {
      id: job.call.id,
      name: job.tool.name,
      effect: job.effect,
      turn,
      reportedAs,
      durationMs,
    });
  }

  #answer(call: ToolCall, outcome: ToolOutcome): void {
    if (!this.#isClosed) this.#observer.next({ type: 'result', id: call.id, outcome });
  }
}

/** Returns the outcome of a call for an identical one that was not run. */
const shared = (outcome: ToolOutcome, id: string): ToolOutcome =>
  outcome.status === 'ok' ? replayed(outcome, id) : { ...outcome, details: marked(outcome.details, { replayOf: id }) };
