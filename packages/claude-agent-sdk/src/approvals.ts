import type { CanUseTool, PermissionResult } from '@anthropic-ai/claude-agent-sdk';
import { toErrorInfo } from '@h/turn';
import { reasonOf } from './hook-outputs.js';
import type { HookSession } from './hook-session.js';
import type { CallDecision } from './hook-decisions.js';

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

/** The answer of a person who allows a call. */
export type Allowed = Extract<PermissionResult, { readonly behavior: 'allow' }>;

/** Decides about an input that the turn of a call has not judged. Approvals are denied unless a person allowed it. */
export const judgeChanged = async (
  session: HookSession,
  id: string,
  name: string,
  input: unknown,
  result: PermissionResult = refusal('No person was asked about the changed input.'),
): Promise<Exclude<CallDecision, { readonly type: 'approval' }>> => {
  let decision = await session.judgeChanged(id, name, input);
  while (decision.type === 'approval') {
    const answer = { id: decision.request.id, ...answerOf(result) };
    decision = (await session.changedTurn(id)?.answer(id, answer)) ?? { type: 'denied', reason: 'The turn has ended.' };
  }
  if (decision.type !== 'allowed') await session.endChanged(id, 'The call was not allowed.');
  return decision;
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
