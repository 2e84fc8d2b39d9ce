export type {
  CommandDecision,
  CommandJudgement,
  CommandRule,
  JudgementFinding,
  PathPlace,
  RuleContext,
} from './judge/rule.js';
export { commandPolicy, judgeCommand, type CommandContext, type CommandPolicy } from './judge/command-policy.js';
export { commitsIn, type CommitCommand, type CommitLine, type EarlierCommand } from './judge/git-commits.js';
export type { GitAliases } from './read/git-programs.js';
export type { Zone } from './read/paths.js';
export type { CommandPolicyOptions } from './judge/policy-options.js';
export { requiresApproval } from './judge/requires-approval.js';
export { approvalRules } from './judge/rules/approvals.js';
export { commandRules } from './judge/rules/index.js';
export type { SqlDamage } from './judge/sql.js';
export { wordPattern, type WordPattern } from './judge/word-pattern.js';
export type { Certainty, Operand, ParsedArguments } from './read/arguments.js';
export type { ShellProblem } from './read/inner-commands.js';
