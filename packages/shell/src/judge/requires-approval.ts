import { commandPolicy, type CommandContext } from './command-policy.js';
import { checkPolicyOptions, type CommandPolicyOptions } from './policy-options.js';
import type { JudgementFinding } from './rule.js';
import { approvalRules } from './rules/approvals.js';
import { commandRules } from './rules/index.js';

/**
 * Finds the reasons why a command needs an approval: it pushes, opens a pull request, deploys, migrates a database or
 * publishes. Findings of the default rules are included. Returns an empty list if no approval is needed.
 *
 * @throws InvalidOptionError `invalid-option` for an unknown or invalid option
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
