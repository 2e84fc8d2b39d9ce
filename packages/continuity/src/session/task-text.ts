import type { NextTask } from '../progress/select-task.js';
import type { Progress, Task } from '../progress/schema.js';

/** Describes a task for the model, with its acceptance criteria. */
const taskText = ({ id, title, description, acceptance }: Task): string =>
  [
    `Task ${id}: ${title}`,
    ...(description === '' ? [] : [description]),
    'Acceptance criteria, agreed before work began:',
    ...acceptance.map((criterion) => `- ${criterion}`),
  ].join('\n');

/** Describes the next task for the model. */
export const nextText = (next: NextTask): string => {
  switch (next.kind) {
    case 'task':
      return `${next.isResumed ? 'It was begun before: read git log, git status and the notes, and continue.' : 'It is new.'}\n${taskText(next.task)}`;
    case 'no-tasks':
      return 'There are no tasks. The first session plans them.';
    case 'all-done':
      return `All ${next.count} tasks are done. Tell the user, and end.`;
    case 'taken':
      return `Other sessions hold the remaining tasks (${idsOf(next.tasks)}); the first lease ends at ${next.freeAt} unless it is renewed. Tell the user, and end.`;
    default:
      return `The remaining tasks are blocked:\n${next.tasks
        .slice(0, 20)
        .map(({ id, title, blockedBy }) => `- ${id}: ${title} (${blockedBy ?? ''})`)
        .join('\n')}\nTell the user what is needed, and end.`;
  }
};

/** The number of tasks by status. */
export interface TaskCounts {
  readonly todo: number;
  readonly inProgress: number;
  readonly done: number;
  readonly blocked: number;
  readonly total: number;
}

/** Counts tasks by status. */
export const countsOf = ({ tasks }: Pick<Progress, 'tasks'>): TaskCounts => {
  const count = (wanted: Task['status']): number => tasks.filter(({ status }) => status === wanted).length;
  return {
    todo: count('todo'),
    inProgress: count('in_progress'),
    done: count('done'),
    blocked: count('blocked'),
    total: tasks.length,
  };
};

const idsOf = (tasks: readonly Task[]): string =>
  tasks
    .slice(0, 20)
    .map(({ id }) => id)
    .join(', ');
