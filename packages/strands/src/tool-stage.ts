import { plainJSON, type Approve, type HostSession, type HostToolReturn } from '@h/bridge';
import type { ApprovalDecision } from '@h/turn';
import {
  SequentialToolExecutor,
  type Agent,
  type ExecuteToolStage,
  type Message,
  type MiddlewareHandlerOf,
  type ToolResultBlock,
} from '@strands-agents/sdk';
import { emitting, readStage } from './emitting.js';
import { outputOf, toResultBlock } from './messages.js';

type Handler = MiddlewareHandlerOf<typeof ExecuteToolStage>;
type Context = Parameters<Handler>[0];
type Next = Parameters<Handler>[1];

/** The name of the interrupt that requests an approval. */
const approvalInterrupt = 'h.approval';

/** A tool call of Strands. */
export interface ToolStage {
  readonly session: HostSession<Message>;
  /** Requests an approval; by default the agent is interrupted. */
  readonly approve: Approve | undefined;
}

/** Runs a tool through the operators. */
export const executeTool = ({ session, approve }: ToolStage, context: Context, next: Next): ReturnType<Handler> =>
  emitting(async (emit, left) => {
    const { tool, toolUse, cancelSignal } = context;
    const { toolUseId: id, input } = toolUse;
    const { outcome, returned } = await session.tool<ToolResultBlock>({
      id,
      // A hook may select another tool than that of the call.
      name: tool?.name ?? toolUse.name,
      input,
      parse: (given) => given,
      signal: AbortSignal.any([cancelSignal, left]),
      isMadeAlone: (context.agent as Partial<Agent>).toolExecutor instanceof SequentialToolExecutor,
      approve: approve ?? interruptFor(context, () => session.approvalsOf(id).length),
      run: async (call, signal, isChanged) => {
        const changed = isChanged ? { ...context, toolUse: { ...toolUse, input: call.input as never } } : context;
        const { result } = await readStage(next(changed), signal, emit);
        return returnOf(result);
      },
    });
    return { result: returned?.value ?? toResultBlock(id, outcome.output) };
  });

const returnOf = (result: ToolResultBlock): HostToolReturn<ToolResultBlock> => {
  const output = outputOf(result);
  if (output.type !== 'error-text') return { outcome: { status: 'ok', output }, value: result };
  const error = { name: result.error?.name ?? 'Error', message: result.error?.message ?? output.value };
  return { outcome: { status: 'failed', output, error }, value: result };
};

/** Whether an error is an interrupt of Strands, which does not export its class. */
export const isInterrupt = (thrown: unknown): boolean => thrown instanceof Error && thrown.name === 'InterruptError';

/**
 * Interrupts the agent. Its next invocation brings the decision in an `interruptResponse`.
 *
 * @param answered - the number of earlier approvals of the call; Strands stores their answers by the names of interrupts
 */
const interruptFor =
  (context: Context, answered: () => number): Approve =>
  ({ reason, call }) => {
    const { response } = context.interrupt<unknown>({
      name: answered() === 0 ? approvalInterrupt : `${approvalInterrupt}.${answered() + 1}`,
      reason: { reason, tool: call?.name ?? '', input: plainJSON(call?.input) as never },
    });
    return decisionOf(response);
  };

const decisions: readonly unknown[] = ['once', 'session', 'always', 'deny'] satisfies ApprovalDecision['decision'][];

/** Reads a decision; a response of any other shape denies the call. */
const decisionOf = (response: unknown): ApprovalDecision => {
  if (response === true) return { decision: 'once' };
  if (decisions.includes(response)) return { decision: response as ApprovalDecision['decision'] };
  const { decision, reason } = (typeof response === 'object' && response !== null ? response : {}) as Readonly<
    Record<string, unknown>
  >;
  const given = typeof reason === 'string' ? { reason } : {};
  if (decisions.includes(decision)) return { decision: decision as ApprovalDecision['decision'], ...given };
  return { decision: 'deny', reason: 'A person denied the call.', ...given };
};
