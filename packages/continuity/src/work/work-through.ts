import { showValue } from '@h/options';
import { toErrorInfo } from '@h/turn';
import { ContinuityError } from '../errors.js';
import { isOutage, type SessionEnd } from './outage.js';
import { outageWatch, pause } from './outage-watch.js';
import { attemptsOf, giveUpTasks } from '../progress/changes.js';
import type { Project } from '../project.js';
import type { ProjectStatus, ProjectStop } from '../status.js';
import { workSettingsOf, type WorkThroughOptions } from './work-options.js';

/** Why no further session was started. */
export type WorkEndReason =
  | ProjectStop
  | 'no-progress'
  | 'max-sessions'
  | 'cancelled'
  /** An outage exceeded the time limit. */
  | 'unavailable';

/** How the work on a project ended. */
export interface WorkEnd {
  readonly reason: WorkEndReason;
  /** The number of sessions, without those that an outage ended. */
  readonly sessions: number;
  /** The progress at the end. */
  readonly status: ProjectStatus;
}

/** The longest wait before the status is read again, in milliseconds: a task may be done long before its lease ends. */
const longestWaitMs = 2_000;
const nextInput = 'Continue the project.';

/**
 * Runs sessions, one after the other, until all tasks are done or no session can make progress. The first session gets
 * the user's goal, the others only the state of the project. If other processes hold all remaining tasks, it waits for
 * them.
 *
 * A task that no session finishes is blocked, and work continues with the others. In an outage it pauses with growing
 * intervals; sessions that an outage ended are not counted.
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
  const settings = workSettingsOf(options);
  const {
    project,
    goal,
    runSession,
    maxSessions,
    maxAttempts,
    maxIdleSessions,
    signal,
    onWait,
    nameSession,
    scheduler,
  } = settings;
  const outage = outageWatch(settings);
  let number = 0;
  let sessions = 0;
  let idle = 0;
  let lastText = '';
  for (;;) {
    const status = await project.status();
    const { next } = status;
    const end = (reason: WorkEndReason): WorkEnd => ({ reason, sessions, status });
    if (next.kind === 'stop' && !isDown(status)) return end(next.reason);
    if (signal?.aborted === true) return end('cancelled');
    if (outage.isTooLong()) return end('unavailable');
    if (isDown(status)) {
      await outage.pause(status.error);
      continue;
    }
    if (idle >= maxIdleSessions) return end('no-progress');
    if (sessions >= maxSessions) return end('max-sessions');
    if (next.kind === 'wait') {
      if (status.text !== lastText) onWait?.(status);
      lastText = status.text;
      await pause(Math.min(longestWaitMs, Math.max(100, Date.parse(next.until) - project.clock())), scheduler, signal);
      continue;
    }
    lastText = '';
    if (next.kind === 'work' && attemptsOf(next.task) >= maxAttempts) {
      await giveUp(project, maxAttempts).catch((error: unknown) => outage.pause(toErrorInfo(error)));
      continue;
    }
    number += 1;
    const isFirst = next.kind === 'plan';
    const ended = checkedEnd(
      await runSession({
        session: nameSession(number),
        input: isFirst ? goal : nextInput,
        number,
        role: isFirst ? 'initializer' : 'worker',
        status,
      }),
    );
    const after = await project.status();
    const isOut = isOutage(ended);
    const hasBegun = !isOut && !(ended.outcome === 'blocked' && isPlanning(after));
    if (hasBegun) sessions += 1;
    if (ended.outcome === 'cancelled' && (after.next.kind !== 'stop' || isDown(after))) {
      return { reason: 'cancelled', sessions, status: after };
    }
    const hasHelped = !isDown(after) && isFurther(status, after);
    if (hasBegun || hasHelped) idle = hasHelped ? 0 : idle + 1;
    if (!isOut || hasHelped) outage.isOver();
    if (isOut && after.next.kind !== 'stop') await outage.pause(ended.error);
  }
};

/** A session that ends as nothing would be repeated as one without progress. */
const checkedEnd = (given: unknown): SessionEnd => {
  if (typeof (given as Partial<SessionEnd> | null | undefined)?.outcome === 'string') return given as SessionEnd;
  throw new ContinuityError(
    'invalid-option',
    `workThrough(): "runSession" must return the end of the session, such as the result of reply(); received ${showValue(given)}.`,
  );
};

/** Whether the disk is unavailable, so that the file may be readable later. */
const isDown = ({ error }: ProjectStatus): boolean => error !== undefined && isOutage({ outcome: 'error', error });

/** Whether another session is planning, so that this one ended before it began. */
const isPlanning = ({ next }: ProjectStatus): boolean => next.kind === 'wait' && next.planner !== undefined;

/** Whether the number of planned, done or blocked tasks has changed. */
const isFurther = (before: ProjectStatus, after: ProjectStatus): boolean =>
  before.next.kind === 'plan'
    ? after.next.kind !== 'plan' && !isPlanning(after)
    : before.counts.done !== after.counts.done || before.counts.blocked !== after.counts.blocked;

const giveUp = (project: Project, maxAttempts: number): Promise<unknown> =>
  project.progress.update((progress) => giveUpTasks(progress, maxAttempts, project.clock()));
