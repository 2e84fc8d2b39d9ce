import type { CanUseTool, PermissionResult } from '@anthropic-ai/claude-agent-sdk';
import { toErrorInfo } from '@h/turn';
import { reasonOf } from './hook-outputs.js';
import type { CallDecision } from './hook-turn.js';

/** Asks a person. A failure is a denial. */
export const decisionOf = async (
  canUseTool: CanUseTool,
  ...request: Parameters<CanUseTool>
): Promise<PermissionResult> => {
  const [, given, { signal }] = request;
  try {
    const result = await canUseTool(...request);
    if (signal.aborted) return refusal('The request for approval was aborted.');
    if (!result) return refusal('`canUseTool` returned null, which cannot answer the approval request of an operator.');
    if (result.behavior === 'allow' && !isSame(result.updatedInput, given)) {
      return refusal(changedInput(result.updatedInput));
    }
    return result;
  } catch (error) {
    return refusal(`The approval failed: ${toErrorInfo(error).message}`);
  }
};

/** Converts the answer of a person for operators. */
export const answerOf = (
  result: PermissionResult,
): { readonly decision: 'once' | 'session' | 'deny'; readonly reason?: string } => {
  if (result.behavior === 'deny') return { decision: 'deny', reason: result.message };
  return { decision: (result.updatedPermissions ?? []).length > 0 ? 'session' : 'once' };
};

/** Converts the decision of operators about an answered call for Claude Code. */
export const permission = (
  decision: Exclude<CallDecision, { readonly type: 'approval' }>,
  result: PermissionResult,
  given: Readonly<Record<string, unknown>>,
): PermissionResult => {
  if (decision.type === 'stopped') {
    return { ...refusal(reasonOf(decision.ending)), interrupt: true } as PermissionResult;
  }
  if (decision.type === 'denied') return result.behavior === 'deny' ? result : refusal(decision.reason);
  if (result.behavior === 'deny') return result;
  if (!isRecord(decision.input)) {
    return refusal('An operator replaced the input of the call by a value that is not an object.');
  }
  return { ...result, updatedInput: decision.isChanged ? decision.input : { ...given } };
};

const isSame = (
  updated: Readonly<Record<string, unknown>> | undefined,
  given: Readonly<Record<string, unknown>>,
): boolean => updated === undefined || updated === given || JSON.stringify(updated) === JSON.stringify(given);

const refusal = (message: string): PermissionResult => ({ behavior: 'deny', message });

/** Whether a value can be the input of a call. */
export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const changedInput = (input: unknown): string =>
  `The call was not run, because the person changed its input. Repeat it with this input: ${JSON.stringify(input)}`;
