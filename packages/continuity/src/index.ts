import './events.js';

export { continuity } from './continuity.js';
export { draftRuleWith, type Summarizer } from './draft-rule.js';
export { ContinuityError } from './errors.js';
export type { ContinuityOptions, SessionCommit, SessionFailure } from './options.js';
export type { SessionEnd } from './work/outage.js';
export { claimNext, completeTask, renewClaims, unblockTask } from './progress/changes.js';
export { beginWork, emptyProgress, planTasks } from './progress/planning.js';
export type { PlannedTask, Progress, Task } from './progress/schema.js';
export { openProject, type Project, type ProjectOptions } from './project.js';
export { initializerRole, workerRole, type Role } from './roles.js';
export type { RuleRatchet } from './rules.js';
export type { ProjectStatus } from './status.js';
export type { TaskCheck } from './tools/check-task.js';
export { continuityTools, type ContinuityToolsOptions } from './tools/continuity-tools.js';
export type { ContinuityTool } from './tools/tool-shape.js';
export type { Outage, PlannedSession, WorkThroughOptions } from './work/work-options.js';
export { workThrough, type WorkEnd, type WorkEndReason } from './work/work-through.js';
