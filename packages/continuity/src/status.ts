import type { Clock } from './clock.js';
import type { ProgressStore } from './progress/progress-store.js';
import type { Progress, Task } from './progress/schema.js';
import { isHeld, selectTask, type NextTask } from './progress/select-task.js';
import type { FoundFile } from './state-message.js';
import { countsOf, type TaskCounts } from './task-text.js';

/** What can be done about a project now. */
export type ProjectStep =
  /** The tasks are to be planned, or the first session broke off: a session of the initializer. */
  | { readonly kind: 'plan' }
  /** A task is free: a session of a worker. */
  | { readonly kind: 'work'; readonly task: Task; /** It was begun before. */ readonly isResumed: boolean }
  /** What is left is in the hands of other sessions, the first of it until then unless they say that they are alive. */
  | {
      readonly kind: 'wait';
      readonly until: string;
      readonly tasks: readonly Task[];
      /** The session that plans the tasks, where they are not planned yet. */ readonly planner?: string | undefined;
    }
  /** Another session would change nothing: all is done, or only people can go on. */
  | { readonly kind: 'stop'; readonly reason: ProjectStop };

/** Why no session can do anything. */
export type ProjectStop =
  | 'all-done'
  /** What is left is blocked, or waits for what is. */
  | 'blocked'
  /** Work has begun on a list without tasks. */
  | 'no-tasks'
  /** The progress file is damaged, or cannot be read; it is left as it is. */
  | 'damaged'
  /** The progress file was written by a later version of this package. */
  | 'newer';

/** How far a project is. */
export interface ProjectStatus {
  readonly file: FoundFile['state'];
  readonly goal: string;
  readonly tasks: readonly Task[];
  readonly counts: TaskCounts;
  readonly next: ProjectStep;
  /** All of it in a few words, for people. */
  readonly text: string;
}

/** Reads how far a project is, and what a session could do now. */
export const statusOf = async (store: ProgressStore, clock: Clock): Promise<ProjectStatus> => {
  const found = await store.read().catch((error: unknown): FoundFile => ({
    state: 'unreadable',
    problem: error instanceof Error ? error.message : String(error),
  }));
  const progress = found.state === 'ready' ? found.progress : nothing;
  const counts = countsOf(progress);
  const next = stepOf(found, clock());
  return {
    file: found.state,
    goal: progress.goal,
    tasks: progress.tasks,
    counts,
    next,
    text: textOf(found, counts, next),
  };
};

const nothing: Pick<Progress, 'goal' | 'tasks'> = { goal: '', tasks: [] };

/** Nobody's session has an empty name: what is selected for it, anybody may have. */
const nobody = '';

const stepOf = (found: FoundFile, at: number): ProjectStep => {
  switch (found.state) {
    case 'missing':
      return { kind: 'plan' };
    case 'corrupt':
    case 'unreadable':
      return { kind: 'stop', reason: 'damaged' };
    case 'newer':
      return { kind: 'stop', reason: 'newer' };
    default:
      return found.progress.phase === 'initializing'
        ? planStep(found.progress, at)
        : workStep(selectTask(found.progress, nobody, at));
  }
};

const planStep = ({ planning }: Progress, at: number): ProjectStep =>
  planning?.claim !== undefined && isHeld(planning, at)
    ? { kind: 'wait', until: planning.claim.expiresAt, tasks: [], planner: planning.claim.owner }
    : { kind: 'plan' };

const workStep = (next: NextTask): ProjectStep => {
  switch (next.kind) {
    case 'task':
      return { kind: 'work', task: next.task, isResumed: next.isResumed };
    case 'taken':
      return { kind: 'wait', until: next.freeAt, tasks: next.tasks };
    default:
      return { kind: 'stop', reason: next.kind };
  }
};

const stopText: Readonly<Record<Exclude<ProjectStop, 'damaged' | 'newer'>, string>> = {
  'all-done': 'All is done.',
  blocked: 'What is left is blocked.',
  'no-tasks': 'Work has begun, but there are no tasks.',
};

const unplanned = 'The first session has not been completed.';

const textOf = (found: FoundFile, { done, blocked, total }: TaskCounts, next: ProjectStep): string => {
  if (found.state === 'corrupt') {
    return `The progress file is damaged: ${found.problem}.${found.backup === undefined ? '' : ` A copy is in ${found.backup}.`}`;
  }
  if (found.state === 'unreadable') return `The progress file cannot be read: ${found.problem}`;
  if (found.state === 'newer') return `The progress file has version ${found.version}, which is too new.`;
  const far =
    total === 0
      ? 'Nothing is planned yet.'
      : `${done} of ${total} tasks are done${blocked > 0 ? `, ${blocked} blocked` : ''}.`;
  switch (next.kind) {
    case 'plan':
      return total === 0 ? far : `${far} ${unplanned}`;
    case 'work':
      return `${far} Next: ${next.task.title} (${next.task.id})${next.isResumed ? ', which was begun before' : ''}.`;
    case 'wait':
      if (next.planner !== undefined) {
        return `${far}${total === 0 ? '' : ` ${unplanned}`} The session ${next.planner} plans.`;
      }
      return `${far} Other sessions work on ${next.tasks
        .slice(0, 5)
        .map(({ id }) => id)
        .join(', ')}.`;
    default:
      return next.reason === 'damaged' || next.reason === 'newer' ? far : `${far} ${stopText[next.reason]}`;
  }
};
