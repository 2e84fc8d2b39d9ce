import { ContinuityError } from '../errors.js';
import { claimBy, renewClaims, type Claiming } from './changes.js';
import { issuesText } from './parse.js';
import { plannedTaskSchema, type PlannedTask, type Progress, type Task } from './schema.js';
import { isHeld } from './select-task.js';

/** Returns a progress file without tasks. */
export const emptyProgress = (goal: string): Progress => ({
  format: 'agent-progress',
  version: 1,
  revision: 0,
  phase: 'initializing',
  goal: goal.slice(0, 8_000).toWellFormed(),
  tasks: [],
});

/**
 * Claims the planning for the length of the lease. A second claim of the same owner renews the first.
 *
 * @throws ContinuityError `claim-lost` while another session plans, `already-initialized`
 */
export const claimPlanning = (progress: Progress, claiming: Claiming): Progress => {
  assertInitializing(progress);
  const { planning = { generation: 0 } } = progress;
  if (planning.claim?.owner === claiming.owner) return renewClaims(progress, claiming);
  if (isHeld(planning, claiming.at)) {
    throw new ContinuityError(
      'claim-lost',
      `The session ${planning.claim?.owner ?? ''} plans the tasks; its lease ends at ${planning.claim?.expiresAt ?? ''} unless it is renewed.`,
    );
  }
  const generation = planning.generation + 1;
  return { ...progress, planning: { generation, lastOwner: claiming.owner, claim: claimBy(claiming, generation) } };
};

/**
 * Replaces the list of tasks. Once work has begun, the list is final.
 *
 * @throws ContinuityError `already-initialized`, `progress-invalid`
 */
export const planTasks = (progress: Progress, planned: readonly PlannedTask[]): Progress => {
  assertInitializing(progress);
  const tasks = planned.map((given): Task => {
    const checked = plannedTaskSchema.safeParse(given);
    if (!checked.success) {
      throw new ContinuityError('progress-invalid', `A task is invalid: ${issuesText(checked.error)}.`);
    }
    return { ...checked.data, status: 'todo', generation: 0 };
  });
  return { ...progress, tasks };
};

/** Ends the planning. @returns the same progress if it has ended before or no task was planned */
export const beginWork = (progress: Progress): Progress => {
  if (progress.phase === 'working' || progress.tasks.length === 0) return progress;
  const { planning: _, ...rest } = progress;
  return { ...rest, phase: 'working' };
};

const assertInitializing = ({ phase }: Progress): void => {
  if (phase !== 'initializing') {
    throw new ContinuityError(
      'already-initialized',
      'The tasks are planned and work has begun. A person may add tasks to the progress file.',
    );
  }
};
