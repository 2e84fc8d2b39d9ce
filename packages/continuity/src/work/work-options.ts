// oxlint-disable-next-line h/no-clock -- sessions need names that no other process uses
import { randomUUID } from 'node:crypto';
import { asyncScheduler, type SchedulerLike } from 'rxjs';
import type { ErrorInfo, MaybePromise } from '@h/turn';
import { anyFunction, nonEmptyString, instanceOf, objectWithMethods, required, integerFrom } from '@h/options';
import type { SessionEnd } from './outage.js';
import { aProject, checkOptions } from '../own-options.js';
import type { Project } from '../project.js';
import type { ProjectStatus } from '../status.js';

/** A session to run. */
export interface PlannedSession {
  /** A new name: each session begins without a memory of the others. */
  readonly session: string;
  /** The input of its turn. */
  readonly input: string;
  /** Counts from 1. */
  readonly number: number;
  /** The role that `continuity` assigns to it. */
  readonly role: 'initializer' | 'worker';
  /** The progress before the session. */
  readonly status: ProjectStatus;
}

/** A pause during an outage. */
export interface Outage {
  readonly pauseMs: number;
  /** The length of the pauses before, in milliseconds. */
  readonly waitedMs: number;
  /** The error of the session, if known. */
  readonly error: ErrorInfo | undefined;
}

/** Options of {@link workThrough}. */
export interface WorkThroughOptions {
  /** The project whose plan is worked through. */
  readonly project: Project;
  /** The goal of the user: the input of the first session. */
  readonly goal: string;
  /**
   * Runs one session to its end: `({ session, input }) => reply(agent.turn({ session, input, signal }))`. A session
   * that ends as `cancelled` is the last one. An error of the function rejects the work.
   *
   * `steps` and `error` distinguish an outage from a failed task.
   */
  readonly runSession: (session: PlannedSession) => MaybePromise<SessionEnd>;
  /**
   * The maximum number of sessions, without those that an outage ended.
   *
   * @defaultValue `100`, enough for several days of sessions of an hour
   */
  readonly maxSessions?: number | undefined;
  /**
   * The number of sessions that may begin a task without finishing it. Then the task is blocked until a person unblocks
   * it, and work continues with the others. A killed session counts; a cancelled one, or one that an outage ended, does
   * not.
   *
   * @defaultValue `3`, two may die by chance
   */
  readonly maxAttempts?: number | undefined;
  /**
   * The number of consecutive sessions in which no task is planned, done or blocked.
   *
   * @defaultValue `6`, the attempts at two tasks
   */
  readonly maxIdleSessions?: number | undefined;
  /**
   * The first pause in an outage of the provider, the network or the disk, in milliseconds. Each further pause is twice
   * as long, up to fifteen minutes.
   *
   * @defaultValue `10_000`, longer than the retries of a model call, which have failed by then
   */
  readonly outagePauseMs?: number | undefined;
  /**
   * The total length of the pauses in an outage, in milliseconds; then the work ends as `unavailable`.
   *
   * @defaultValue `86_400_000`, a day
   */
  readonly maxOutageMs?: number | undefined;
  /**
   * Called before each pause in an outage.
   *
   * @defaultValue none
   */
  readonly onOutage?: ((outage: Outage) => void) | undefined;
  /** Prevents further sessions and ends waits. Pass the signal to the running turn, too. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Called before waiting for other processes, and again when the status changes.
   *
   * @defaultValue none
   */
  readonly onWait?: ((status: ProjectStatus) => void) | undefined;
  /**
   * Returns the name of a session, which must be unique in the project.
   *
   * @defaultValue `plan-<random>-<number>`
   */
  readonly nameSession?: ((number: number) => string) | undefined;
  /**
   * The scheduler of the waits.
   *
   * @defaultValue `asyncScheduler` of RxJS
   */
  readonly scheduler?: SchedulerLike | undefined;
}

/** The options with their defaults. */
export type WorkSettings = ReturnType<typeof workSettingsOf>;

/** Checks and completes the options. @throws ContinuityError `invalid-option` */
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
