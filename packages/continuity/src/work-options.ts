// oxlint-disable-next-line h/no-clock -- sessions need names that no other process uses
import { randomUUID } from 'node:crypto';
import { asyncScheduler, type SchedulerLike } from 'rxjs';
import type { ErrorInfo, MaybePromise } from '@h/turn';
import { anyFunction, nonEmptyString, instanceOf, objectWithMethods, required, integerFrom } from '@h/options';
import type { SessionEnd } from './outage.js';
import { aProject, checkOptions } from './own-options.js';
import type { Project } from './project.js';
import type { ProjectStatus } from './status.js';

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

/** A pause, because something that a session needs is not there. */
export interface Outage {
  readonly pauseMs: number;
  /** How long it was waited before, in milliseconds. */
  readonly waitedMs: number;
  /** What has failed, as far as it is known. */
  readonly error: ErrorInfo | undefined;
}

/** Options of {@link workThrough}. */
export interface WorkThroughOptions {
  readonly project: Project;
  /** What the user wants in the end: the input of the first session. */
  readonly goal: string;
  /**
   * Runs one session to its end: `({ session, input }) => reply(agent.turn({ session, input, signal }))`. A session that ends as `cancelled` is
   * the last one. What it throws ends the work and is thrown on.
   *
   * By `steps` and `error` an outage is told from a task that fails; without them there is none.
   */
  readonly runSession: (session: PlannedSession) => MaybePromise<SessionEnd>;
  /**
   * How many sessions there may be, without those that an outage has ended.
   *
   * @defaultValue `100`
   */
  readonly maxSessions?: number | undefined;
  /**
   * How many sessions may begin a task and not finish it. Then it is blocked, for a person to look at, and the others are done. A session
   * whose process has died counts; one that was cancelled, or that an outage has ended, does not.
   *
   * @defaultValue `3`
   */
  readonly maxAttempts?: number | undefined;
  /**
   * How many sessions in a row may end without a task that is done, blocked by the agent, or planned: what fails everywhere is not the fault of
   * the tasks.
   *
   * @defaultValue `6`, two tasks that are given up
   */
  readonly maxIdleSessions?: number | undefined;
  /**
   * How long to wait after an outage (provider, network or disk are not there), in milliseconds; after each further one twice as long, up to
   * fifteen minutes.
   *
   * @defaultValue `10_000`
   */
  readonly outagePauseMs?: number | undefined;
  /**
   * How long to wait for the end of an outage in all, in milliseconds; then the work ends as `unavailable`.
   *
   * @defaultValue `86_400_000`, a day
   */
  readonly maxOutageMs?: number | undefined;
  /**
   * Told of each pause in an outage, before it begins.
   *
   * @defaultValue nobody is told
   */
  readonly onOutage?: ((outage: Outage) => void) | undefined;
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

/** Options with their defaults. */
export type WorkSettings = ReturnType<typeof workSettingsOf>;

/** The options, checked and completed. @throws ContinuityError `invalid-option` */
export const workSettingsOf = (options: WorkThroughOptions) => {
  checkOptions('workThrough()', options, {
    project: required(aProject),
    goal: required(nonEmptyString),
    runSession: required(anyFunction),
    maxSessions: integerFrom(1),
    maxIdleSessions: integerFrom(1),
    maxAttempts: integerFrom(1),
    outagePauseMs: integerFrom(1),
    maxOutageMs: integerFrom(1),
    onOutage: anyFunction,
    signal: instanceOf(AbortSignal),
    onWait: anyFunction,
    nameSession: anyFunction,
    scheduler: objectWithMethods('schedule'),
  });
  const id = randomUUID().slice(0, 8);
  const { project, goal, runSession, signal, onWait, onOutage } = options;
  const {
    maxSessions = 100,
    maxAttempts = 3,
    maxIdleSessions = 6,
    outagePauseMs = 10_000,
    maxOutageMs = 86_400_000,
  } = options;
  const { nameSession = (number: number) => `plan-${id}-${number}`, scheduler = asyncScheduler } = options;
  return {
    project,
    goal,
    runSession,
    signal,
    onWait,
    onOutage,
    maxSessions,
    maxAttempts,
    maxIdleSessions,
    outagePauseMs,
    maxOutageMs,
    nameSession,
    scheduler,
  };
};
