import type { Progress, Task, TaskClaim } from './schema.js';

/** Which task comes next, or why none does. */
export type NextTask =
  | {
      readonly kind: 'task';
      readonly task: Task;
      /** It was begun before: by this owner, or by one that is gone. */ readonly isResumed: boolean;
    }
  | { readonly kind: 'no-tasks' }
  | { readonly kind: 'all-done'; readonly count: number }
  /** What is left is in the hands of others, or waits for them. */
  | { readonly kind: 'taken'; readonly tasks: readonly Task[]; readonly freeAt: string }
  /** What is left is blocked, or waits for what is. */
  | { readonly kind: 'blocked'; readonly tasks: readonly Task[] };

/** A claim that was made so far in the future was made by a clock that was wrong; it would hold for ever. */
const maxAheadMs = 24 * 3_600_000;

/** Whether somebody may still be working on it. */
export const isHeld = ({ claim }: { readonly claim?: TaskClaim | undefined }, at: number): boolean =>
  claim !== undefined && Date.parse(claim.expiresAt) > at && Date.parse(claim.heartbeatAt) < at + maxAheadMs;

/** Whether all that it waits for is done. */
export const isReady = (task: Task, tasks: readonly Task[]): boolean => readyIn(tasks)(task);

const readyIn = (tasks: readonly Task[]): ((task: Task) => boolean) => {
  const done = new Set(tasks.flatMap(({ id, status }) => (status === 'done' ? [id] : [])));
  return ({ dependsOn }) => dependsOn.every((id) => done.has(id));
};

/**
 * Chooses the next task of an owner: what it has claimed, what was interrupted (its own before that of others whose lease has run out),
 * then the first that is to do and waits for nothing.
 */
export const selectTask = ({ tasks }: Progress, owner: string, at: number): NextTask => {
  const mine = tasks.find(({ claim }) => claim?.owner === owner);
  if (mine) return { kind: 'task', task: mine, isResumed: true };
  const isReadyNow = readyIn(tasks);
  // People may have let a task that was begun wait for another one.
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
