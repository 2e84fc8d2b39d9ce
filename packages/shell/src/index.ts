export type { CommandDecision, CommandJudgement, CommandRule, JudgementFinding, RuleContext } from './judge/rule.js';
export { commandPolicy, judgeCommand, type CommandContext, type CommandPolicy } from './judge/command-policy.js';
export { commitsIn, type CommitCommand, type EarlierCommand } from './judge/git-commits.js';
export type { CommandPolicyOptions } from './judge/policy-options.js';
export { requiresApproval } from './judge/requires-approval.js';
export { approvalRules } from './judge/rules/approvals.js';
export { commandRules } from './judge/rules/index.js';
export { wordPattern } from './judge/word-pattern.js';
