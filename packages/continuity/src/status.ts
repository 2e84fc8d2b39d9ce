import { toErrorInfo, type ErrorInfo } from '@h/turn';
import type { Clock } from './clock.js';
import type { ProgressStore } from './progress/progress-store.js';
import type { Progress, Task } from './progress/schema.js';
import { isHeld, selectTask, type NextTask } from './progress/select-task.js';
import type { FoundFile } from './session/state-message.js';
import { countsOf, type TaskCounts } from './session/task-text.js';

/** The next step of a project. */
export type ProjectStep =
  /** The tasks must be planned by a session of the initializer. */
  | { readonly kind: 'plan' }
  /** A task is free for a session of a worker. */
  | {
      readonly kind: 'work';
      readonly task: Task;
      /** Whether an earlier session has begun it. */ readonly isResumed: boolean;
    }
  /** Other sessions hold the remaining tasks; the first lease ends at `until` unless it is renewed. */
  | {
      readonly kind: 'wait';
      readonly until: string;
      readonly tasks: readonly Task[];
      /** The session that is planning the tasks. */ readonly planner?: string | undefined;
    }
  /** No session can do anything: all tasks are done, or a person is needed. */
  | { readonly kind: 'stop'; readonly reason: ProjectStop };

/** The reason why no session can do anything. */
export type ProjectStop =
  | 'all-done'
  /** The remaining tasks are blocked, or depend on blocked ones. */
  | 'blocked'
  /** Work has begun, but the list has no tasks. */
  | 'no-tasks'
  /** The progress file is corrupt or cannot be read. */
  | 'damaged'
  /** The progress file was written by a later version of this package. */
  | 'newer';

/** The progress of a project. */
export interface ProjectStatus {
  readonly file: FoundFile['state'];
  readonly goal: string;
  readonly tasks: readonly Task[];
  readonly counts: TaskCounts;
  readonly next: ProjectStep;
  /** Why the file could not be read. */
  readonly error?: ErrorInfo | undefined;
  /** A summary for people. */
  readonly text: string;
}

/** Reads the progress of a project and its next step. */
export const statusOf = async (store: ProgressStore, clock: Clock): Promise<ProjectStatus> => {
  let error: ErrorInfo | undefined;
  const found = await store.read().catch((reason: unknown): FoundFile => {
    error = toErrorInfo(reason);
    return { state: 'unreadable', problem: error.message };
  });
  const progress = found.state === 'ready' ? found.progress : nothing;
  const counts = countsOf(progress);
  const next = stepOf(found, clock());
  return {
    file: found.state,
    goal: progress.goal,
    tasks: progress.tasks,
    counts,
    next,
    ...(error && { error }),
    text: textOf(found, counts, next),
  };
};

const nothing: Pick<Progress, 'goal' | 'tasks'> = { goal: '', tasks: [] };

/** No session has an empty name, so a task that is selected for it is free for all. */
const anySession = '';

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
        : workStep(selectTask(found.progress, anySession, at));
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
  'all-done': 'All tasks are done.',
  blocked: 'The remaining tasks are blocked.',
  'no-tasks': 'Work has begun, but there are no tasks.',
};

const unplanned = 'The first session has not been completed.';

const textOf = (found: FoundFile, { done, blocked, total }: TaskCounts, next: ProjectStep): string => {
  if (found.state === 'corrupt') {
    return `The progress file is damaged: ${found.problem}.${found.backup === undefined ? '' : ` A copy is in ${found.backup}.`}`;
  }
  if (found.state === 'unreadable') return `The progress file cannot be read: ${found.problem}`;
  if (found.state === 'newer') {
    return `The progress file has version ${found.version}, which this package does not support.`;
  }
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
        return `${far}${total === 0 ? '' : ` ${unplanned}`} The session ${next.planner} is planning.`;
      }
      return `${far} Other sessions work on ${next.tasks
        .slice(0, 5)
        .map(({ id }) => id)
        .join(', ')}.`;
    default:
      return next.reason === 'damaged' || next.reason === 'newer' ? far : `${far} ${stopText[next.reason]}`;
  }
};
