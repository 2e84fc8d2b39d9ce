import { toErrorInfo } from '@h/turn';
import { isOutage } from './outage.js';
import { outageWatch, pause } from './outage-watch.js';
import { attemptsOf, giveUpTasks } from './progress/changes.js';
import type { Project } from './project.js';
import type { ProjectStatus, ProjectStop } from './status.js';
import { workSettingsOf, type WorkThroughOptions } from './work-options.js';

/** Why no further session was begun: by the project's state, or because of how the sessions went. */
export type WorkEndReason =
  | ProjectStop
  | 'no-progress'
  | 'max-sessions'
  | 'cancelled'
  /** An outage was too long. */
  | 'unavailable';

/** How the work on a project ended. */
export interface WorkEnd {
  readonly reason: WorkEndReason;
  /** How many sessions there were, without those that an outage has ended. */
  readonly sessions: number;
  /** How far the project is now. */
  readonly status: ProjectStatus;
}

/** Others are looked after this often, in milliseconds: their task may be done long before their lease runs out. */
const longestWaitMs = 2_000;
const goOn = 'Go on with the project.';

/**
 * Runs sessions one after the other until all is done, nothing can go on, or nothing goes on: the first one with the user's goal, the next
 * ones with nothing but the state of the project. While all that is left is in the hands of other processes, it waits for them; several
 * may work on one plan, which one of them makes.
 *
 * A task that no session can finish is given up, and the others are done. In an outage it pauses, longer and longer, and nothing counts.
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
  let told = '';
  for (;;) {
    const status = await project.status();
    const { next } = status;
    const end = (reason: WorkEndReason): WorkEnd => ({ reason, sessions, status });
    if (next.kind === 'stop') return end(next.reason);
    if (signal?.aborted === true) return end('cancelled');
    if (outage.isTooLong()) return end('unavailable');
    if (idle >= maxIdleSessions) return end('no-progress');
    if (sessions >= maxSessions) return end('max-sessions');
    if (next.kind === 'wait') {
      if (status.text !== told) onWait?.(status);
      told = status.text;
      await pause(Math.min(longestWaitMs, Math.max(100, Date.parse(next.until) - project.clock())), scheduler, signal);
      continue;
    }
    told = '';
    if (next.kind === 'work' && attemptsOf(next.task) >= maxAttempts) {
      await giveUp(project, maxAttempts).catch((error: unknown) => outage.pause(toErrorInfo(error)));
      continue;
    }
    number += 1;
    const isFirst = next.kind === 'plan';
    const ended = await runSession({
      session: nameSession(number),
      input: isFirst ? goal : goOn,
      number,
      role: isFirst ? 'initializer' : 'worker',
      status,
    });
    const after = await project.status();
    const isOut = isOutage(ended);
    const hasBegun = !isOut && !(ended.outcome === 'blocked' && isPlanning(after));
    if (hasBegun) sessions += 1;
    if (ended.outcome === 'cancelled' && after.next.kind !== 'stop') {
      return { reason: 'cancelled', sessions, status: after };
    }
    const hasHelped = isFurther(status, after);
    if (hasBegun || hasHelped) idle = hasHelped ? 0 : idle + 1;
    if (!isOut || hasHelped) outage.isOver();
    if (isOut && after.next.kind !== 'stop') await outage.pause(ended.error);
  }
};

/** Whether another session plans: one that was to plan as well has ended before it began. */
const isPlanning = ({ next }: ProjectStatus): boolean => next.kind === 'wait' && next.planner !== undefined;

/** Whether something has become of a session that counts: what is planned, done or blocked is another number. */
const isFurther = (before: ProjectStatus, after: ProjectStatus): boolean =>
  before.next.kind === 'plan'
    ? after.next.kind !== 'plan' && !isPlanning(after)
    : before.counts.done !== after.counts.done || before.counts.blocked !== after.counts.blocked;

const giveUp = (project: Project, maxAttempts: number): Promise<unknown> =>
  project.progress.update((progress) => giveUpTasks(progress, maxAttempts, project.clock()));
