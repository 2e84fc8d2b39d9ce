import type {
  CanUseTool,
  HookCallback,
  HookCallbackMatcher,
  HookEvent,
  HookInput,
  PermissionResult,
  SyncHookJSONOutput,
} from '@anthropic-ai/claude-agent-sdk';
import { anyBoolean, anyFunction, checkOptions, integerFrom, oneOf } from '@h/options';
import { toErrorInfo, type PipelineOperator, type ToolOutcome, type TurnEnding, type TurnEventOf } from '@h/turn';
import { checkHookOperators } from './events.js';
import { HookSession } from './hook-session.js';
import type { CallDecision, HookTurn, StepDecision } from './hook-turn.js';
import { containsRemoved, noteAfter, readOutput, textOf, withheld } from './tool-output.js';

/** Options of {@link attach}. */
export interface AttachOptions {
  /**
   * Asks a person about a call that an operator wants approved. Calls that Claude Code itself asks about pass through
   * unchanged.
   *
   * @defaultValue denies every call that requires approval
   */
  readonly canUseTool?: CanUseTool | undefined;
  /**
   * What happens if operators changed the output of a failed call, which Claude Code does not rewrite: `'stop'` ends
   * the turn before the model reads the output, `'warn'` emits a process warning. Added text always reaches the model.
   *
   * @defaultValue `'stop'`
   */
  readonly failedOutput?: 'stop' | 'warn' | undefined;
  /**
   * How long operators may hold a prompt, a call or a result, in seconds. A call that is held longer does not run.
   *
   * @defaultValue `600`, as in Claude Code
   */
  readonly timeoutSeconds?: number | undefined;
  /**
   * Maximum number of sessions and sub-agents whose state is stored. The least recently used one is dropped first.
   *
   * @defaultValue `1000`
   */
  readonly maxSessions?: number | undefined;
  /**
   * Accepts operators that change model requests, which has no effect; a process warning names them.
   *
   * @defaultValue `false`: such an operator is an error
   */
  readonly partial?: boolean | undefined;
}

/** Operators in Claude Code. */
export interface Attached {
  /** Options of `query()`. */
  readonly options: {
    readonly hooks: Partial<Record<HookEvent, HookCallbackMatcher[]>>;
    readonly canUseTool?: CanUseTool;
  };
  /** Ends the turns of a session and of its sub-agents, and deletes their state. */
  forget(sessionId: string): void;
}

type Output = SyncHookJSONOutput;
type InputOf<Event extends HookEvent> = Extract<HookInput, { readonly hook_event_name: Event }>;
type ToolInput = InputOf<'PreToolUse'> | InputOf<'PostToolUse'> | InputOf<'PostToolUseFailure'>;

/** A finished call that the next `PostToolBatch` checks. */
interface Checked {
  readonly original: unknown;
  readonly rewritten: unknown;
  readonly isFailed: boolean;
}

/**
 * Runs operators as hooks of the Claude Agent SDK. Each prompt is a turn, and so is each run of a sub-agent.
 *
 * All operators run in one hook per event: the hooks of a matcher run in parallel, and the last rewrite wins. A call
 * is denied if an operator throws or takes too long.
 *
 * @param given - options, if the first argument is an object
 * @throws UnsupportedOperatorError if an operator changes model requests, which Claude Code makes itself
 *
 * @example
 * ```ts
 * const { options } = attach(loopDetect(), guardrails({ maxSteps: 40 }));
 * for await (const message of query({ prompt: 'Fix the test', options })) console.log(message.type);
 * ```
 */
export const attach = (
  ...given: readonly [AttachOptions, ...PipelineOperator[]] | readonly PipelineOperator[]
): Attached => {
  const [first, ...rest] = given;
  const isConfigured = typeof first === 'object';
  const options: AttachOptions = isConfigured ? first : {};
  const operators = (isConfigured ? rest : given) as readonly PipelineOperator[];
  checkOptions('attach()', options, {
    canUseTool: anyFunction,
    failedOutput: oneOf('stop', 'warn'),
    timeoutSeconds: integerFrom(1),
    maxSessions: integerFrom(1),
    partial: anyBoolean,
  });
  checkHookOperators(operators, options.partial === true);
  return new HookHost(operators, options).attached();
};

class HookHost {
  readonly #operators: readonly PipelineOperator[];
  readonly #options: AttachOptions;
  readonly #sessions = new Map<string, HookSession>();
  /** Calls that wait for `canUseTool`, which does not receive the session. */
  readonly #asked = new Map<string, { readonly turn: HookTurn; readonly request: TurnEventOf<'approval.request'> }>();
  readonly #checked = new Map<string, Checked>();
  readonly #warned = new Set<string>();

  constructor(operators: readonly PipelineOperator[], options: AttachOptions) {
    this.#operators = operators;
    this.#options = options;
  }

  attached(): Attached {
    const { timeoutSeconds: timeout = 600 } = this.#options;
    const hook = <Event extends HookEvent>(
      handle: (input: InputOf<Event>, signal: AbortSignal) => Promise<Output> | Output,
    ): HookCallbackMatcher[] => {
      const callback: HookCallback = async (input, _id, { signal }) => handle(input as InputOf<Event>, signal);
      return [{ hooks: [callback], onFailure: 'block', timeout }];
    };
    const hooks = {
      UserPromptSubmit: hook<'UserPromptSubmit'>((input) => this.#prompt(input)),
      SubagentStart: hook<'SubagentStart'>((input) => this.#startAgent(input)),
      PreToolUse: hook<'PreToolUse'>((input, signal) => this.#call(input, signal)),
      PostToolUse: hook<'PostToolUse'>((input) => this.#result(input)),
      PostToolUseFailure: hook<'PostToolUseFailure'>((input) => this.#failure(input)),
      PostToolBatch: hook<'PostToolBatch'>((input) => this.#batch(input)),
      Stop: hook<'Stop'>((input) => this.#stop(input)),
      SubagentStop: hook<'SubagentStop'>((input) => this.#stop(input)),
      SessionEnd: hook<'SessionEnd'>(({ session_id: id }) => {
        this.#forget(id);
        return {};
      }),
    };
    const { canUseTool } = this.#options;
    return {
      options: { hooks, ...(canUseTool && { canUseTool: (...request) => this.#permit(canUseTool, ...request) }) },
      forget: (id) => this.#forget(id),
    };
  }

  async #prompt(input: InputOf<'UserPromptSubmit'>): Promise<Output> {
    const message = { role: 'user', content: input.prompt } as const;
    const decision = await this.#session(input).begin([message], input.prompt_id);
    if (decision.type === 'stopped') return { decision: 'block', reason: reasonOf(decision.ending) };
    return { ...contextOf('UserPromptSubmit', decision) };
  }

  async #startAgent(input: InputOf<'SubagentStart'>): Promise<Output> {
    // If an operator stops the turn, the first call of the sub-agent is denied.
    const decision = await this.#session(input).begin([], input.prompt_id);
    return contextOf('SubagentStart', decision);
  }

  async #call(input: InputOf<'PreToolUse'>, signal: AbortSignal): Promise<Output> {
    const { tool_use_id: id, tool_name: name, tool_input: given } = input;
    const turn = await this.#session(input).turnFor(promptOf(input));
    const onAbort = (): void => void turn.result(id, name, given, abandoned);
    signal.addEventListener('abort', onAbort, { once: true });
    const decision = await turn.call(id, name, given);
    signal.removeEventListener('abort', onAbort);
    switch (decision.type) {
      case 'allowed':
        return decision.isChanged ? this.#rewritten(decision) : {};
      case 'approval':
        return this.#ask(turn, id, decision.request);
      case 'denied':
        return denial(decision.reason);
      case 'stopped':
        return { ...denial(reasonOf(decision.ending)), ...stopped(decision.ending) };
    }
  }

  #rewritten({ input }: { readonly input: unknown }): Output {
    if (!isRecord(input)) return denial('An operator replaced the input of the call by a value that is not an object.');
    return { hookSpecificOutput: { hookEventName: 'PreToolUse', updatedInput: input } };
  }

  async #ask(turn: HookTurn, id: string, request: TurnEventOf<'approval.request'>): Promise<Output> {
    if (!this.#options.canUseTool) {
      const reason = 'No person can be asked. Set the `canUseTool` option of attach().';
      const decision = await turn.answer(id, { id: request.id, decision: 'deny', reason });
      return denial(decision.type === 'denied' ? decision.reason : reason);
    }
    this.#asked.set(id, { turn, request });
    void turn.ended.then(() => this.#asked.delete(id));
    const { reason } = request;
    return {
      hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision: 'ask', permissionDecisionReason: reason },
    };
  }

  /** Asks a person, for an operator or for Claude Code. */
  async #permit(
    canUseTool: CanUseTool,
    ...[name, given, options]: Parameters<CanUseTool>
  ): Promise<PermissionResult | null> {
    const asked = this.#asked.get(options.toolUseID);
    this.#asked.delete(options.toolUseID);
    if (!asked) return canUseTool(name, given, options);
    const { turn } = asked;
    for (let { request } = asked; ;) {
      const result = await decisionOf(canUseTool, name, given, { ...options, decisionReason: request.reason });
      const decision = await turn.answer(options.toolUseID, { id: request.id, ...answerOf(result) });
      if (decision.type === 'approval') ({ request } = decision);
      else return permission(decision, result, given);
    }
  }

  async #result(input: InputOf<'PostToolUse'>): Promise<Output> {
    const { tool_response: response } = input;
    const host = readOutput(response);
    const { output } = host;
    const { turn, result } = await this.#pass(input, { status: 'ok', output });
    if (!result) {
      const rewritten = withheld(response);
      this.#check(input, { original: response, rewritten, isFailed: false });
      return { ...rewrite({ rewritten }), ...stopped(turn?.ending ?? unchecked) };
    }
    if (turn?.ending && turn.ending.outcome !== 'completed') {
      return { ...(result.output === output ? {} : rewrite(host.write(result.output))), ...stopped(turn.ending) };
    }
    if (result.output === output) return {};
    const change = host.write(result.output);
    if (change.rewritten !== undefined) {
      this.#check(input, { original: response, rewritten: change.rewritten, isFailed: false });
    }
    return rewrite(change);
  }

  async #failure(input: InputOf<'PostToolUseFailure'>): Promise<Output> {
    const { error } = input;
    const output = { type: 'error-text', value: error } as const;
    const outcome: ToolOutcome =
      input.is_interrupt === true
        ? { status: 'cancelled', reason: error, output }
        : { status: 'failed', error: { name: 'Error', message: error }, output };
    const { turn, result } = await this.#pass(input, outcome);
    const text = result && textOf(result.output);
    const note = text === undefined ? undefined : noteAfter(error, text);
    if (note === undefined) this.#check(input, { original: error, rewritten: text ?? '', isFailed: true });
    const context =
      note === undefined || note === ''
        ? {}
        : { hookSpecificOutput: { hookEventName: 'PostToolUseFailure' as const, additionalContext: note } };
    return { ...context, ...(turn?.ending ? stopped(turn.ending) : {}) };
  }

  /** Passes the outcome of a call through the operators of its turn. */
  async #pass(
    input: ToolInput,
    outcome: ToolOutcome,
  ): Promise<{ readonly turn?: HookTurn | undefined; readonly result: ToolOutcome | undefined }> {
    const { tool_use_id: id, tool_name: name, tool_input: given } = input;
    const session = this.#session(input);
    const turn = await session.turnFor(promptOf(input));
    if (turn.isAllowed(id) === false) {
      turn.fail({ name: 'TurnError', code: 'denial-ignored', message: denialIgnored(name) });
      return { turn, result: undefined };
    }
    const isLate = turn.ending !== undefined;
    const result = isLate
      ? await session.lateResult(id, name, given, outcome)
      : await turn.result(id, name, given, outcome);
    return { turn, result };
  }

  async #batch(input: InputOf<'PostToolBatch'>): Promise<Output> {
    const calls = input.tool_calls.map(
      ({ tool_use_id: id, tool_name: name, tool_input: given, tool_response: response }) => ({
        id,
        name,
        input: given,
        text: typeof response === 'string' ? response : textOf(readOutput(response).output),
      }),
    );
    const turn = await this.#session(input).turnFor(promptOf(input));
    for (const { id, name, text } of calls) {
      const checked = this.#checked.get(id);
      this.#checked.delete(id);
      if (!checked || !containsRemoved(text, checked.original, checked.rewritten)) continue;
      const message = notRewritten(name, checked.isFailed);
      if (!checked.isFailed || this.#options.failedOutput !== 'warn') {
        turn.fail({ name: 'TurnError', code: 'output-not-rewritten', message });
      } else {
        this.#warn(message, 'output-not-rewritten');
      }
    }
    const decision = await turn.nextStep(calls);
    if (decision.type === 'stopped') return stopped(decision.ending);
    return contextOf('PostToolBatch', decision);
  }

  async #stop(input: InputOf<'Stop'> | InputOf<'SubagentStop'>): Promise<Output> {
    const session = this.#session(input);
    const { turn } = session;
    if (turn) {
      const decision = await turn.complete(input.last_assistant_message ?? '');
      if (decision.type === 'proceed') {
        const next = await turn.continued();
        if (next.type === 'continue') {
          return { decision: 'block', reason: [decision.text, ...next.context].join('\n\n') };
        }
      }
      await turn.ended;
    }
    if (input.hook_event_name === 'SubagentStop') this.#drop(nameOf(input));
    return {};
  }

  #check({ tool_use_id: id }: ToolInput, checked: Checked): void {
    this.#checked.set(id, checked);
    // A batch that never ends leaves its calls here.
    const [oldest] = this.#checked.keys();
    if (this.#checked.size > maxChecked && oldest !== undefined) this.#checked.delete(oldest);
  }

  #session(input: HookInput): HookSession {
    const name = nameOf(input);
    const session =
      this.#sessions.get(name) ??
      new HookSession({
        name,
        operators: this.#operators,
        trigger: name === input.session_id ? 'user' : 'subagent',
        onLostChange: (members) => this.#warn(lostChange(members), 'change-not-applied'),
      });
    this.#sessions.delete(name);
    this.#sessions.set(name, session);
    const [oldest] = this.#sessions.keys();
    if (this.#sessions.size > (this.#options.maxSessions ?? 1000) && oldest !== undefined) this.#drop(oldest);
    return session;
  }

  #forget(id: string): void {
    for (const name of this.#sessions.keys()) if (name === id || name.startsWith(`${id}/`)) this.#drop(name);
  }

  #drop(name: string): void {
    this.#sessions.get(name)?.close('The session was forgotten.');
    this.#sessions.delete(name);
  }

  #warn(message: string, code: string): void {
    if (this.#warned.has(message)) return;
    this.#warned.add(message);
    process.emitWarning(message, { code });
  }
}

/** Calls whose rewritten output is not confirmed yet. */
const maxChecked = 1000;

/** The session of a hook: a sub-agent has its own. */
const nameOf = ({ session_id: session, agent_id: agent }: HookInput): string =>
  agent === undefined ? session : `${session}/${agent}`;

/** A sub-agent that runs in the background may outlive the prompt that started it. */
const promptOf = ({ agent_id: agent, prompt_id: prompt }: HookInput): string | undefined =>
  agent === undefined ? prompt : undefined;

const denial = (reason: string): Output => ({
  hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision: 'deny', permissionDecisionReason: reason },
});

const refusal = (message: string): PermissionResult => ({ behavior: 'deny', message });

const stopped = (ending: TurnEnding): Output =>
  ending.outcome === 'completed' ? {} : { continue: false, stopReason: reasonOf(ending) };

const reasonOf = ({ outcome, reason }: TurnEnding): string => reason ?? `The turn ended: ${outcome}.`;

const rewrite = ({
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

const contextOf = (
  hookEventName: 'UserPromptSubmit' | 'SubagentStart' | 'PostToolBatch',
  decision: StepDecision,
): Output => {
  if (decision.type === 'stopped' || decision.context.length === 0) return {};
  return { hookSpecificOutput: { hookEventName, additionalContext: decision.context.join('\n\n') } };
};

/** Asks a person. A failure is a denial. */
const decisionOf = async (canUseTool: CanUseTool, ...request: Parameters<CanUseTool>): Promise<PermissionResult> => {
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

const answerOf = (
  result: PermissionResult,
): { readonly decision: 'once' | 'session' | 'deny'; readonly reason?: string } => {
  if (result.behavior === 'deny') return { decision: 'deny', reason: result.message };
  return { decision: (result.updatedPermissions ?? []).length > 0 ? 'session' : 'once' };
};

const permission = (
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

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const changedInput = (input: unknown): string =>
  `The call was not run, because the person changed its input. Repeat it with this input: ${JSON.stringify(input)}`;

const abandoned: ToolOutcome = {
  status: 'cancelled',
  reason: 'Claude Code cancelled the call before it was decided.',
  output: { type: 'error-text', value: 'Claude Code cancelled the call before it was decided.' },
};

const unchecked: TurnEnding = { outcome: 'blocked', reason: 'An operator withheld the result of a call.' };

const denialIgnored = (tool: string): string =>
  `Claude Code ran a call of ${tool} that an operator had denied or that waited for approval. Update Claude Code, and remove hooks that allow calls.`;

const notRewritten = (tool: string, isFailed: boolean): string =>
  isFailed
    ? `Operators removed text from the output of a failed call of ${tool}, and Claude Code does not rewrite failed outputs.`
    : `Operators removed text from the output of ${tool}, and Claude Code ignored the rewritten output.`;

const lostChange = (members: readonly string[]): string => {
  const advice = members.includes('settings.maxOutputTokens')
    ? 'Limits on tokens and costs have no effect: use `maxBudgetUsd` of query(), or'
    : 'Remove the operator, or use';
  return `attach(): an operator changed ${members.join(', ')} of a model request, which Claude Code does not apply. ${advice} the model proxy (apps/model-proxy).`;
};
