import type { ModelDelta } from '@h/turn';
import {
  createAssistantMessageEventStream,
  parseStreamingJson,
  type Api,
  type AssistantMessage,
  type AssistantMessageEvent,
  type AssistantMessageEventStream,
  type Model,
  type ToolCall,
} from '@earendil-works/pi-ai';
import { noUsageOfPi } from './messages.js';

interface OpenBlock {
  readonly index: number;
  readonly type: ModelDelta['type'];
  readonly id: string | undefined;
  /** The JSON of the input of a tool call. */
  json: string;
}

/**
 * The stream that pi reads, built from the deltas and the answer that left the operators.
 *
 * The partial message contains nothing else: text that an operator withholds or changes is never shown. When a failed
 * attempt is repeated, the partial message starts over.
 */
export class AnswerStream {
  readonly stream: AssistantMessageEventStream = createAssistantMessageEventStream();
  #partial: AssistantMessage;
  #isStarted = false;
  #open: OpenBlock | undefined;
  /** The number of blocks of complete answers, which operators continued. */
  #complete = 0;

  constructor(model: Model<Api>, timestamp: number) {
    this.#partial = {
      ...origin(model),
      role: 'assistant',
      content: [],
      usage: noUsageOfPi,
      stopReason: 'pending',
      timestamp,
    };
  }

  /** The message as it was shown so far. */
  get partial(): AssistantMessage {
    return this.#partial;
  }

  /** Begins an attempt, without what failed attempts have shown. */
  begin(model: Model<Api>): void {
    this.#open = undefined;
    this.#partial = { ...this.#partial, ...origin(model), content: this.#partial.content.slice(0, this.#complete) };
  }

  /** Handles the end of a complete answer, which an operator may continue. */
  completeAttempt(): void {
    this.#close();
    this.#complete = this.#partial.content.length;
  }

  /** Shows a delta that left the operators. */
  delta(delta: ModelDelta): void {
    const id = delta.type === 'tool-input' ? delta.toolCallId : delta.id;
    if (this.#open?.type !== delta.type || this.#open.id !== id) this.#begin(delta, id);
    const { index } = this.#open as OpenBlock;
    const block = this.#partial.content[index] as AssistantMessage['content'][number];
    const at = { contentIndex: index, partial: this.#partial };
    if (block.type === 'text') {
      block.text += delta.text;
      this.#push({ type: 'text_delta', delta: delta.text, ...at });
    } else if (block.type === 'thinking') {
      block.thinking += delta.text;
      this.#push({ type: 'thinking_delta', delta: delta.text, ...at });
    } else {
      (this.#open as OpenBlock).json += delta.text;
      this.#push({ type: 'toolcall_delta', delta: delta.text, ...at });
    }
  }

  /** Ends the stream with an answer. Shows all of it if the model has streamed nothing. */
  done(message: AssistantMessage): void {
    this.#start();
    if (this.#partial.content.length === 0) for (const delta of deltasOf(message)) this.delta(delta);
    this.#close();
    const reason = message.stopReason as Extract<AssistantMessageEvent, { type: 'done' }>['reason'];
    this.#push({ type: 'done', reason, message });
    this.stream.end();
  }

  /** Ends the stream with a message whose stop reason is `error` or `aborted`. */
  fail(message: AssistantMessage): void {
    const reason = message.stopReason === 'aborted' ? 'aborted' : 'error';
    this.#push({ type: 'error', reason, error: message });
    this.stream.end();
  }

  #begin(delta: ModelDelta, id: string | undefined): void {
    this.#close();
    this.#start();
    const index = this.#partial.content.length;
    this.#open = { index, type: delta.type, id, json: '' };
    const at = { contentIndex: index, partial: this.#partial };
    if (delta.type === 'tool-input') {
      this.#partial.content.push({ type: 'toolCall', id: delta.toolCallId, name: delta.toolName, arguments: {} });
      this.#push({ type: 'toolcall_start', ...at });
    } else if (delta.type === 'text') {
      this.#partial.content.push({ type: 'text', text: '' });
      this.#push({ type: 'text_start', ...at });
    } else {
      this.#partial.content.push({ type: 'thinking', thinking: '' });
      this.#push({ type: 'thinking_start', ...at });
    }
  }

  #start(): void {
    if (this.#isStarted) return;
    this.#isStarted = true;
    this.#push({ type: 'start', partial: this.#partial });
  }

  #close(): void {
    const open = this.#open;
    this.#open = undefined;
    const block = open && this.#partial.content[open.index];
    if (!open || !block) return;
    const at = { contentIndex: open.index, partial: this.#partial };
    if (block.type === 'text') return this.#push({ type: 'text_end', content: block.text, ...at });
    if (block.type === 'thinking') return this.#push({ type: 'thinking_end', content: block.thinking, ...at });
    // Parsed once: parsing after each delta takes time quadratic in the length of the input.
    const toolCall: ToolCall = { ...block, arguments: parseStreamingJson(open.json) };
    this.#partial.content[open.index] = toolCall;
    return this.#push({ type: 'toolcall_end', toolCall, ...at });
  }

  #push(event: AssistantMessageEvent): void {
    this.stream.push(event);
  }
}

/** The members of a message that name its model. */
export const origin = ({ api, provider, id }: Model<Api>): Pick<AssistantMessage, 'api' | 'provider' | 'model'> => ({
  api,
  provider,
  model: id,
});

const deltasOf = ({ content }: AssistantMessage): readonly ModelDelta[] =>
  content.map((block, index): ModelDelta => {
    if (block.type === 'text') return { type: 'text', text: block.text, id: String(index) };
    if (block.type === 'thinking') return { type: 'reasoning', text: block.thinking, id: String(index) };
    const text = JSON.stringify(block.arguments);
    return { type: 'tool-input', toolCallId: block.id, toolName: block.name, text };
  });
