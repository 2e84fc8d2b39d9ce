import type { NextTask } from './progress/select-task.js';
import type { Progress, Task } from './progress/schema.js';

/** A task as the model reads it: what is to be done, and the contract by which it will be judged. */
export const taskText = ({ id, title, description, acceptance }: Task): string =>
  [
    `Task ${id}: ${title}`,
    ...(description === '' ? [] : [description]),
    'Acceptance criteria, agreed before work began:',
    ...acceptance.map((criterion) => `- ${criterion}`),
  ].join('\n');

/** What comes next, in words. */
export const nextText = (next: NextTask): string => {
  switch (next.kind) {
    case 'task':
      return `${next.isResumed ? 'It was begun before: look at what is there (git log, git status, the notes) and go on.' : 'It is new.'}\n${taskText(next.task)}`;
    case 'no-tasks':
      return 'There are no tasks. They are planned in the first session.';
    case 'all-done':
      return `All ${next.count} tasks are done. There is nothing left to work on: say so, and end.`;
    case 'taken':
      return `What is left is in the hands of other sessions (${idsOf(next.tasks)}), the next until ${next.freeAt} unless it says that it is alive. There is nothing to do now: say so, and end.`;
    default:
      return `What is left cannot go on:\n${next.tasks
        .slice(0, 20)
        .map(({ id, title, blockedBy }) => `- ${id}: ${title} (${blockedBy ?? ''})`)
        .join('\n')}\nTell the user what is needed, and end.`;
  }
};

/** How many tasks there are, by their status. */
export interface TaskCounts {
  readonly todo: number;
  readonly inProgress: number;
  readonly done: number;
  readonly blocked: number;
  readonly total: number;
}

/** How far the work is. */
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
