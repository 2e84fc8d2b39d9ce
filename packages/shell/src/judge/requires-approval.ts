import { commandPolicy, type CommandContext } from './command-policy.js';
import { checkPolicyOptions, type CommandPolicyOptions } from './policy-options.js';
import type { JudgementFinding } from './rule.js';
import { approvalRules } from './rules/approvals.js';
import { commandRules } from './rules/index.js';

/**
 * Finds why a command needs approval although it destroys nothing: it pushes, opens a pull request, deploys, migrates
 * a database, publishes. Findings of the usual rules are among them. Empty if no approval is needed.
 *
 * @throws InvalidOptionError `invalid-option` for an option that is unknown or wrong
 *
 * @example
 * ```ts
 * requiresApproval('git commit -am fix && git push', { cwd: '/work' }).map(({ rule }) => rule); // ['approval/push']
 * requiresApproval('git push --dry-run', { cwd: '/work' }); // []
 * ```
 */
export const requiresApproval = (
  command: string,
  { cwd, project, ...options }: CommandContext & CommandPolicyOptions,
): readonly JudgementFinding[] => {
  if (Object.keys(options).length === 0) return standard(command, { cwd, project }).findings;
  const { rules = withApprovals } = options;
  checkPolicyOptions('requiresApproval()', { ...options, rules });
  return commandPolicy({ ...options, rules })(command, { cwd, project }).findings;
};

const withApprovals = [...commandRules, ...approvalRules];

const standard = commandPolicy({ rules: withApprovals });
