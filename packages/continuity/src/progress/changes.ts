import { ContinuityError } from '../errors.js';
import { isoOf } from '../clock.js';
import { isHeld, isReady, selectTask } from './select-task.js';
import { evidenceSchema, type Progress, type Task, type TaskClaim, type TaskEvidence } from './schema.js';
import { issuesText } from './parse.js';

/** The session that changes a task, and the time. */
export interface By {
  readonly owner: string;
  /** As milliseconds since 1970. */
  readonly at: number;
}

/** The session that claims a task, the time, and the lease. */
export interface Claiming extends By {
  readonly leaseMs: number;
  /** The process that works on the task: if it dies, other processes of its machine need not wait for the lease. */
  readonly process?: TaskClaim['process'];
}

/**
 * Claims a task for the length of the lease. A second claim of the same owner renews the first.
 *
 * @throws ContinuityError `unknown-task`, `claim-lost` while another owner holds it, `not-ready`
 */
export const claimTask = (progress: Progress, id: string, claiming: Claiming): Progress => {
  const { owner, at } = claiming;
  const task = taskOf(progress, id);
  if (task.claim?.owner === owner) return renewClaims(progress, claiming);
  if (isHeld(task, at)) {
    throw new ContinuityError(
      'claim-lost',
      `${task.claim?.owner ?? 'Another session'} works on the task "${id}" until ${task.claim?.expiresAt ?? ''}.`,
    );
  }
  if (task.status === 'done' || task.status === 'blocked') {
    throw new ContinuityError('not-ready', `The task "${id}" is ${task.status}.`);
  }
  if (!isReady(task, progress.tasks)) {
    throw new ContinuityError('not-ready', `The task "${id}" waits for ${task.dependsOn.join(', ')}.`);
  }
  const generation = task.generation + 1;
  const before = attemptsOf(task);
  const attempts = task.lastOwner === owner && before > 0 ? before : before + 1;
  return withTask(progress, {
    ...task,
    status: 'in_progress',
    generation,
    attempts,
    lastOwner: owner,
    claim: claimBy(claiming, generation),
  });
};

/** Claims the next task. @returns the same progress if no task is free */
export const claimNext = (progress: Progress, claiming: Claiming): Progress => {
  const next = selectTask(progress, claiming.owner, claiming.at);
  return next.kind === 'task' ? claimTask(progress, next.task.id, claiming) : progress;
};

/** Renews the claims of an owner. @returns the same progress if it holds none */
export const renewClaims = (progress: Progress, { owner, at, leaseMs, process }: Claiming): Progress =>
  mapClaims(progress, isOf(owner), (claim) => ({
    ...claim,
    heartbeatAt: isoOf(at),
    expiresAt: isoOf(at + leaseMs),
    ...(process && { process }),
  }));

/** Releases the claims of an owner; its task stays `in_progress`. @returns the same progress if it holds none */
export const releaseClaims = (progress: Progress, owner: string): Progress =>
  mapClaims(progress, isOf(owner), () => undefined);

/**
 * Releases claims like {@link releaseClaims}, without counting an attempt: the task did not cause the end of the
 * session.
 */
export const giveBackClaims = (progress: Progress, owner: string): Progress => {
  const tasks = progress.tasks.map((task) =>
    task.claim?.owner === owner ? { ...task, attempts: Math.max(0, attemptsOf(task) - 1) } : task,
  );
  return holdsClaim(progress, owner) ? releaseClaims({ ...progress, tasks }, owner) : progress;
};

/** Returns the number of sessions that began a task and did not finish it; 0 if a person has reset its status. */
export const attemptsOf = ({ status, attempts = 0 }: Pick<Task, 'attempts' | 'status'>): number =>
  status === 'in_progress' ? attempts : 0;

/** Blocks tasks that N sessions began and none finished. @returns the same progress if no task qualifies */
export const giveUpTasks = (progress: Progress, maxAttempts: number, at: number): Progress => {
  const isHopeless = (task: Task): boolean => attemptsOf(task) >= maxAttempts && !isHeld(task, at);
  if (!progress.tasks.some(isHopeless)) return progress;
  const givenUp = (task: Task): Task => ({
    ...withoutClaim(task),
    status: 'blocked',
    blockedBy:
      `Given up after ${attemptsOf(task)} sessions, the last of them ${task.lastOwner ?? 'unknown'}; see its notes.`
        .slice(0, 1_000)
        .toWellFormed(),
  });
  return { ...progress, tasks: progress.tasks.map((task) => (isHopeless(task) ? givenUp(task) : task)) };
};

/** Releases the claims of processes that have ended. @returns the same progress if no claim qualifies */
export const releaseGone = (
  progress: Progress,
  isGone: (process: NonNullable<TaskClaim['process']>) => boolean,
): Progress =>
  mapClaims(
    progress,
    ({ process }) => process !== undefined && isGone(process),
    () => undefined,
  );

/** The claims of an owner, on tasks and on the planning. */
export const claimsOf = ({ planning, tasks }: Progress, owner: string): readonly TaskClaim[] =>
  [planning, ...tasks].flatMap((claimed) => (claimed?.claim?.owner === owner ? [claimed.claim] : []));

/** Whether the owner holds a claim. */
export const holdsClaim = (progress: Progress, owner: string): boolean => claimsOf(progress, owner).length > 0;

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

/** Marks a task as blocked and releases it. @throws ContinuityError `unknown-task`, `not-claimed`, `claim-lost` */
export const blockTask = (progress: Progress, id: string, reason: string, { owner }: Pick<By, 'owner'>): Progress => {
  const task = taskOf(progress, id);
  assertOwn(task, owner);
  return withTask(progress, {
    ...withoutClaim(task),
    status: 'blocked',
    blockedBy: reason.trim().slice(0, 1_000).toWellFormed() || 'No reason was given.',
  });
};

/** Unblocks a task and resets its attempts. @throws ContinuityError `unknown-task`, `not-ready` if it is not blocked */
export const unblockTask = (progress: Progress, id: string): Progress => {
  const { blockedBy, attempts: _, ...rest } = taskOf(progress, id);
  if (blockedBy === undefined) {
    throw new ContinuityError('not-ready', `The task "${id}" is ${rest.status}, not blocked.`);
  }
  return withTask(progress, { ...rest, status: rest.generation > 0 ? 'in_progress' : 'todo' });
};

/** The task with this id. @throws ContinuityError `unknown-task` */
export const taskOf = ({ tasks }: Progress, id: string): Task => {
  const task = tasks.find((candidate) => candidate.id === id);
  if (task) return task;
  throw new ContinuityError(
    'unknown-task',
    `No task has the id "${id}"; the ids are ${
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
      `The task "${id}" is claimed by ${claim.owner} now. Leave it, and ask for the next one.`,
    );
  }
  const hint = lastOwner === owner && status === 'in_progress' ? 'It was released; claim it again.' : 'Claim it first.';
  throw new ContinuityError('not-claimed', `The task "${id}" is ${status} and not claimed by ${owner}. ${hint}`);
};

/** Returns a new claim. */
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

/** Changes or removes claims on tasks and on the planning. */
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
