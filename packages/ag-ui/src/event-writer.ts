import {
  EventType,
  type BaseEvent,
  type Interrupt,
  type RunAgentInput,
  type RunFinishedEvent,
  type RunFinishedOutcome,
} from '@ag-ui/client';
import type { ModelDelta, ModelResponse } from '@h/turn';
import { toolCallOf } from './messages.js';

type Given = Readonly<Record<string, unknown>> & { readonly type: EventType };

/** Writes the events of one run for the client. What has begun is ended before something else begins. */
export class EventWriter {
  /** Whether the client has received a part of an answer, which cannot be retracted. */
  hasContent = false;
  readonly #emit: (event: BaseEvent) => void;
  readonly #input: RunAgentInput;
  #isStarted = false;
  #open: { readonly type: 'text' | 'reasoning'; readonly id: string } | undefined;
  /** The id of the message of the agent that streams. */
  #messageId: string | undefined;
  /** The message of the answer, of which calls are a part. */
  #answerId: string | undefined;
  #hasText = false;
  #ids = 0;

  constructor(input: RunAgentInput, emit: (event: BaseEvent) => void) {
    this.#input = input;
    this.#emit = emit;
  }

  /** Begins the run, unless it has begun. */
  start(event?: BaseEvent): void {
    if (this.#isStarted) return;
    this.#isStarted = true;
    const { threadId, runId } = this.#input;
    this.#emit({ ...event, type: EventType.RUN_STARTED, threadId, runId });
  }

  /** Begins another answer. */
  nextAnswer(): void {
    this.hasContent = false;
    this.#hasText = false;
    this.#messageId = undefined;
    this.#answerId = undefined;
  }

  /** Names the message that the agent begins. */
  name(id: string): void {
    this.#messageId = id;
  }

  event(event: BaseEvent): void {
    if (event.type === EventType.RUN_STARTED) return this.start(event);
    this.start();
    this.#emit(event);
  }

  delta(delta: ModelDelta): void {
    if (delta.type === 'tool-input' || delta.text === '') return;
    const { type, text } = delta;
    if (this.#open?.type !== type) this.#begin(type);
    this.hasContent = true;
    this.#hasText ||= type === 'text';
    const messageId = this.#open?.id;
    const content = type === 'text' ? EventType.TEXT_MESSAGE_CONTENT : EventType.REASONING_MESSAGE_CONTENT;
    this.#put({ type: content, messageId, delta: text });
  }

  /** Ends an answer, and writes its text if it did not stream. */
  endAnswer({ content }: Pick<ModelResponse, 'content'>): void {
    const text = content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('');
    if (!this.#hasText) this.delta({ type: 'text', text });
    this.end();
  }

  /** Ends the message that streams. */
  end(): void {
    const open = this.#open;
    this.#open = undefined;
    if (!open) return;
    const { id: messageId } = open;
    if (open.type === 'text') return this.#put({ type: EventType.TEXT_MESSAGE_END, messageId });
    this.#put({ type: EventType.REASONING_MESSAGE_END, messageId });
    this.#put({ type: EventType.REASONING_END, messageId });
  }

  call(toolCallId: string, toolCallName: string, input: unknown): void {
    this.#answerId ??= this.#newId();
    const { arguments: delta } = toolCallOf(toolCallId, toolCallName, input).function;
    this.#put({ type: EventType.TOOL_CALL_START, toolCallId, toolCallName, parentMessageId: this.#answerId });
    this.#put({ type: EventType.TOOL_CALL_ARGS, toolCallId, delta });
    this.#put({ type: EventType.TOOL_CALL_END, toolCallId });
  }

  /** Writes the result of a call that the client does not run. @returns the id of its message */
  result(toolCallId: string, content: string): string {
    const messageId = `result-${toolCallId}`;
    this.#put({ type: EventType.TOOL_CALL_RESULT, messageId, toolCallId, content, role: 'tool' });
    return messageId;
  }

  /** The id of the message of the answer, if there is one. */
  get answerId(): string | undefined {
    return this.#answerId;
  }

  interrupt(interrupts: readonly Interrupt[]): void {
    this.finish({ outcome: { type: 'interrupt', interrupts: [...interrupts] } });
  }

  finish(given: { readonly outcome?: RunFinishedOutcome | undefined; readonly result?: unknown } = {}): void {
    const { threadId, runId } = this.#input;
    const { outcome, result } = given;
    this.end();
    const { usage } = given as Partial<RunFinishedEvent>;
    this.#put({
      type: EventType.RUN_FINISHED,
      threadId,
      runId,
      ...(outcome !== undefined && { outcome }),
      ...(result !== undefined && { result }),
      ...(usage && { usage }),
    });
  }

  fail(message: string, code: string | undefined): void {
    this.end();
    this.#put({ type: EventType.RUN_ERROR, message, ...(code !== undefined && { code }) });
  }

  #begin(type: 'text' | 'reasoning'): void {
    this.end();
    const id = this.#messageId ?? this.#newId();
    this.#messageId = undefined;
    this.#open = { type, id };
    if (type === 'text') {
      this.#answerId = id;
      return this.#put({ type: EventType.TEXT_MESSAGE_START, messageId: id, role: 'assistant' });
    }
    this.#put({ type: EventType.REASONING_START, messageId: id });
    this.#put({ type: EventType.REASONING_MESSAGE_START, messageId: id, role: 'reasoning' });
  }

  #newId(): string {
    return `${this.#input.runId}-h${(this.#ids += 1)}`;
  }

  #put(event: Given): void {
    this.start();
    this.#emit(event);
  }
}
