import * as z from 'zod';

/** The version of the file's format that this package writes. */
export const progressVersion = 1;

/** The name of the progress file. */
export const progressFileName = 'agent-progress.json';

const time = z.iso.datetime();
const line = (maxChars: number) => z.string().trim().min(1).max(maxChars);

/** Who works on a task, or plans the tasks, and until when nobody else may. */
export const claimSchema = z.strictObject({
  /** The session, letter by letter. */
  owner: z.string().min(1).max(1_000),
  /** Grows with each claim: who held an earlier one is told that it is lost. */
  generation: z.int().positive(),
  claimedAt: time,
  heartbeatAt: time,
  expiresAt: time,
  /** The process that works on it, so that others of its machine need not wait for the lease when it has died. */
  process: z
    .strictObject({
      machine: z.string().max(64),
      boot: z.string().max(64),
      pid: z.int().positive(),
      start: z.string().max(64),
    })
    .optional(),
});

/** Why a task counts as done. */
export const evidenceSchema = z
  .strictObject({
    summary: line(4_000),
    /** The end-to-end check that passed. */
    check: z
      .strictObject({ command: line(1_000), exitCode: z.literal(0), at: time, output: z.string().max(2_000) })
      .optional(),
    /** The person who accepted it without one. */
    acceptedBy: line(200).optional(),
  })
  .refine(
    ({ check, acceptedBy }) => check !== undefined || acceptedBy !== undefined,
    'expected a check that passed, or a person who accepted it',
  );

const idSchema = z.string().regex(/^[\w.-]{1,64}$/, 'expected 1 to 64 letters, digits, "_", "." and "-"');

/** A task as it is planned: what has to be true in the end stands before work begins. */
export const plannedTaskSchema = z.strictObject({
  id: idSchema,
  title: line(200),
  description: z.string().max(4_000).default(''),
  /** What has to be true, end to end, for the task to be done. */
  acceptance: z.array(line(500)).min(1).max(30),
  /** Tasks that have to be done before. */
  dependsOn: z.array(idSchema).max(50).default([]),
});

/** A task of the progress file. */
export const taskSchema = z
  .strictObject({
    ...plannedTaskSchema.shape,
    status: z.enum(['todo', 'in_progress', 'done', 'blocked']),
    /** How many claims it has had. */
    generation: z.int().nonnegative(),
    /** How many sessions have begun it, without those that were cancelled or that an outage has ended. */
    attempts: z.int().nonnegative().optional(),
    claim: claimSchema.optional(),
    /** Who worked on it last. */
    lastOwner: z.string().optional(),
    evidence: evidenceSchema.optional(),
    completedAt: time.optional(),
    blockedBy: line(1_000).optional(),
  })
  .refine(({ status, evidence }) => (status === 'done') === (evidence !== undefined), {
    path: ['evidence'],
    message: 'expected evidence where the status is "done", and only there',
  })
  .refine(({ status, claim }) => claim === undefined || status === 'in_progress', {
    path: ['claim'],
    message: 'expected no claim unless the status is "in_progress"',
  })
  .refine(({ status, blockedBy }) => (status === 'blocked') === (blockedBy !== undefined), {
    path: ['blockedBy'],
    message: 'expected a reason where the status is "blocked", and only there',
  });

/** Who plans the tasks, as long as they are not planned. */
export const planningSchema = z.strictObject({
  /** How many claims there have been. */
  generation: z.int().nonnegative(),
  claim: claimSchema.optional(),
  /** Who planned last. */
  lastOwner: z.string().optional(),
});

/** The whole progress file. */
export const progressSchema = z
  .strictObject({
    format: z.literal('agent-progress'),
    version: z.literal(progressVersion),
    /** Grows with each write: what compare-and-swap compares. */
    revision: z.int().nonnegative(),
    /** `initializing` until the scaffolding is complete: a first session that broke off is not taken for a finished one. */
    phase: z.enum(['initializing', 'working']),
    /** Whose the first session is, while it lasts. */
    planning: planningSchema.optional(),
    goal: z.string().max(8_000),
    tasks: z.array(taskSchema).max(10_000),
  })
  .superRefine(({ tasks }, context) => {
    const problem = orderProblem(tasks);
    if (problem !== undefined) context.addIssue({ code: 'custom', path: ['tasks'], message: problem });
  });

export type TaskClaim = z.infer<typeof claimSchema>;
export type TaskEvidence = z.infer<typeof evidenceSchema>;
export type PlannedTask = z.input<typeof plannedTaskSchema>;
export type Task = z.infer<typeof taskSchema>;
export type TaskStatus = Task['status'];
export type Progress = z.infer<typeof progressSchema>;

/** What is wrong with the order of tasks: ids that repeat, or that wait for nobody or for each other. */
const orderProblem = (
  tasks: readonly { readonly id: string; readonly dependsOn: readonly string[] }[],
): string | undefined => {
  const open = new Map<string, Set<string>>();
  for (const { id, dependsOn } of tasks) {
    if (open.has(id)) return `the id "${id}" is there twice`;
    open.set(id, new Set(dependsOn));
  }
  const waiting = new Map<string, string[]>();
  for (const [id, needs] of open) {
    for (const need of needs) {
      if (!open.has(need)) return `the task "${id}" depends on "${need}", which is not there`;
      const others = waiting.get(need);
      if (others) others.push(id);
      else waiting.set(need, [id]);
    }
  }
  const free = [...open].flatMap(([id, needs]) => (needs.size === 0 ? [id] : []));
  for (let id = free.pop(); id !== undefined; id = free.pop()) {
    for (const next of waiting.get(id) ?? []) {
      const needs = open.get(next);
      needs?.delete(id);
      if (needs?.size === 0) free.push(next);
    }
    open.delete(id);
  }
  return open.size === 0 ? undefined : `the tasks ${[...open.keys()].slice(0, 5).join(', ')} wait for each other`;
};
