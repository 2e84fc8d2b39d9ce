import type { TurnEventOf } from '@h/turn';
import type { Progress, Task } from '../progress/schema.js';
import { countsOf } from './task-text.js';

/** The end of a session, for its notes and its commit. */
export interface Closing {
  readonly end: TurnEventOf<'turn.end'>;
  readonly owner: string;
  readonly role: string;
  readonly isInitializer: boolean;
  /** The progress file before the claims are released; absent if it cannot be read. */
  readonly progress: Progress | undefined;
  /** Id of the last task that passed its check in this turn. */
  readonly lastDone: string | undefined;
  /** Id of the task that another session has taken over. */
  readonly lost: string | undefined;
}

/** Returns the task that the session has begun and not finished. */
export const unfinishedTask = ({
  progress,
  owner,
  lost,
}: Pick<Closing, 'progress' | 'owner' | 'lost'>): Task | undefined => {
  const tasks = progress?.tasks ?? [];
  return (
    tasks.find(({ claim }) => claim?.owner === owner) ??
    tasks.find(({ id }) => id === lost) ??
    tasks.find(({ lastOwner, status }) => lastOwner === owner && (status === 'in_progress' || status === 'blocked'))
  );
};

/** Returns the last line of a session's entry in the notes. */
export const endNote = (closing: Closing): string => {
  const { end, role, progress } = closing;
  const { outcome, reason, steps } = end;
  const { done, total } = countsOf(progress ?? { tasks: [] });
  const why = reason === undefined ? '' : ` (${reason.slice(0, 300)})`;
  const task = unfinishedTask(closing);
  const what =
    task === undefined ? '' : ` The task ${task.id} is ${task.status === 'blocked' ? 'blocked' : 'not done yet'}.`;
  return `[${role}] Ended as ${outcome}${why} after ${steps} ${steps === 1 ? 'step' : 'steps'}; ${done} of ${total} tasks are done.${what}`;
};

/** Returns the commit message. Everything but a verified task or a completed plan is work in progress. */
export const commitMessage = (closing: Closing): { readonly message: string; readonly isWorkInProgress: boolean } => {
  const { end, progress, lastDone, isInitializer } = closing;
  const open = unfinishedTask(closing);
  const subject = open ?? progress?.tasks.find(({ id }) => id === lastDone);
  const isWorkInProgress = open !== undefined || end.outcome !== 'completed';
  const what =
    subject === undefined
      ? isInitializer
        ? 'Plan the project'
        : 'Add the notes of the session'
      : `${subject.title} (${subject.id})`;
  return { message: `${isWorkInProgress ? 'WIP: ' : ''}${what}`, isWorkInProgress };
};
