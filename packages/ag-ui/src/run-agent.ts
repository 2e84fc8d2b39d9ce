import {
  EventType,
  transformChunks,
  type AbstractAgent,
  type BaseEvent,
  type Event,
  type RunAgentInput,
  type RunFinishedEvent,
  type TokenUsage,
  type ToolCallResultEvent,
} from '@ag-ui/client';
import type { HostModelContext, HostModelReturn } from '@h/bridge';
import { TurnError, type AssistantPart, type Usage } from '@h/turn';
import { Subscription } from 'rxjs';
import { inputOf } from './messages.js';

/** The agent ended a run with an error (`RUN_ERROR`), or without an end. */
export class AgentRunError extends Error {
  readonly code: string | undefined;

  constructor(message: string, code?: string) {
    super(message);
    this.name = 'AgentRunError';
    this.code = code;
  }
}

/** What a run of an agent passes on while it runs. */
export interface RunSurroundings extends HostModelContext {
  /** Receives events that are not part of an answer. */
  onEvent(event: BaseEvent): void;
  /** Ids of messages that the agent begins. */
  onMessage(id: string): void;
  /** Receives the events of a call that the agent ran itself. @throws if such calls are not allowed */
  onAgentCall(id: string, name: string, events: readonly BaseEvent[]): void;
}

/** A call whose result, or the end of the run, has not arrived. */
interface OpenCall {
  readonly name: string;
  readonly events: BaseEvent[];
  text: string;
}

/** Runs an agent once. A run is one answer: its text, its reasoning, and the calls for the client. */
export const runAgent = (
  agent: Pick<AbstractAgent, 'run'>,
  input: RunAgentInput,
  surroundings: RunSurroundings,
): Promise<HostModelReturn<RunFinishedEvent>> =>
  new Promise((resolve, reject) => {
    const { signal } = surroundings;
    const answer = new Answer(surroundings);
    const subscription = new Subscription();
    const settle = (act: () => void): void => {
      signal.removeEventListener('abort', onAbort);
      subscription.unsubscribe();
      act();
    };
    const onAbort = (): void => settle(() => reject(signal.reason as Error));
    if (signal.aborted) return reject(signal.reason as Error);
    signal.addEventListener('abort', onAbort);
    const running = transformChunks(false)(agent.run(input)).subscribe({
      next: (given) => {
        try {
          const finished = answer.add(given as Event);
          if (finished) settle(() => resolve(finished));
        } catch (error) {
          settle(() => reject(error instanceof Error ? error : new AgentRunError(String(error))));
        }
      },
      error: (error: Error) => settle(() => reject(error)),
      complete: () => settle(() => reject(new AgentRunError('The agent ended its run without RUN_FINISHED.'))),
    });
    // The agent may have answered during `subscribe()`.
    subscription.add(() => running.unsubscribe());
  });

/** Collects the events of a run. */
class Answer {
  readonly #surroundings: RunSurroundings;
  readonly #content: AssistantPart[] = [];
  readonly #calls = new Map<string, OpenCall>();
  /** Ids of calls that the agent ran. No operator would see what a client returns for one of them. */
  readonly #ran = new Set<string>();
  /** Messages whose role is not that of the agent. */
  readonly #others = new Set<string>();

  constructor(surroundings: RunSurroundings) {
    this.#surroundings = surroundings;
  }

  /** @returns the answer, at the end of the run */
  add(event: Event): HostModelReturn<RunFinishedEvent> | undefined {
    switch (event.type) {
      case EventType.TEXT_MESSAGE_START:
        if (event.role !== undefined && event.role !== 'assistant') this.#others.add(event.messageId);
        else this.#surroundings.onMessage(event.messageId);
        break;
      case EventType.REASONING_MESSAGE_START:
        this.#surroundings.onMessage(event.messageId);
        return undefined;
      case EventType.TEXT_MESSAGE_CONTENT:
        if (this.#others.has(event.messageId)) break;
        return this.#grow('text', event.delta);
      case EventType.REASONING_MESSAGE_CONTENT:
        return this.#grow('reasoning', event.delta);
      case EventType.TEXT_MESSAGE_END:
        break;
      case EventType.REASONING_START:
      case EventType.REASONING_MESSAGE_END:
      case EventType.REASONING_END:
      case EventType.MESSAGES_SNAPSHOT:
        return undefined;
      case EventType.TOOL_CALL_START:
        if (this.#ran.has(event.toolCallId)) {
          throw new AgentRunError(
            `The agent began the call ${JSON.stringify(event.toolCallId)} again after it ran it.`,
          );
        }
        this.#calls.set(event.toolCallId, { name: event.toolCallName, events: [event], text: '' });
        return undefined;
      case EventType.TOOL_CALL_ARGS:
      case EventType.TOOL_CALL_END: {
        const call = this.#calls.get(event.toolCallId);
        call?.events.push(event);
        if (call && event.type === EventType.TOOL_CALL_ARGS) call.text += event.delta;
        return undefined;
      }
      case EventType.TOOL_CALL_RESULT:
        return this.#agentCall(event);
      case EventType.RUN_ERROR:
        throw new AgentRunError(event.message, event.code);
      case EventType.RUN_FINISHED:
        return this.#finish(event);
      default:
    }
    const isOther = 'messageId' in event && typeof event.messageId === 'string' && this.#others.has(event.messageId);
    const isText = event.type === EventType.TEXT_MESSAGE_START || event.type === EventType.TEXT_MESSAGE_END;
    if (isOther || !isText) this.#surroundings.onEvent(event);
    return undefined;
  }

  #grow(type: 'text' | 'reasoning', delta: string): undefined {
    const last = this.#content.at(-1);
    if (last?.type === type) this.#content[this.#content.length - 1] = { ...last, text: last.text + delta };
    else this.#content.push({ type, text: delta });
    this.#surroundings.onDelta({ type, text: delta });
  }

  #agentCall(event: ToolCallResultEvent): undefined {
    const { toolCallId: id } = event;
    const call = this.#calls.get(id);
    this.#calls.delete(id);
    this.#ran.add(id);
    const name = call?.name ?? '';
    this.#surroundings.onAgentCall(id, name, [...(call?.events ?? []), event]);
    const { input } = inputOf(call?.text ?? '');
    this.#content.push({ type: 'tool-call', toolCallId: id, toolName: name, input, providerExecuted: true });
  }

  #finish(event: RunFinishedEvent): HostModelReturn<RunFinishedEvent> {
    const invalid: (readonly [id: string, reason: string])[] = [];
    for (const [id, { name, text }] of this.#calls) {
      const { input, isValid } = inputOf(text);
      if (!isValid) invalid.push([id, 'The input of the call is not JSON.']);
      this.#content.push({ type: 'tool-call', toolCallId: id, toolName: name, input });
    }
    const response = {
      content: this.#content,
      finishReason: this.#calls.size > 0 ? ('tool-calls' as const) : ('stop' as const),
      usage: usageOf(event.usage),
      ...(invalid.length > 0 && { invalidCalls: Object.fromEntries(invalid) }),
    };
    return { response, value: event };
  }
}

/** As in AG-UI, the counts of input and output contain those of caches and reasoning. */
const usageOf = (counts: readonly TokenUsage[] = []): Usage => {
  const sum = (count: (each: TokenUsage) => number | undefined): number =>
    counts.reduce((total, each) => total + (count(each) ?? 0), 0);
  return {
    input: sum(({ inputTokens }) => inputTokens),
    cacheRead: sum(({ cachedInputTokens }) => cachedInputTokens),
    cacheWrite: sum(({ cacheWriteInputTokens }) => cacheWriteInputTokens),
    output: sum(({ outputTokens }) => outputTokens),
    reasoning: sum(({ reasoningTokens }) => reasoningTokens),
  };
};

/** The agent ran a tool although an operator decides about calls. */
export const agentToolError = (name: string, operators: readonly string[]): TurnError =>
  new TurnError(
    'agent-tool',
    `The agent ran the tool ${JSON.stringify(name)} itself, so ${operators.join(', ')} could not decide about the call. Put the operators into the agent, or set agentTools: 'observe'.`,
  );
