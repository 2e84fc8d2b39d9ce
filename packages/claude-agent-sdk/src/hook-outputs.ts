import type { SyncHookJSONOutput } from '@anthropic-ai/claude-agent-sdk';
import type { TurnEnding } from '@h/turn';
import type { StepDecision } from './hook-decisions.js';

/** What a hook returns to Claude Code. */
export type Output = SyncHookJSONOutput;

export const denial = (reason: string): Output => ({
  hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision: 'deny', permissionDecisionReason: reason },
});

export const stopped = (ending: TurnEnding): Output =>
  ending.outcome === 'completed' ? {} : { continue: false, stopReason: reasonOf(ending) };

/** The reason of an ending, for the model and the user. */
export const reasonOf = ({ outcome, reason }: TurnEnding): string => reason ?? `The turn ended: ${outcome}.`;

export const rewrite = ({
  rewritten,
  context,
}: {
  readonly rewritten?: unknown;
  readonly context?: string | undefined;
}): Output => ({
  hookSpecificOutput: {
    hookEventName: 'PostToolUse',
    ...(rewritten !== undefined && { updatedToolOutput: rewritten }),
    ...(context !== undefined && { additionalContext: context }),
  },
});

export const contextOf = (
  hookEventName: 'UserPromptSubmit' | 'SubagentStart' | 'PostToolBatch',
  decision: StepDecision,
): Output => {
  if (decision.type === 'stopped' || decision.context.length === 0) return {};
  return { hookSpecificOutput: { hookEventName, additionalContext: decision.context.join('\n\n') } };
};

/** Adds text for the model to the output of a hook that handles a result. */
export const withContext = (output: Output, text: string): Output => {
  const { hookSpecificOutput: given } = output;
  const specific = given?.hookEventName === 'PostToolUse' ? given : { hookEventName: 'PostToolUse' as const };
  const additionalContext = [specific.additionalContext, text].filter(Boolean).join('\n\n');
  return { ...output, hookSpecificOutput: { ...specific, additionalContext } };
};
