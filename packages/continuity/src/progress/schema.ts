import * as z from 'zod';

/** The version of the file's format that this package writes. */
export const progressVersion = 1;

/** The name of the progress file. */
export const progressFileName = 'agent-progress.json';

const time = z.iso.datetime();
const line = (maxChars: number) => z.string().trim().min(1).max(maxChars);

/** A claim on a task or on the planning. */
const claimSchema = z.strictObject({
  /** The session. */
  owner: z.string().min(1).max(1_000),
  /** Increases with each claim, so that the holder of an earlier one notices its loss. */
  generation: z.int().positive(),
  claimedAt: time,
  heartbeatAt: time,
  expiresAt: time,
  /** The process of the session: if it dies, processes of the same machine need not wait for the lease. */
  process: z
    .strictObject({
      machine: z.string().max(64),
      boot: z.string().max(64),
      pid: z.int().positive(),
      start: z.string().max(64),
    })
    .optional(),
});

/** The evidence that a task is done. */
export const evidenceSchema = z
  .strictObject({
    summary: line(4_000),
    /** The passed end-to-end check. */
    check: z
      .strictObject({ command: line(1_000), exitCode: z.literal(0), at: time, output: z.string().max(2_000) })
      .optional(),
    /** The person who accepted the task without a check. */
    acceptedBy: line(200).optional(),
  })
  .refine(
    ({ check, acceptedBy }) => check !== undefined || acceptedBy !== undefined,
    'expected a passed check, or the person who accepted the task',
  );

const idSchema = z.string().regex(/^[\w.-]{1,64}$/, 'expected 1 to 64 letters, digits, "_", "." and "-"');

/** A planned task. Its acceptance criteria are written before work begins. */
export const plannedTaskSchema = z.strictObject({
  id: idSchema,
  title: line(200),
  description: z.string().max(4_000).default(''),
  /** The conditions that a finished task must meet, end to end. */
  acceptance: z.array(line(500)).min(1).max(30),
  /** Tasks that must be done first. */
  dependsOn: z.array(idSchema).max(50).default([]),
});

/** A task of the progress file. */
const taskSchema = z
  .strictObject({
    ...plannedTaskSchema.shape,
    status: z.enum(['todo', 'in_progress', 'done', 'blocked']),
    /** The number of claims so far. */
    generation: z.int().nonnegative(),
    /** The number of sessions that began it, except cancelled ones and those that an outage ended. */
    attempts: z.int().nonnegative().optional(),
    claim: claimSchema.optional(),
    /** The last session that worked on it. */
    lastOwner: z.string().optional(),
    evidence: evidenceSchema.optional(),
    completedAt: time.optional(),
    blockedBy: line(1_000).optional(),
  })
  .refine(({ status, evidence }) => (status === 'done') === (evidence !== undefined), {
    path: ['evidence'],
    message: 'expected evidence if, and only if, the status is "done"',
  })
  .refine(({ status, claim }) => claim === undefined || status === 'in_progress', {
    path: ['claim'],
    message: 'expected no claim unless the status is "in_progress"',
  })
  .refine(({ status, blockedBy }) => (status === 'blocked') === (blockedBy !== undefined), {
    path: ['blockedBy'],
    message: 'expected a reason if, and only if, the status is "blocked"',
  });

/** The planning, while it lasts. */
const planningSchema = z.strictObject({
  /** The number of claims so far. */
  generation: z.int().nonnegative(),
  claim: claimSchema.optional(),
  /** The last session that planned. */
  lastOwner: z.string().optional(),
});

/** The whole progress file. */
export const progressSchema = z
  .strictObject({
    format: z.literal('agent-progress'),
    version: z.literal(progressVersion),
    /** Increases with each write, for compare-and-swap. */
    revision: z.int().nonnegative(),
    /** `initializing` until the first session is complete, also if it was interrupted. */
    phase: z.enum(['initializing', 'working']),
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

/** Finds duplicate ids, unknown dependencies and circular dependencies. */
const orderProblem = (
  tasks: readonly { readonly id: string; readonly dependsOn: readonly string[] }[],
): string | undefined => {
  const open = new Map<string, Set<string>>();
  for (const { id, dependsOn } of tasks) {
    if (open.has(id)) return `the id "${id}" appears twice`;
    open.set(id, new Set(dependsOn));
  }
  const waiting = new Map<string, string[]>();
  for (const [id, needs] of open) {
    for (const need of needs) {
      if (!open.has(need)) return `the task "${id}" depends on "${need}", which does not exist`;
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
  return open.size === 0 ? undefined : `the tasks ${[...open.keys()].slice(0, 5).join(', ')} depend on each other`;
};
