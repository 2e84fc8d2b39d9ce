import type { CallDecision } from './hook-decisions.js';

/** Claude Code ran a call that operators had denied. */
export const denialIgnored = (tool: string): string =>
  `Claude Code ran a call of ${tool} that an operator had denied or that waited for approval. Update Claude Code, and remove hooks that allow calls.`;

/** A call ran with an input that operators do not allow. */
export const inputNotAllowed = (tool: string, decision: CallDecision): string => {
  const why = decision.type === 'denied' ? decision.reason : 'An operator did not allow it.';
  return `Another hook changed the input of a call of ${tool}, and Claude Code ran it with an input that operators do not allow: ${why} Change inputs in an operator instead of a hook.`;
};

/** An output that operators changed reached the model unchanged. */
export const notRewritten = (tool: string, isFailed: boolean): string =>
  isFailed
    ? `Operators removed text from the output of a failed call of ${tool}, and Claude Code does not rewrite failed outputs.`
    : `Operators removed text from the output of ${tool}, and Claude Code ignored the rewritten output.`;

/** A change of a model request, with the names of its members, has no effect. */
export const lostChange = (members: readonly string[]): string => {
  const advice = members.includes('settings.maxOutputTokens')
    ? 'Limits on tokens and costs have no effect: use `maxBudgetUsd` of query(), or'
    : 'Remove the operator, or use';
  return `attach(): an operator changed ${members.join(', ')} of a model request, which Claude Code does not apply. ${advice} the model proxy (apps/model-proxy).`;
};
