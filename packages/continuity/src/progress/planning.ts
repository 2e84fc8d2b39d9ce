import { ContinuityError } from '../errors.js';
import { claimBy, renewClaims, type Claiming } from './changes.js';
import { issuesText } from './parse.js';
import { plannedTaskSchema, type PlannedTask, type Progress, type Task } from './schema.js';
import { isHeld } from './select-task.js';

/** A progress file before its first task. */
export const emptyProgress = (goal: string): Progress => ({
  format: 'agent-progress',
  version: 1,
  revision: 0,
  phase: 'initializing',
  goal: goal.slice(0, 8_000).toWellFormed(),
  tasks: [],
});

/**
 * Claims the planning, as a task is claimed: from now on nobody else may plan, for as long as the lease lasts. To claim one's own again renews it.
 *
 * @throws ContinuityError `claim-lost` while it is somebody else's, `already-initialized`
 */
export const claimPlanning = (progress: Progress, claiming: Claiming): Progress => {
  assertInitializing(progress);
  const { planning = { generation: 0 } } = progress;
  if (planning.claim?.owner === claiming.owner) return renewClaims(progress, claiming);
  if (isHeld(planning, claiming.at)) {
    throw new ContinuityError(
      'claim-lost',
      `The session ${planning.claim?.owner ?? ''} plans the tasks, until ${planning.claim?.expiresAt ?? ''} unless it says that it is alive.`,
    );
  }
  const generation = planning.generation + 1;
  return { ...progress, planning: { generation, lastOwner: claiming.owner, claim: claimBy(claiming, generation) } };
};

/**
 * Plans the tasks. As long as the first session lasts they may be planned anew; once work has begun, they stand.
 *
 * @throws ContinuityError `already-initialized`, `progress-invalid`
 */
export const planTasks = (progress: Progress, planned: readonly PlannedTask[]): Progress => {
  assertInitializing(progress);
  const tasks = planned.map((given): Task => {
    const checked = plannedTaskSchema.safeParse(given);
    if (!checked.success) {
      throw new ContinuityError('progress-invalid', `A task is not in order: ${issuesText(checked.error)}.`);
    }
    return { ...checked.data, status: 'todo', generation: 0 };
  });
  return { ...progress, tasks };
};

/** Says that the scaffolding is complete: nobody plans any more. Without a task there is nothing to begin with, and it stays as it is. */
export const beginWork = (progress: Progress): Progress => {
  if (progress.phase === 'working' || progress.tasks.length === 0) return progress;
  const { planning: _, ...rest } = progress;
  return { ...rest, phase: 'working' };
};

const assertInitializing = ({ phase }: Progress): void => {
  if (phase !== 'initializing') {
    throw new ContinuityError(
      'already-initialized',
      'The tasks are planned and work has begun; people may add to the progress file.',
    );
  }
};
