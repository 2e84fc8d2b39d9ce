import { LruMap } from '@h/bounded';
import type {
  CanUseTool,
  HookCallback,
  HookCallbackMatcher,
  HookEvent,
  HookInput,
  PermissionResult,
} from '@anthropic-ai/claude-agent-sdk';
import { toErrorInfo, type PipelineOperator, type ToolOutcome, type TurnEnding, type TurnEventOf } from '@h/turn';
import { answerOf, decisionOf, isRecord, judgeChanged, permission, type Allowed } from './approvals.js';
import { denialIgnored, inputNotAllowed, lostChange, notRewritten } from './hook-messages.js';
import { contextOf, denial, reasonOf, rewrite, stopped, withContext, type Output } from './hook-outputs.js';
import { HookSession } from './hook-session.js';
import type { HookTurn } from './hook-turn.js';
import type { AttachOptions } from './options.js';
import { containsRemoved, noteAfter, readOutput, textOf, withheld } from './tool-output.js';

type InputOf<Event extends HookEvent> = Extract<HookInput, { readonly hook_event_name: Event }>;
type ToolInput = InputOf<'PreToolUse'> | InputOf<'PostToolUse'> | InputOf<'PostToolUseFailure'>;

/** A finished call that the next `PostToolBatch` checks. */
interface Checked {
  readonly original: unknown;
  readonly rewritten: unknown;
  readonly isFailed: boolean;
}

/** A call that operators have allowed, or for which they request an approval. */
interface OpenCall {
  readonly session: HookSession;
  readonly turn: HookTurn;
  readonly request?: TurnEventOf<'approval.request'>;
}

/** Handles the hooks of all sessions. */
export class HookHost {
  readonly #operators: readonly PipelineOperator[];
  readonly #options: AttachOptions;
  readonly #sessions = new Map<string, HookSession>();
  /** Calls without a result, because `canUseTool` does not receive the session. */
  readonly #open = new Map<string, OpenCall>();
  /** A batch that never ends leaves its calls here. */
  readonly #checked = new LruMap<string, Checked>(maxPending);
  /** Sub-agents whose turn an operator stopped. */
  readonly #stopped = new LruMap<string, TurnEnding>(maxPending);
  readonly #warned = new Set<string>();

  constructor(operators: readonly PipelineOperator[], options: AttachOptions) {
    this.#operators = operators;
    this.#options = options;
  }

  /** The hooks of all events, one for each. */
  hooks(): Partial<Record<HookEvent, HookCallbackMatcher[]>> {
    const { timeoutSeconds: timeout = 600 } = this.#options;
    const hook = <Event extends HookEvent>(
      handle: (input: InputOf<Event>, signal: AbortSignal) => Promise<Output> | Output,
    ): HookCallbackMatcher[] => {
      const callback: HookCallback = async (input, _id, { signal }) => handle(input as InputOf<Event>, signal);
      return [{ hooks: [callback], onFailure: 'block', timeout }];
    };
    return {
      UserPromptSubmit: hook<'UserPromptSubmit'>((input) => this.#prompt(input)),
      SubagentStart: hook<'SubagentStart'>((input) => this.#startAgent(input)),
      PreToolUse: hook<'PreToolUse'>((input, signal) => this.#call(input, signal)),
      PostToolUse: hook<'PostToolUse'>((input) =>
        this.#result(input)
          .then((output) => this.#withStop(input, output))
          .catch((error: unknown) => this.#withheld(input, error)),
      ),
      PostToolUseFailure: hook<'PostToolUseFailure'>((input) => this.#failure(input)),
      PostToolBatch: hook<'PostToolBatch'>((input) => this.#batch(input)),
      Stop: hook<'Stop'>((input) => this.#stop(input)),
      SubagentStop: hook<'SubagentStop'>((input) => this.#stop(input)),
      SessionEnd: hook<'SessionEnd'>(({ session_id: id }) => {
        this.forget(id);
        return {};
      }),
    };
  }

  /** Asks the person of the application, for operators and for Claude Code; `undefined` if there is none. */
  get canUseTool(): CanUseTool | undefined {
    const { canUseTool } = this.#options;
    return canUseTool && ((...request) => this.#permit(canUseTool, ...request));
  }

  /** Ends the turns of a session and of its sub-agents, and deletes their state. */
  forget(id: string): void {
    for (const name of this.#sessions.keys()) if (name === id || name.startsWith(`${id}/`)) this.#drop(name);
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
    const session = this.#session(input);
    const turn = await session.turnFor(promptOf(input));
    const onAbort = (): void => void turn.result(id, name, given, abandoned);
    signal.addEventListener('abort', onAbort, { once: true });
    const decision = await turn.call(id, name, given);
    signal.removeEventListener('abort', onAbort);
    switch (decision.type) {
      case 'allowed':
        this.#keepOpen(id, { session, turn });
        return decision.isChanged ? this.#rewritten(decision) : {};
      case 'approval':
        return this.#ask({ session, turn, request: decision.request }, id);
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

  #keepOpen(id: string, call: OpenCall): void {
    this.#open.set(id, call);
    void call.turn.ended.then(() => this.#open.delete(id));
  }

  async #ask(call: Required<OpenCall>, id: string): Promise<Output> {
    const { turn, request } = call;
    if (!this.#options.canUseTool) {
      const reason = 'No person can be asked. Set the `canUseTool` option of attach().';
      const decision = await turn.answer(id, { id: request.id, decision: 'deny', reason });
      return denial(decision.type === 'denied' ? decision.reason : reason);
    }
    this.#keepOpen(id, call);
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
    const { toolUseID: id } = options;
    const open = this.#open.get(id);
    if (!open?.request) {
      const result = await canUseTool(name, given, options);
      return open && result?.behavior === 'allow' ? this.#permitInput(open, id, name, given, result) : result;
    }
    this.#open.set(id, { session: open.session, turn: open.turn });
    for (let { request } = open; ;) {
      const result = await decisionOf(canUseTool, name, given, { ...options, decisionReason: request.reason });
      const decision = await open.turn.answer(id, { id: request.id, ...answerOf(result) });
      if (decision.type === 'approval') {
        ({ request } = decision);
        continue;
      }
      const permitted = permission(decision, result, given);
      return permitted.behavior === 'allow' ? this.#permitInput(open, id, name, given, permitted) : permitted;
    }
  }

  /** Lets operators judge the input that a person, or another hook, gave a call that a person has allowed. */
  async #permitInput(
    { session, turn }: OpenCall,
    id: string,
    name: string,
    given: Record<string, unknown>,
    result: Allowed,
  ): Promise<PermissionResult> {
    const { updatedInput: input = given } = result;
    if (turn.judged(id, input) !== 'other-input') return result;
    return permission(await judgeChanged(session, id, name, input, result), result, input);
  }

  async #result(input: InputOf<'PostToolUse'>): Promise<Output> {
    const { tool_response: response } = input;
    const host = readOutput(response);
    const { output } = host;
    const { turn, result } = await this.#pass(input, { status: 'ok', output });
    if (!result) {
      const rewritten = withheld(response);
      this.#checked.set(input.tool_use_id, { original: response, rewritten, isFailed: false });
      return { ...rewrite({ rewritten }), ...stopped(turn?.ending ?? unchecked) };
    }
    if (turn?.ending && turn.ending.outcome !== 'completed') {
      return { ...(result.output === output ? {} : rewrite(host.write(result.output))), ...stopped(turn.ending) };
    }
    if (result.output === output) return {};
    const change = host.write(result.output);
    if (change.rewritten !== undefined) {
      this.#checked.set(input.tool_use_id, { original: response, rewritten: change.rewritten, isFailed: false });
    }
    return rewrite(change);
  }

  /** Tells the model that a sub-agent was stopped, whose result Claude Code presents as complete. */
  #withStop({ session_id: session, tool_response: response }: InputOf<'PostToolUse'>, output: Output): Output {
    const name = isRecord(response) ? `${session}/${String(response['agentId'])}` : '';
    const ending = this.#stopped.get(name);
    this.#stopped.delete(name);
    return ending ? withContext(output, `An operator stopped the sub-agent: ${reasonOf(ending)}`) : output;
  }

  /** A failure of a hook would let the output pass. */
  #withheld({ tool_response: response }: InputOf<'PostToolUse'>, error: unknown): Output {
    const reason = toErrorInfo(error).message;
    return { ...rewrite({ rewritten: withheld(response) }), ...stopped({ outcome: 'error', reason }) };
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
    if (note === undefined) {
      this.#checked.set(input.tool_use_id, { original: error, rewritten: text ?? '', isFailed: true });
    }
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
    this.#open.delete(id);
    const judged = turn.judged(id, given);
    if (judged === 'not-allowed') {
      turn.fail({ name: 'TurnError', code: 'denial-ignored', message: denialIgnored(name) });
      return { turn, result: undefined };
    }
    if (judged === 'other-input') return { turn, result: await this.#passChanged(session, turn, input, outcome) };
    const isLate = turn.ending !== undefined;
    const result = isLate
      ? await session.lateResult(id, name, given, outcome)
      : await turn.result(id, name, given, outcome);
    return { turn, result };
  }

  /** Passes the outcome of a call that ran with another input than the one that operators allowed. */
  async #passChanged(
    session: HookSession,
    turn: HookTurn,
    { tool_use_id: id, tool_name: name, tool_input: given }: ToolInput,
    outcome: ToolOutcome,
  ): Promise<ToolOutcome | undefined> {
    if (session.changedTurn(id)?.judged(id, given) !== 'allowed') {
      const decision = await judgeChanged(session, id, name, given);
      if (decision.type !== 'allowed' || decision.isChanged) {
        turn.fail({ name: 'TurnError', code: 'input-not-allowed', message: inputNotAllowed(name, decision) });
        await session.changedResult(id, name, given, outcome);
        return undefined;
      }
    }
    if (!turn.ending) await turn.result(id, name, given, outcome);
    return session.changedResult(id, name, given, outcome);
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

  #session(input: HookInput): HookSession {
    const name = nameOf(input);
    const session =
      this.#sessions.get(name) ??
      new HookSession({
        name,
        operators: this.#operators,
        trigger: name === input.session_id ? 'user' : 'subagent',
        onLostChange: (members) => this.#warn(lostChange(members), 'change-not-applied'),
        onStop: (ending) => {
          if (name !== input.session_id) this.#stopped.set(name, ending);
          try {
            this.#options.onStop?.({ session: name, ...ending });
          } catch (error) {
            // No caller awaits this, so the error would end the process.
            const message = `The option "onStop" of attach() threw: ${toErrorInfo(error).message}`;
            process.emitWarning(message, { code: 'callback-failed' });
          }
        },
      });
    this.#sessions.delete(name);
    this.#sessions.set(name, session);
    const [oldest] = this.#sessions.keys();
    if (this.#sessions.size > (this.#options.maxSessions ?? 1000) && oldest !== undefined) this.#drop(oldest);
    return session;
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

/** Calls whose rewritten output is not confirmed yet, and sub-agents whose result has not arrived. */
const maxPending = 1000;

/** The session of a hook: a sub-agent has its own. */
const nameOf = ({ session_id: session, agent_id: agent }: HookInput): string =>
  agent === undefined ? session : `${session}/${agent}`;

/** A sub-agent that runs in the background may outlive the prompt that started it. */
const promptOf = ({ agent_id: agent, prompt_id: prompt }: HookInput): string | undefined =>
  agent === undefined ? prompt : undefined;

const abandoned: ToolOutcome = {
  status: 'cancelled',
  reason: 'Claude Code cancelled the call before it was decided.',
  output: { type: 'error-text', value: 'Claude Code cancelled the call before it was decided.' },
};

const unchecked: TurnEnding = { outcome: 'blocked', reason: 'An operator withheld the result of a call.' };
