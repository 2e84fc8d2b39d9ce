import './events.js';

export { continuity } from './continuity.js';
export { draftRuleWith, type Summarizer } from './draft-rule.js';
export { ContinuityError, type ContinuityErrorCode } from './errors.js';
export { stateFolderName, type StateFolder, type StateWriter } from './files/state-folder.js';
export type { ProcessMark } from './files/process.js';
export { notesFileName, type Note, type NotesStore } from './notes.js';
export type { ContinuityOptions, SessionCommit, SessionFailure } from './options.js';
export {
  blockTask,
  claimNext,
  claimTask,
  completeTask,
  releaseClaims,
  renewClaims,
  unblockTask,
  type By,
  type Claiming,
} from './progress/changes.js';
export { beginWork, claimPlanning, emptyProgress, planTasks } from './progress/planning.js';
export type { SessionEnd } from './outage.js';
export { parseProgress, type ParsedProgress } from './progress/parse.js';
export type { ProgressFile, ProgressStore } from './progress/progress-store.js';
export {
  progressFileName,
  progressSchema,
  progressVersion,
  type PlannedTask,
  type Progress,
  type Task,
  type TaskClaim,
  type TaskEvidence,
  type TaskStatus,
} from './progress/schema.js';
export { selectTask, type NextTask } from './progress/select-task.js';
export { openProject, type Project, type ProjectOptions } from './project.js';
export { initializerRole, mayUse, workerRole, type Role, type RoleTools } from './roles.js';
export { rulesFileName, type ProposedRule, type RuleProposal, type RuleRatchet } from './rules.js';
export type { ProjectStatus, ProjectStep, ProjectStop } from './status.js';
export type { TaskCounts } from './task-text.js';
export type { TaskCheck } from './tools/check-task.js';
export { continuityTools, type ContinuityToolsOptions } from './tools/continuity-tools.js';
export type { ContinuityTool, ContinuityToolContext } from './tools/tool-shape.js';
export type { Outage, PlannedSession, WorkThroughOptions } from './work-options.js';
export { workThrough, type WorkEnd, type WorkEndReason } from './work-through.js';
export { workspaceScriptName, type ScriptEnd, type WorkspaceScript } from './workspace-script.js';
