// oxlint-disable-next-line h/no-clock -- sessions need names that no other process uses
import { randomUUID } from 'node:crypto';
import { asyncScheduler, defaultIfEmpty, firstValueFrom, fromEvent, merge, take, timer, type SchedulerLike } from 'rxjs';
import type { MaybePromise, TurnOutcome } from '@h/turn';
import { aFunction, aText, instanceOf, objectWith, required, wholeFrom } from '@h/turn/options';
import { aProject, checkOptions } from './own-options.js';
import type { Project } from './project.js';
import type { ProjectStatus, ProjectStop } from './status.js';

/** A session that is to be run now. */
export interface PlannedSession {
  /** Its name: new, because each session begins without a memory of the others. */
  readonly session: string;
  /** What to say to the agent. */
  readonly input: string;
  /** From 1. */
  readonly number: number;
  /** The part that `continuity` will give it. */
  readonly role: 'initializer' | 'worker';
  /** How far the project is before it. */
  readonly status: ProjectStatus;
}

/** Options of {@link workThrough}. */
export interface WorkThroughOptions {
  readonly project: Project;
  /** What the user wants in the end: the input of the first session. */
  readonly goal: string;
  /**
   * Runs one session to its end: `({ session, input }) => reply(agent.turn({ session, input, signal }))`. A session that ends as `cancelled` is
   * the last one. What it throws ends the work and is thrown on.
   */
  readonly runSession: (session: PlannedSession) => MaybePromise<{ readonly outcome: TurnOutcome }>;
  /**
   * How many sessions there may be.
   *
   * @defaultValue `100`
   */
  readonly maxSessions?: number | undefined;
  /**
   * How many sessions in a row may end without a task that is done, blocked or planned.
   *
   * @defaultValue `3`
   */
  readonly maxIdleSessions?: number | undefined;
  /**
   * How long to wait after a session without progress, in milliseconds, and twice as long after each further one: a provider that is down may be
   * up again.
   *
   * @defaultValue `0`
   */
  readonly idlePauseMs?: number | undefined;
  /** Begins no further session, and ends a wait. The session that runs needs the signal too. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Told before a wait, and when something has changed meanwhile: what is left is in the hands of other processes.
   *
   * @defaultValue nobody is told
   */
  readonly onWait?: ((status: ProjectStatus) => void) | undefined;
  /**
   * How a session is named, by its number. No two of a project may have the same name.
   *
   * @defaultValue `plan-<random>-<number>`
   */
  readonly nameSession?: ((number: number) => string) | undefined;
  /**
   * Measures waits.
   *
   * @defaultValue `asyncScheduler` of RxJS
   */
  readonly scheduler?: SchedulerLike | undefined;
}

/** Why no further session was begun: by the project's state, or because of how the sessions went. */
export type WorkEndReason = ProjectStop | 'no-progress' | 'max-sessions' | 'cancelled';

/** How the work on a project ended. */
export interface WorkEnd {
  readonly reason: WorkEndReason;
  /** How many sessions there were. */
  readonly sessions: number;
  /** How far the project is now. */
  readonly status: ProjectStatus;
}

/** Others are looked after this often, in milliseconds: their task may be done long before their lease runs out. */
const longestWaitMs = 2_000;
/** Longer ones fire at once. */
const longestTimerMs = 2_147_483_647;
const goOn = 'Go on with the project.';

/**
 * Runs sessions one after the other until all is done, nothing can go on, or nothing goes on: the first one with the user's goal, the next
 * ones with nothing but the state of the project. While all that is left is in the hands of other processes, it waits for them. Several
 * processes may work on one plan; let one make it first, because of two that plan at the same time the later one counts.
 *
 * @throws ContinuityError `invalid-option`
 *
 * @example
 * ```ts
 * const end = await workThrough({ project, goal: 'Build a shop.', runSession: ({ session, input }) => reply(agent.turn({ session, input })) });
 * console.log(end.reason, end.status.text);
 * ```
 */
export const workThrough = async (options: WorkThroughOptions): Promise<WorkEnd> => {
  const { project, goal, runSession, maxSessions, maxIdleSessions, idlePauseMs, signal, onWait, nameSession, scheduler } = settingsOf(options);
  let sessions = 0;
  let idle = 0;
  let told = '';
  for (;;) {
    const status = await project.status();
    const { next } = status;
    const end = (reason: WorkEndReason): WorkEnd => ({ reason, sessions, status });
    if (next.kind === 'stop') return end(next.reason);
    if (signal?.aborted === true) return end('cancelled');
    if (idle >= maxIdleSessions) return end('no-progress');
    if (sessions >= maxSessions) return end('max-sessions');
    if (next.kind === 'wait') {
      if (status.text !== told) onWait?.(status);
      told = status.text;
      await pause(Math.min(longestWaitMs, Math.max(100, Date.parse(next.until) - project.clock())), scheduler, signal);
      continue;
    }
    told = '';
    sessions += 1;
    const isFirst = next.kind === 'plan';
    const { outcome } = await runSession({ session: nameSession(sessions), input: isFirst ? goal : goOn, number: sessions, role: isFirst ? 'initializer' : 'worker', status });
    const after = await project.status();
    if (outcome === 'cancelled' && after.next.kind !== 'stop') return { reason: 'cancelled', sessions, status: after };
    idle = isFurther(status, after) ? 0 : idle + 1;
    if (idle > 0 && idle < maxIdleSessions && idlePauseMs > 0) await pause(Math.min(idlePauseMs * 2 ** (idle - 1), longestTimerMs), scheduler, signal);
  }
};

/** Whether something has become of a session that counts: what is planned, done or blocked is another number. */
const isFurther = (before: ProjectStatus, after: ProjectStatus): boolean =>
  before.next.kind === 'plan' ? after.next.kind !== 'plan' : before.counts.done !== after.counts.done || before.counts.blocked !== after.counts.blocked;

const pause = async (ms: number, scheduler: SchedulerLike, signal: AbortSignal | undefined): Promise<unknown> => {
  if (signal?.aborted === true) return undefined;
  const over = timer(ms, scheduler);
  return firstValueFrom((signal === undefined ? over : merge(over, fromEvent(signal, 'abort'))).pipe(take(1), defaultIfEmpty(undefined)));
};

const settingsOf = (options: WorkThroughOptions) => {
  checkOptions('workThrough()', options, {
    project: required(aProject),
    goal: required(aText),
    runSession: required(aFunction),
    maxSessions: wholeFrom(1),
    maxIdleSessions: wholeFrom(1),
    idlePauseMs: wholeFrom(0),
    signal: instanceOf(AbortSignal),
    onWait: aFunction,
    nameSession: aFunction,
    scheduler: objectWith('schedule'),
  });
  const id = randomUUID().slice(0, 8);
  const { project, goal, runSession, signal, onWait } = options;
  const { maxSessions = 100, maxIdleSessions = 3, idlePauseMs = 0, nameSession = (number: number) => `plan-${id}-${number}`, scheduler = asyncScheduler } = options;
  return { project, goal, runSession, signal, onWait, maxSessions, maxIdleSessions, idlePauseMs, nameSession, scheduler };
};
