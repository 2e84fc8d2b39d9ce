import { CallIds } from './call-ids.js';
import { checkNative } from './foreign-message.js';
import type {
  AssistantMessage,
  AssistantPart,
  Message,
  Repair,
  ToolCallPart,
  ToolMessage,
  ToolResultPart,
} from '../contract/messages.js';
import { wellFormed } from './well-formed.js';

/** A history that providers accept, and the changes made to it. */
export interface RepairedHistory {
  readonly messages: readonly Message[];
  readonly repairs: readonly Repair[];
}

/** The result that the model reads for a call whose process died. */
export const interruptedText =
  'Interrupted: the process ended while this call may have been running. Its outcome is unknown; check before repeating it.';

/**
 * Repairs a history so that providers accept it.
 *
 * Every tool call is followed by exactly one result, in the messages right after it: a late result (after a user
 * message) is moved there, a missing one is answered as interrupted, and one without a call is dropped. A duplicate
 * call id is renamed together with its result; calls and results are matched by occurrence, not by id alone. Lone
 * surrogates become U+FFFD, and empty messages are dropped. Valid messages are returned unchanged.
 *
 * @throws InvalidInputError if a message has the shape of another framework; `convertHistory()` of `@h/bridge` converts
 * those
 *
 * @example
 * ```ts
 * const { messages, repairs } = repairHistory([
 *   { role: 'user', content: 'List the files' },
 *   { role: 'assistant', content: [{ type: 'tool-call', toolCallId: '1', toolName: 'ls', input: {} }] },
 * ]);
 * console.log(messages.length, repairs[0]?.problem); // 3 'missing-result'
 * ```
 */
export const repairHistory = (history: Iterable<Message>): RepairedHistory => {
  const messages = [...history];
  const repair = new Repairing(messages);
  for (const [index, message] of messages.entries()) repair.add(message, index);
  return repair.finish(messages.length);
};

interface OpenCall {
  readonly part: ToolCallPart;
  /** The id before renaming, which its result has. */
  readonly givenId: string;
}

class Repairing {
  readonly #given: readonly Message[];
  readonly #moved = new Set<ToolResultPart>();
  readonly #messages: Message[] = [];
  readonly #repairs: Repair[] = [];
  readonly #ids = new CallIds();
  /** Calls of the latest assistant message that have no result yet, in order. */
  #open: OpenCall[] = [];
  #openIndex = 0;

  constructor(given: readonly Message[]) {
    this.#given = given;
  }

  add(given: Message, index: number): void {
    checkNative(given, index);
    const message = wellFormed(given);
    if (message !== given) this.#repairs.push({ problem: 'lone-surrogate', index });
    if (message.role === 'tool') this.#addTool(message, index);
    else if (isEmpty(message)) this.#repairs.push({ problem: 'empty-message', index });
    else this.#addOther(message, index);
  }

  finish(end: number): RepairedHistory {
    this.#answerOpen(end);
    return { messages: this.#messages, repairs: this.#repairs };
  }

  #addOther(message: Exclude<Message, ToolMessage>, index: number): void {
    this.#answerOpen(index);
    this.#messages.push(message.role === 'assistant' ? this.#addAssistant(message, index) : message);
  }

  #addAssistant(message: AssistantMessage, index: number): AssistantMessage {
    if (typeof message.content === 'string') return message;
    this.#openIndex = index;
    const inline = new Set<string>();
    for (const part of message.content) {
      if (part.type === 'tool-result') inline.add(part.toolCallId);
      if (part.type === 'tool-result' || (part.type === 'tool-call' && part.providerExecuted === true)) {
        this.#ids.note(part.toolCallId);
      }
    }
    let changed = false;
    const content: AssistantPart[] = [];
    for (const part of message.content) {
      const kept = part.type === 'tool-call' ? this.#addCall(part, inline, index) : part;
      changed ||= kept !== part;
      content.push(kept);
    }
    return changed ? { ...message, content } : message;
  }

  #addCall(part: ToolCallPart, inline: ReadonlySet<string>, index: number): ToolCallPart {
    if (part.providerExecuted === true || inline.has(part.toolCallId)) return part;
    const givenId = part.toolCallId;
    const id = this.#ids.claim(givenId);
    if (id !== givenId) this.#repairs.push({ problem: 'duplicate-call-id', index, toolCallId: givenId });
    const kept = id === givenId ? part : { ...part, toolCallId: id };
    this.#open.push({ part: kept, givenId });
    return kept;
  }

  #addTool(message: ToolMessage, index: number): void {
    let changed = false;
    const content: ToolMessage['content'][number][] = [];
    for (const part of message.content) {
      if (part.type === 'tool-result' && this.#wasMoved(part, index)) {
        changed = true;
        continue;
      }
      const kept = part.type === 'tool-result' ? this.#addResult(part, index) : part;
      changed ||= kept !== part;
      if (kept) content.push(kept);
    }
    if (message.content.length === 0) this.#repairs.push({ problem: 'empty-message', index });
    if (content.length > 0) this.#messages.push(changed ? { ...message, content } : message);
  }

  #addResult(part: ToolResultPart, index: number): ToolResultPart | undefined {
    const place = this.#open.findIndex((call) => call.givenId === part.toolCallId);
    const call = this.#open[place];
    if (call === undefined) {
      const problem = this.#ids.has(part.toolCallId) ? 'duplicate-result' : 'orphan-result';
      this.#repairs.push({ problem, index, toolCallId: part.toolCallId });
      return undefined;
    }
    this.#open.splice(place, 1);
    return call.part.toolCallId === part.toolCallId ? part : { ...part, toolCallId: call.part.toolCallId };
  }

  /** Answers the open calls before a message that is not a result. */
  #answerOpen(before: number): void {
    if (this.#open.length === 0) return;
    const content = this.#open.map(({ part, givenId }): ToolResultPart => {
      const late = this.#lateResult(givenId, before);
      this.#repairs.push({
        problem: late ? 'late-result' : 'missing-result',
        index: this.#openIndex,
        toolCallId: part.toolCallId,
      });
      return {
        type: 'tool-result',
        toolCallId: part.toolCallId,
        toolName: part.toolName,
        output: late ? wellFormed(late.output) : { type: 'error-text', value: interruptedText },
      };
    });
    this.#open = [];
    const last = this.#messages.at(-1);
    if (last?.role === 'tool') {
      this.#messages[this.#messages.length - 1] = { ...last, content: [...last.content, ...content] };
    } else this.#messages.push({ role: 'tool', content });
  }

  /** Finds a late result that comes before the next message of the model. */
  #lateResult(givenId: string, from: number): ToolResultPart | undefined {
    for (let index = from; index < this.#given.length; index += 1) {
      const message = this.#given[index] as Message;
      if (message.role === 'assistant') return undefined;
      if (message.role !== 'tool') continue;
      const part = message.content.find(
        (candidate): candidate is ToolResultPart =>
          candidate.type === 'tool-result' && candidate.toolCallId === givenId && !this.#moved.has(candidate),
      );
      if (part) this.#moved.add(part);
      if (part) return part;
    }
    return undefined;
  }

  /**
   * Whether a result is in its place already. Compared with the given part, because repairing may have copied this
   * one.
   */
  #wasMoved(part: ToolResultPart, index: number): boolean {
    if (this.#moved.size === 0) return false;
    const given = this.#given[index] as ToolMessage;
    return given.content.some(
      (candidate) =>
        candidate.type === 'tool-result' && this.#moved.has(candidate) && candidate.toolCallId === part.toolCallId,
    );
  }
}

const isEmpty = ({ content }: Exclude<Message, ToolMessage>): boolean =>
  typeof content === 'string'
    ? content === ''
    : content.every((part) => part.type === 'text' && part.text === '' && !part.providerOptions);
