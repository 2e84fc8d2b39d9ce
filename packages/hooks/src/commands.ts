export {
  commandPolicy,
  commandRules,
  approvalRules,
  judgeCommand,
  requiresApproval,
  type CommandContext,
  type CommandDecision,
  type CommandJudgement,
  type CommandPolicy,
  type CommandPolicyOptions,
  type CommandRule,
  type JudgementFinding,
} from '@h/shell';
export {
  approvals,
  approvalTools,
  type ApprovalsOptions,
  type ApprovalTool,
  type CommandFinding,
} from './ready/approvals.js';
export { commitGate, type CommitGateOptions } from './ready/commit-gate.js';
export { destructiveCommands, type DestructiveCommandsOptions } from './ready/destructive-commands.js';
