import { ContinuityError } from '../errors.js';
import { isoOf } from '../clock.js';
import { isHeld, isReady, selectTask } from './select-task.js';
import { evidenceSchema, type Progress, type Task, type TaskClaim, type TaskEvidence } from './schema.js';
import { issuesText } from './parse.js';

/** Who changes a task, and when. */
export interface By {
  readonly owner: string;
  /** As milliseconds since 1970. */
  readonly at: number;
}

/** Who claims a task, when, and for how long unless it says that it is alive. */
export interface Claiming extends By {
  readonly leaseMs: number;
  /** The process that will work on it: when it dies, nobody of its machine has to wait for the lease. */
  readonly process?: TaskClaim['process'];
}

/**
 * Claims a task: from now on, nobody else may, for as long as the lease lasts. To claim one's own again renews it.
 *
 * @throws ContinuityError `unknown-task`, `claim-lost` while it is somebody else's, `not-ready`
 */
export const claimTask = (progress: Progress, id: string, claiming: Claiming): Progress => {
  const { owner, at } = claiming;
  const task = taskOf(progress, id);
  if (task.claim?.owner === owner) return renewClaims(progress, claiming);
  if (isHeld(task, at)) {
    throw new ContinuityError(
      'claim-lost',
      `${task.claim?.owner ?? 'Somebody'} works on the task "${id}" until ${task.claim?.expiresAt ?? ''}.`,
    );
  }
  if (task.status === 'done' || task.status === 'blocked') {
    throw new ContinuityError('not-ready', `The task "${id}" is ${task.status}.`);
  }
  if (!isReady(task, progress.tasks)) {
    throw new ContinuityError('not-ready', `The task "${id}" waits for ${task.dependsOn.join(', ')}.`);
  }
  const generation = task.generation + 1;
  const attempts = attemptsOf(task) + (task.lastOwner === owner && task.status === 'in_progress' ? 0 : 1);
  return withTask(progress, {
    ...task,
    status: 'in_progress',
    generation,
    attempts,
    lastOwner: owner,
    claim: claimBy(claiming, generation),
  });
};

/** Claims what comes next. @returns the same progress when there is nothing to claim */
export const claimNext = (progress: Progress, claiming: Claiming): Progress => {
  const next = selectTask(progress, claiming.owner, claiming.at);
  return next.kind === 'task' ? claimTask(progress, next.task.id, claiming) : progress;
};

/** A sign of life: what the owner has claimed stays its own for another lease. @returns the same progress when it holds nothing */
export const renewClaims = (progress: Progress, { owner, at, leaseMs, process }: Claiming): Progress =>
  mapClaims(progress, isOf(owner), (claim) => ({
    ...claim,
    heartbeatAt: isoOf(at),
    expiresAt: isoOf(at + leaseMs),
    ...(process && { process }),
  }));

/** Lets go what the owner has claimed: it stays begun, and whoever comes next resumes it. @returns the same progress when it holds nothing */
export const releaseClaims = (progress: Progress, owner: string): Progress =>
  mapClaims(progress, isOf(owner), () => undefined);

/** As {@link releaseClaims}, but what the owner has begun does not count as an attempt: it was not the task's fault that it came to nothing. */
export const giveBackClaims = (progress: Progress, owner: string): Progress => {
  const tasks = progress.tasks.map((task) =>
    task.claim?.owner === owner ? { ...task, attempts: Math.max(0, attemptsOf(task) - 1) } : task,
  );
  return holdsClaim(progress, owner) ? releaseClaims({ ...progress, tasks }, owner) : progress;
};

/** How many sessions have begun a task and not finished it. One that a person has made a task to do again, nobody has begun. */
export const attemptsOf = ({ status, attempts = 0 }: Pick<Task, 'attempts' | 'status'>): number =>
  status === 'in_progress' ? attempts : 0;

/** Sets aside, for people, what so many sessions have begun and none has finished. @returns the same progress where there is no such task */
export const giveUpTasks = (progress: Progress, maxAttempts: number, at: number): Progress => {
  const isHopeless = (task: Task): boolean => attemptsOf(task) >= maxAttempts && !isHeld(task, at);
  if (!progress.tasks.some(isHopeless)) return progress;
  const givenUp = (task: Task): Task => ({
    ...withoutClaim(task),
    status: 'blocked',
    blockedBy:
      `Given up: ${attemptsOf(task)} sessions have begun it and none has finished it, the last of them ${task.lastOwner ?? 'unknown'}; see its notes.`
        .slice(0, 1_000)
        .toWellFormed(),
  });
  return { ...progress, tasks: progress.tasks.map((task) => (isHopeless(task) ? givenUp(task) : task)) };
};

/** Lets go the claims of processes that are gone. @returns the same progress when there are none */
export const releaseGone = (
  progress: Progress,
  isGone: (process: NonNullable<TaskClaim['process']>) => boolean,
): Progress =>
  mapClaims(
    progress,
    ({ process }) => process !== undefined && isGone(process),
    () => undefined,
  );

/** Whether the owner has claimed something. */
export const holdsClaim = ({ planning, tasks }: Progress, owner: string): boolean =>
  planning?.claim?.owner === owner || tasks.some(({ claim }) => claim?.owner === owner);

/**
 * Marks a task done, with the evidence.
 *
 * @throws ContinuityError `unknown-task`, `not-claimed`, `claim-lost`, `evidence-missing`
 */
export const completeTask = (progress: Progress, id: string, evidence: TaskEvidence, { owner, at }: By): Progress => {
  const task = taskOf(progress, id);
  assertOwn(task, owner);
  const checked = evidenceSchema.safeParse(evidence);
  if (!checked.success) {
    throw new ContinuityError(
      'evidence-missing',
      `The task "${id}" is not done without evidence: ${issuesText(checked.error)}.`,
    );
  }
  return withTask(progress, { ...withoutClaim(task), status: 'done', evidence: checked.data, completedAt: isoOf(at) });
};

/** Marks a task as one that cannot go on, and lets it go. @throws ContinuityError `unknown-task`, `not-claimed`, `claim-lost` */
export const blockTask = (progress: Progress, id: string, reason: string, { owner }: Pick<By, 'owner'>): Progress => {
  const task = taskOf(progress, id);
  assertOwn(task, owner);
  return withTask(progress, {
    ...withoutClaim(task),
    status: 'blocked',
    blockedBy: reason.trim().slice(0, 1_000).toWellFormed() || 'No reason was given.',
  });
};

/** Lets a blocked task be worked on again, as if nobody had tried. @throws ContinuityError `unknown-task`, `not-ready` where it is not blocked */
export const unblockTask = (progress: Progress, id: string): Progress => {
  const { blockedBy, attempts: _, ...rest } = taskOf(progress, id);
  if (blockedBy === undefined) {
    throw new ContinuityError('not-ready', `The task "${id}" is not blocked but ${rest.status}.`);
  }
  return withTask(progress, { ...rest, status: rest.generation > 0 ? 'in_progress' : 'todo' });
};

/** The task with this id. @throws ContinuityError `unknown-task` */
export const taskOf = ({ tasks }: Progress, id: string): Task => {
  const task = tasks.find((candidate) => candidate.id === id);
  if (task) return task;
  throw new ContinuityError(
    'unknown-task',
    `There is no task "${id}"; the ids are ${
      tasks
        .slice(0, 50)
        .map((known) => known.id)
        .join(', ') || 'none yet'
    }.`,
  );
};

/** @throws ContinuityError `not-claimed`, `claim-lost` */
export const assertOwn = ({ id, claim, lastOwner, status }: Task, owner: string): void => {
  if (claim?.owner === owner) return;
  if (claim !== undefined) {
    throw new ContinuityError(
      'claim-lost',
      `The task "${id}" is in the hands of ${claim.owner} by now; leave it, and ask for the next one.`,
    );
  }
  const hint = lastOwner === owner && status === 'in_progress' ? 'It was let go; claim it again.' : 'Claim it first.';
  throw new ContinuityError('not-claimed', `The task "${id}" is ${status} and not claimed by ${owner}. ${hint}`);
};

/** A claim that is made now. */
export const claimBy = ({ owner, at, leaseMs, process }: Claiming, generation: number): TaskClaim => {
  const now = isoOf(at);
  return {
    owner,
    generation,
    claimedAt: now,
    heartbeatAt: now,
    expiresAt: isoOf(at + leaseMs),
    ...(process && { process }),
  };
};

const withoutClaim = (task: Task): Task => {
  const { claim: _, ...rest } = task;
  return rest;
};

const withTask = (progress: Progress, task: Task): Progress => ({
  ...progress,
  tasks: progress.tasks.map((other) => (other.id === task.id ? task : other)),
});

const isOf =
  (owner: string) =>
  (claim: TaskClaim): boolean =>
    claim.owner === owner;

/** Changes or lets go claims, those on tasks and that on the planning. */
const mapClaims = (
  progress: Progress,
  isMeant: (claim: TaskClaim) => boolean,
  change: (claim: TaskClaim) => TaskClaim | undefined,
): Progress => {
  const { planning, tasks } = progress;
  const isTheirs = (claim: TaskClaim | undefined): boolean => claim !== undefined && isMeant(claim);
  if (!isTheirs(planning?.claim) && !tasks.some(({ claim }) => isTheirs(claim))) return progress;
  const changed = <Claimed extends { readonly claim?: TaskClaim | undefined }>(claimed: Claimed): Claimed => {
    const { claim, ...rest } = claimed;
    if (claim === undefined || !isMeant(claim)) return claimed;
    const next = change(claim);
    return { ...rest, ...(next && { claim: next }) } as Claimed;
  };
  return { ...progress, ...(planning && { planning: changed(planning) }), tasks: tasks.map(changed) };
};
