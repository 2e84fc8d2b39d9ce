import type { Progress, Task, TaskClaim } from './schema.js';

/** The next task, or why there is none. */
export type NextTask =
  | {
      readonly kind: 'task';
      readonly task: Task;
      /** Whether another session, or an earlier turn, has begun it. */ readonly isResumed: boolean;
    }
  | { readonly kind: 'no-tasks' }
  | { readonly kind: 'all-done'; readonly count: number }
  /** Other sessions hold the remaining tasks, or the tasks that these depend on. */
  | { readonly kind: 'taken'; readonly tasks: readonly Task[]; readonly freeAt: string }
  /** The remaining tasks are blocked, or depend on blocked ones. */
  | { readonly kind: 'blocked'; readonly tasks: readonly Task[] };

/** A claim further in the future was made with a wrong clock and would never expire. */
const maxAheadMs = 24 * 3_600_000;

/** Whether the lease of the claim is valid. */
export const isHeld = ({ claim }: { readonly claim?: TaskClaim | undefined }, at: number): boolean =>
  claim !== undefined && Date.parse(claim.expiresAt) > at && Date.parse(claim.heartbeatAt) < at + maxAheadMs;

/** Whether all dependencies are done. */
export const isReady = (task: Task, tasks: readonly Task[]): boolean => readyIn(tasks)(task);

const readyIn = (tasks: readonly Task[]): ((task: Task) => boolean) => {
  const done = new Set(tasks.flatMap(({ id, status }) => (status === 'done' ? [id] : [])));
  return ({ dependsOn }) => dependsOn.every((id) => done.has(id));
};

/**
 * Selects the next task of an owner: its claimed task, then an interrupted one (its own before those of others), then
 * the first that is ready.
 */
export const selectTask = ({ tasks }: Progress, owner: string, at: number): NextTask => {
  const claimed = tasks.find(({ claim }) => claim?.owner === owner);
  if (claimed) return { kind: 'task', task: claimed, isResumed: true };
  const isReadyNow = readyIn(tasks);
  // A person may have added a dependency to a task that was begun.
  const begun = tasks.filter((task) => task.status === 'in_progress' && !isHeld(task, at) && isReadyNow(task));
  const interrupted = begun.find(({ lastOwner }) => lastOwner === owner) ?? begun[0];
  if (interrupted) return { kind: 'task', task: interrupted, isResumed: true };
  const next = tasks.find((task) => task.status === 'todo' && isReadyNow(task));
  if (next) return { kind: 'task', task: next, isResumed: false };
  return noTask(tasks, at);
};

const noTask = (tasks: readonly Task[], at: number): NextTask => {
  if (tasks.length === 0) return { kind: 'no-tasks' };
  if (tasks.every(({ status }) => status === 'done')) return { kind: 'all-done', count: tasks.length };
  const taken = tasks.filter((task) => isHeld(task, at));
  if (taken.length === 0) return { kind: 'blocked', tasks: tasks.filter(({ status }) => status === 'blocked') };
  const [freeAt = ''] = taken.map(({ claim }) => claim?.expiresAt ?? '').toSorted();
  return { kind: 'taken', tasks: taken, freeAt };
};
