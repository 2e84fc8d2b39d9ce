import { checkOptions, numberFrom } from '@h/options';
import { intercept, type ApprovalDecision, type PipelineOperator } from '@h/turn';
import { consentTo, type McpInputAnswer, type McpInputHandler, type McpInputRequest } from './inputs.js';

/** Options of {@link inputApprovals}. */
export interface InputApprovalsOptions {
  /**
   * How long a request stays open, in milliseconds. It is then declined.
   *
   * @defaultValue `600_000`, like the approvals of `@h/hooks`
   */
  readonly timeoutMs?: number | undefined;
}

/** Answers requests of MCP servers for input through the approvals of the turn. */
export interface InputApprovals {
  /** The operator that requests the approvals. Put it before `security`, which redacts the text of servers. */
  readonly operator: PipelineOperator;
  /** The option `onInput` of `connectMcp`. */
  readonly onInput: McpInputHandler;
}

type Asker = (request: McpInputRequest, signal: AbortSignal) => Promise<McpInputAnswer>;

/**
 * Creates an operator that turns requests of MCP servers for input into approval requests of the running turn.
 *
 * An approval accepts the request, a denial declines it. A request that needs more than consent, such as a name, is
 * declined without a question; answer those with your own `onInput`. The time limit of the call includes the wait.
 *
 * @throws InvalidOptionError for an unknown option or a wrong value
 *
 * @example
 * ```ts
 * const inputs = inputApprovals();
 * const shop = await connectMcp({ name: 'shop', connection, onInput: inputs.onInput });
 * const agent = harness({ model, tools: toolDriver(createRegistry().register(shop)) }).pipe(inputs.operator);
 * // approval.request → agent.answer(id, 'once')
 * ```
 */
export const inputApprovals = (options: InputApprovalsOptions = {}): InputApprovals => {
  checkOptions('inputApprovals()', options, { timeoutMs: numberFrom(1, Infinity) });
  const { timeoutMs = 600_000 } = options;
  const askers = new Map<string, Asker>();
  const operator = intercept(
    'mcp-inputs',
    (context) => {
      let turn: string | undefined;
      let count = 0;
      const pending = new Map<string, (decision: ApprovalDecision['decision'] | undefined) => void>();

      const ask: Asker = (request, signal) => {
        const content = consentTo(request.schema);
        if (content === undefined) return Promise.resolve({ action: 'decline' });
        count += 1;
        const id = `mcp-input-${request.turn}-${count}`;
        return new Promise((resolve) => {
          const settle = (decision: ApprovalDecision['decision'] | undefined): void => {
            if (!pending.delete(id)) return;
            cancelTimer();
            signal.removeEventListener('abort', onAbort);
            if (decision === undefined) resolve({ action: 'cancel' });
            else resolve(decision === 'deny' ? { action: 'decline' } : { action: 'accept', content });
          };
          const onAbort = (): void => {
            settle(undefined);
            // Otherwise the turn would show a question whose answer has no effect.
            context.emit({
              type: 'approval.answer',
              id,
              decision: 'deny',
              reason: 'The call or its server has ended.',
            });
          };
          const cancelTimer = context.after(timeoutMs, () => {
            context.emit({ type: 'approval.answer', id, decision: 'deny', reason: 'The request expired.' });
          });
          signal.addEventListener('abort', onAbort, { once: true });
          pending.set(id, settle);
          context.emit({
            type: 'approval.request',
            id,
            reason: `The MCP server ${JSON.stringify(request.server)} asks: ${request.message}`,
            call: { ...request.call, input: request.input },
            ...(timeoutMs !== Infinity && { expiresAt: context.now() + timeoutMs }),
          });
        });
      };
      return {
        observe: {
          'session.loaded': (event) => {
            turn = event.turn;
            askers.set(turn, ask);
          },
          'approval.answer': ({ id, decision }) => pending.get(id)?.(decision),
        },
        finalize: () => {
          for (const settle of pending.values()) settle(undefined);
          if (turn !== undefined && askers.get(turn) === ask) askers.delete(turn);
        },
      };
    },
    { before: ['tools', 'security'] },
  );
  return {
    operator,
    onInput: (request, signal) => askers.get(request.turn)?.(request, signal) ?? { action: 'cancel' },
  };
};
