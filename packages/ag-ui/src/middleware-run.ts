import type {
  AbstractAgent,
  BaseEvent,
  Message as AgUiMessage,
  RunAgentInput,
  RunFinishedEvent,
  Tool,
  ToolMessage,
} from '@ag-ui/client';
import { LruMap } from '@h/bounded';
import {
  TurnStoppedError,
  type Approve,
  type HostModelRequest,
  type HostModelReturn,
  type HostModelContext,
  type HostSession,
  type ModelChoice,
} from '@h/bridge';
import { TurnError, type ApprovalDecision, type ToolDefinition, type TurnEnding } from '@h/turn';
import { EventWriter } from './event-writer.js';
import {
  blocksOf,
  groupsOf,
  outcomeOf,
  promptOf,
  inputOf,
  textOfOutput,
  toolCallOf,
  writePrompt,
  type MessageGroup,
} from './messages.js';
import { PendingCall } from './pending-call.js';
import { AgentRunError, runAgent } from './run-agent.js';

/** Start of the ids of interrupts that request an approval. */
const interruptPrefix = 'h-approval:';
/** Calls of the agent's own tools that a thread remembers. */
const maxAgentCalls = 1_000;

/** What is remembered between the runs of a thread. */
export interface Thread {
  /** Ids of calls that the agent ran. */
  readonly agentCalls: LruMap<string, true>;
  /** The calls of the latest answer that have no result. */
  step: { readonly calls: readonly PendingCall[]; isEmitted: boolean } | undefined;
  /** Identifies the turn. */
  turn: object;
}

export const newThread = (): Thread => ({ agentCalls: new LruMap(maxAgentCalls), step: undefined, turn: {} });

/** What a run of the middleware needs. */
export interface RunParts {
  readonly input: RunAgentInput;
  readonly session: HostSession<MessageGroup>;
  readonly thread: Thread;
  readonly exitBehavior: 'end' | 'error';
  readonly approve: Approve | undefined;
  readonly signal: AbortSignal;
  emit(event: BaseEvent): void;
  choose(choice: ModelChoice): Pick<AbstractAgent, 'run'>;
  readonly onStop: (ending: TurnEnding) => void;
  /** @throws if the agent must not run tools itself */
  readonly onAgentTool: (name: string) => void;
}

/**
 * One run of a client: the results that it brings, then answers of the agent until one is complete, has calls for the
 * client, or needs the approval of a person.
 */
export class MiddlewareRun {
  readonly #parts: RunParts;
  readonly #writer: EventWriter;
  readonly #prompt: readonly AgUiMessage[];
  /** The messages of the client, and those that it receives in this run. */
  #messages: readonly AgUiMessage[];
  /** The text of the latest answer. */
  #text = '';
  #runs = 0;

  constructor(parts: RunParts) {
    const { messages } = parts.input;
    this.#parts = parts;
    this.#writer = new EventWriter(parts.input, (event) => parts.emit(event));
    this.#prompt = promptOf(messages);
    this.#messages = messages.slice(this.#prompt.length);
    if (messages.at(-1)?.role === 'user') parts.thread.turn = {};
  }

  /** Rejects with a failure that is not one of the agent or of an operator. */
  async act(): Promise<void> {
    try {
      await this.#passResults();
      for (;;) {
        if (this.#parts.thread.step && !(await this.#passCalls())) return;
        if (await this.#answer()) return;
      }
    } catch (error) {
      this.#fail(error);
    }
  }

  /** Passes decisions and results of the client to the operators. */
  async #passResults(): Promise<void> {
    const { thread } = this.#parts;
    const results = trailingResults(this.#messages);
    const { step } = thread;
    if (step && !step.isEmitted) return this.#passDecisions(step.calls);
    thread.step = undefined;
    const known = new Map(step?.calls.map((call) => [call.id, call]));
    for (const [id, call] of known) {
      if (call.result || results.some(({ toolCallId }) => toolCallId === id)) continue;
      const reason = 'The client began another run without a result of this call.';
      call.answer({ status: 'skipped', reason, output: { type: 'error-text', value: reason } });
    }
    for (const message of results) {
      const { toolCallId: id } = message;
      const isKnown = known.has(id);
      // A call from before a restart is judged again, so that its result passes the operators.
      const call = known.get(id) ?? (thread.agentCalls.has(id) ? undefined : this.#callFromHistory(id));
      if (!call) continue;
      await call.judged();
      call.answer(outcomeOf(message));
      const { outcome } = await call.ended();
      if (!isKnown) this.#replace(message, textOfOutput(outcome.output));
    }
  }

  #callFromHistory(id: string): PendingCall | undefined {
    const calls = this.#messages.flatMap((message) => (message.role === 'assistant' ? (message.toolCalls ?? []) : []));
    const found = calls.find((call) => call.id === id);
    if (!found) return undefined;
    const { name, arguments: text } = found.function;
    const call = { toolCallId: id, toolName: name, input: inputOf(text).input };
    return new PendingCall(this.#parts.session, call, () => tooLate);
  }

  #replace(message: ToolMessage, content: string): void {
    const { content: given } = message;
    if (content === given || content === message.error) return;
    this.#messages = this.#messages.map((each) => (each === message ? { ...message, content } : each));
  }

  #passDecisions(calls: readonly PendingCall[]): void {
    for (const call of calls) {
      const { approval } = call;
      if (!approval) continue;
      const entry = this.#parts.input.resume?.find(({ interruptId }) => interruptId === interruptPrefix + approval.id);
      call.decide(
        entry?.status === 'resolved'
          ? decisionOf(entry.payload)
          : { decision: 'deny', reason: 'The client continued without an approval.' },
      );
    }
  }

  /** Makes one answer of the agent. @returns whether the run has ended */
  async #answer(): Promise<boolean> {
    const { session, thread, input, signal, approve } = this.#parts;
    this.#writer.nextAnswer();
    const { response, returned, ending } = await session.model<RunFinishedEvent>({
      messages: groupsOf(this.#messages, (id) => thread.agentCalls.has(id)),
      system: blocksOf(this.#prompt),
      tools: (input.tools ?? []).map(definitionOf),
      run: thread.turn,
      signal,
      perform: (request, context) => this.#perform(request, context),
      onDelta: (delta) => this.#writer.delta(delta),
      canRestart: () => !this.#writer.hasContent,
    });
    this.#writer.endAnswer(response);
    this.#text = response.content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('');
    if (ending) {
      this.#stop(ending, true);
      return true;
    }
    const calls = response.content.flatMap((part) =>
      part.type === 'tool-call' && part.providerExecuted !== true ? [part] : [],
    );
    if (calls.length === 0) {
      this.#writer.finish(returned?.value);
      return true;
    }
    thread.step = { calls: calls.map((call) => new PendingCall(session, call, approve)), isEmitted: false };
    return false;
  }

  /** Runs the agent with a request that left the operators. */
  #perform(
    { model, credential, ...request }: HostModelRequest<MessageGroup> & Partial<ModelChoice>,
    context: HostModelContext,
  ): Promise<HostModelReturn<RunFinishedEvent>> {
    const { input, thread, onAgentTool } = this.#parts;
    this.#runs += 1;
    const { resume, ...rest } = input;
    const others = resume?.filter(({ interruptId }) => !interruptId.startsWith(interruptPrefix)) ?? [];
    const changed: RunAgentInput = {
      ...rest,
      ...(others.length > 0 && { resume: others }),
      runId: this.#runs === 1 ? input.runId : `${input.runId}-${this.#runs}`,
      messages: [...writePrompt(request.system, this.#prompt), ...request.messages.flatMap(({ messages }) => messages)],
      ...toolsOf(request.tools ?? [], input.tools),
    };
    return runAgent(this.#parts.choose({ model, credential }), changed, {
      ...context,
      onDelta: (delta) => context.onDelta(delta),
      onEvent: (event) => this.#writer.event(event),
      onMessage: (id) => this.#writer.name(id),
      onAgentCall: (id, name, events) => {
        onAgentTool(name);
        thread.agentCalls.set(id, true);
        this.#writer.end();
        this.#writer.hasContent = true;
        for (const event of events) this.#writer.event(event);
      },
    });
  }

  /**
   * Passes the calls of an answer to the client as soon as the operators have judged all of them.
   *
   * @returns whether all of them have results, so that the agent continues
   */
  async #passCalls(): Promise<boolean> {
    const { thread, session, signal } = this.#parts;
    const { step } = thread;
    if (!step) return true;
    const { calls } = step;
    // Nothing would answer calls that the client never received, and the next run must not wait for them.
    const abandon = (): void => {
      if (thread.step === step) thread.step = undefined;
      session.end('The client cancelled the run before it received the calls.');
    };
    signal.addEventListener('abort', abandon, { once: true });
    // Calls of a step wait for the approvals of the others, so the first one interrupts the run.
    await Promise.race([Promise.all(calls.map((call) => call.judged())), ...calls.map((call) => call.asked())]);
    signal.removeEventListener('abort', abandon);
    signal.throwIfAborted();
    // Decisions that need no I/O are made by then, so that one interrupt lists all calls that ask.
    await new Promise<void>((resolve) => void setTimeout(resolve, 0));
    if (thread.step !== step || step.isEmitted) {
      throw new TurnError('session-busy', 'Another run of this thread has passed on the calls of the answer.');
    }
    const asked = calls.flatMap(({ approval }) => (approval ? [approval] : []));
    if (asked.length > 0) {
      this.#writer.interrupt(
        asked.map(({ id, reason, call, expiresAt }) => ({
          id: interruptPrefix + id,
          reason: 'tool_call',
          message: reason,
          metadata: { h: { tool: call?.name ?? '', input: call?.input as never } },
          responseSchema: decisionSchema,
          ...(expiresAt !== undefined && { expiresAt: new Date(expiresAt).toISOString() }),
        })),
      );
      return false;
    }
    step.isEmitted = true;
    const written: AgUiMessage[] = [];
    for (const { id, name, input, allowed, result } of calls) {
      this.#writer.call(id, name, allowed ? allowed.input : input);
      if (!result) continue;
      const content = textOfOutput(result.outcome.output);
      written.push({ id: this.#writer.result(id, content), role: 'tool', toolCallId: id, content });
    }
    if (written.length < calls.length) {
      this.#writer.finish();
      return false;
    }
    const toolCalls = calls.map(({ id, name, input }) => toolCallOf(id, name, input));
    const answer = { id: this.#writer.answerId ?? '', role: 'assistant' as const, content: this.#text, toolCalls };
    this.#messages = [...this.#messages, answer, ...written];
    thread.step = undefined;
    return true;
  }

  #stop(ending: TurnEnding, isAnswered: boolean): void {
    const { exitBehavior, onStop } = this.#parts;
    onStop(ending);
    const { outcome, reason } = ending;
    const text = reason ?? `The agent was stopped: ${outcome}.`;
    if (exitBehavior === 'error') return this.#writer.fail(text, outcome);
    if (!isAnswered) this.#writer.endAnswer({ content: [{ type: 'text', text }] });
    this.#writer.finish({ result: { stop: { outcome, ...(reason !== undefined && { reason }) } } });
  }

  #fail(error: unknown): void {
    const { signal } = this.#parts;
    if (signal.aborted) throw error;
    this.#writer.end();
    if (error instanceof TurnStoppedError) {
      this.#writer.nextAnswer();
      const { outcome, reason, error: cause } = error;
      if (outcome === 'error') return this.#writer.fail(cause?.message ?? error.message, cause?.code);
      return this.#stop({ outcome, ...(reason !== undefined && { reason }) }, false);
    }
    if (!(error instanceof AgentRunError) && !(error instanceof TurnError)) throw error;
    return this.#writer.fail(error.message, error.code);
  }
}

/** The results after the last message of another role. */
const trailingResults = (messages: readonly AgUiMessage[]): readonly ToolMessage[] => {
  const start = messages.findLastIndex(({ role }) => role !== 'tool') + 1;
  return messages.slice(start).filter((message): message is ToolMessage => message.role === 'tool');
};

const decisions = ['once', 'session', 'always', 'deny'] as const satisfies readonly ApprovalDecision['decision'][];
/** The answer that an interrupt expects. */
const decisionSchema = {
  type: 'object',
  properties: { decision: { enum: decisions }, reason: { type: 'string' } },
  required: ['decision'],
};
const tooLate: ApprovalDecision = { decision: 'deny', reason: 'The call ran before it could be approved.' };

/** Reads an answer to an interrupt; one of any other shape denies the call. */
const decisionOf = (payload: unknown): ApprovalDecision => {
  const given = (typeof payload === 'object' && payload !== null ? payload : {}) as Readonly<Record<string, unknown>>;
  const { reason } = given;
  const found = given['approved'] === true ? 'once' : decisions.find((decision) => decision === given['decision']);
  return { decision: found ?? 'deny', ...(typeof reason === 'string' && { reason }) };
};

const definitionOf = ({ name, description, parameters }: Tool): ToolDefinition => ({
  name,
  description,
  inputSchema: (parameters ?? {}) as ToolDefinition['inputSchema'],
});

/** The tools of a request that left the operators. @throws TurnError for a tool that the client does not have */
const toolsOf = (definitions: readonly ToolDefinition[], given: readonly Tool[] | undefined): { tools?: Tool[] } => {
  if (!given && definitions.length === 0) return {};
  const tools = definitions.map(({ name, description, inputSchema }) => {
    const tool = given?.find((each) => each.name === name);
    if (!tool) {
      throw new TurnError(
        'unsupported-tool',
        `An operator added the tool ${JSON.stringify(name)}, which no client of AG-UI runs. Put the operator into the agent.`,
      );
    }
    const isSame = tool.description === description && (tool.parameters ?? inputSchema) === inputSchema;
    return isSame ? tool : { ...tool, description, parameters: inputSchema };
  });
  return { tools };
};
