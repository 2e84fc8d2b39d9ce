import type { HookEvent, HookInput, SyncHookJSONOutput } from '@anthropic-ai/claude-agent-sdk';
import type { Attached } from '../src/index.js';

/** A call of the model and what its tool does. */
export interface ToyCall {
  readonly id: string;
  readonly name: string;
  readonly input: Record<string, unknown>;
  /** The input that another hook gives the call. */
  readonly rewritten?: Record<string, unknown>;
  /** Whether Claude Code itself asks a person about the call. */
  readonly isAsked?: boolean;
  /** The output of the tool, its error, or `invalid` for a call that fails before hooks run. */
  readonly outcome: { readonly output: unknown } | { readonly error: string } | 'invalid';
}

export interface ToyRun {
  readonly ran: readonly string[];
  /** What the model read for each call, as data. */
  readonly read: ReadonlyMap<string, unknown>;
  readonly steps: number;
  readonly isStopped: boolean;
  readonly context: readonly string[];
}

let prompts = 0;

/** Calls hooks in the order of Claude Code 2.1.330: all calls of an answer at once, then the batch. */
export const toyClaude = async (
  { options: { hooks, canUseTool } }: Attached,
  steps: readonly (readonly ToyCall[])[],
  { session = 'session', agent }: { readonly session?: string; readonly agent?: string } = {},
): Promise<ToyRun> => {
  prompts += 1;
  const base = {
    session_id: session,
    transcript_path: '',
    cwd: '',
    prompt_id: `prompt-${prompts}`,
    ...(agent !== undefined && { agent_id: agent, agent_type: 'toy' }),
  };
  const ran: string[] = [];
  const read = new Map<string, unknown>();
  const context: string[] = [];
  let isStopped = false;
  const { signal } = new AbortController();

  const hook = async (name: HookEvent, input: object): Promise<SyncHookJSONOutput> => {
    const output = (await hooks[name]?.[0]?.hooks[0]?.(
      { ...base, hook_event_name: name, ...input } as HookInput,
      undefined,
      {
        signal,
      },
    )) as SyncHookJSONOutput;
    if (output.continue === false || (name === 'UserPromptSubmit' && output.decision === 'block')) isStopped = true;
    const specific = output.hookSpecificOutput;
    if (specific && 'additionalContext' in specific) context.push(specific.additionalContext ?? '');
    return output;
  };
  const run = async ({ id, name, input, rewritten = input, isAsked = false, outcome }: ToyCall): Promise<void> => {
    const proposed = { tool_name: name, tool_input: input, tool_use_id: id };
    let call = { ...proposed, tool_input: rewritten };
    if (outcome === 'invalid') return void read.set(id, 'InputValidationError');
    const { hookSpecificOutput: decided } = await hook('PreToolUse', proposed);
    const { permissionDecision: decision, permissionDecisionReason: reason } =
      (decided as Partial<Record<string, string>>) ?? {};
    if (decision === 'deny') return void read.set(id, reason);
    if (decision === 'ask' || isAsked) {
      const request = { signal, toolUseID: id, requestId: id };
      const answer = await canUseTool?.(name, rewritten, request);
      if (answer?.behavior !== 'allow') return void read.set(id, answer?.message);
      call = { ...call, tool_input: answer.updatedInput ?? rewritten };
    }
    ran.push(id);
    if ('error' in outcome) {
      await hook('PostToolUseFailure', { ...call, error: outcome.error });
      return void read.set(id, outcome.error);
    }
    const { hookSpecificOutput: result } = await hook('PostToolUse', { ...call, tool_response: outcome.output });
    const changed = result && 'updatedToolOutput' in result ? result.updatedToolOutput : undefined;
    return void read.set(id, changed ?? outcome.output);
  };

  if (agent === undefined) await hook('UserPromptSubmit', { prompt: 'Go.' });
  else await hook('SubagentStart', {});
  let count = 0;
  for (const calls of steps) {
    if (isStopped) break;
    count += 1;
    await Promise.all(calls.map(run));
    if (isStopped) break;
    const batch = calls.map(({ id, name, input }) => ({
      tool_use_id: id,
      tool_name: name,
      tool_input: input,
      tool_response: JSON.stringify(read.get(id)),
    }));
    await hook('PostToolBatch', { tool_calls: batch });
  }
  if (!isStopped) await hook(agent === undefined ? 'Stop' : 'SubagentStop', { last_assistant_message: 'Done.' });
  return { ran, read, steps: count, isStopped, context };
};
