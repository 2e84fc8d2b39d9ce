import { CallIds } from './call-ids.js';
import { MessageList } from '../contract/message-list.js';
import { checkNative } from './foreign-message.js';
import type {
  AssistantMessage,
  Message,
  Repair,
  ToolCallPart,
  ToolMessage,
  ToolPart,
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
  const { messages, repairs } = repairWith(history, (message, index) => {
    checkNative(message, index);
    return wellFormed(message);
  });
  return { messages, repairs };
};

/**
 * Repairs a history.
 *
 * @param clean - checks a message and replaces its lone surrogates
 * @returns also the ids of the calls
 */
export const repairWith = (
  history: Iterable<Message>,
  clean: (message: Message, index: number) => Message,
): RepairedHistory & { readonly callIds: CallIds } => {
  const given = MessageList.of(history).toArray();
  const cleaned = given.map(clean);
  const repair = new Repairing(cleaned);
  for (const [index, message] of cleaned.entries()) {
    if (message !== given[index]) repair.repairs.push({ problem: 'lone-surrogate', index });
    repair.add(message, index);
  }
  repair.finish();
  return repair;
};

interface OpenCall {
  readonly part: ToolCallPart;
  /** The id before renaming, which its result has. */
  readonly givenId: string;
}

class Repairing {
  readonly messages: Message[] = [];
  readonly repairs: Repair[] = [];
  readonly callIds = new CallIds();
  readonly #given: readonly Message[];
  /** Late results that are in their place already. */
  readonly #moved = new Set<unknown>();
  /** Calls of the latest assistant message that have no result yet, in order. */
  #open: OpenCall[] = [];
  #openIndex = 0;

  constructor(given: readonly Message[]) {
    this.#given = given;
  }

  add(message: Message, index: number): void {
    if (message.role === 'tool') this.#addTool(message, index);
    else if (isEmpty(message)) this.repairs.push({ problem: 'empty-message', index });
    else this.#addOther(message, index);
  }

  finish(): void {
    this.#answerOpen(this.#given.length);
  }

  #addOther(message: Exclude<Message, ToolMessage>, index: number): void {
    this.#answerOpen(index);
    this.messages.push(message.role === 'assistant' ? this.#addAssistant(message, index) : message);
  }

  #addAssistant(message: AssistantMessage, index: number): AssistantMessage {
    if (typeof message.content === 'string') return message;
    this.#openIndex = index;
    const inline = new Set<string>();
    for (const part of message.content) {
      if (part.type === 'tool-result') inline.add(part.toolCallId);
      if (part.type === 'tool-result' || (part.type === 'tool-call' && part.providerExecuted === true)) {
        this.callIds.note(part.toolCallId);
      }
    }
    return withContent(
      message,
      message.content,
      message.content.map((part) => (part.type === 'tool-call' ? this.#addCall(part, inline, index) : part)),
    );
  }

  #addCall(part: ToolCallPart, inline: ReadonlySet<string>, index: number): ToolCallPart {
    if (part.providerExecuted === true || inline.has(part.toolCallId)) return part;
    const givenId = part.toolCallId;
    const id = this.callIds.claim(givenId);
    if (id !== givenId) this.repairs.push({ problem: 'duplicate-call-id', index, toolCallId: givenId });
    const kept = id === givenId ? part : { ...part, toolCallId: id };
    this.#open.push({ part: kept, givenId });
    return kept;
  }

  #addTool(message: ToolMessage, index: number): void {
    const content: ToolPart[] = [];
    for (const part of message.content) {
      const kept = part.type === 'tool-result' ? this.#addResult(part, index) : part;
      if (kept) content.push(kept);
    }
    if (message.content.length === 0) this.repairs.push({ problem: 'empty-message', index });
    if (content.length > 0) this.messages.push(withContent(message, message.content, content));
  }

  #addResult(part: ToolResultPart, index: number): ToolResultPart | undefined {
    if (this.#moved.has(part)) return undefined;
    const { toolCallId } = part;
    const place = this.#open.findIndex(({ givenId }) => givenId === toolCallId);
    const [call] = place === -1 ? [] : this.#open.splice(place, 1);
    if (call) return call.part.toolCallId === toolCallId ? part : { ...part, toolCallId: call.part.toolCallId };
    const problem = this.callIds.has(toolCallId) ? 'duplicate-result' : 'orphan-result';
    this.repairs.push({ problem, index, toolCallId });
    return undefined;
  }

  /** Answers the open calls before a message that is not a result. */
  #answerOpen(before: number): void {
    if (this.#open.length === 0) return;
    const content = this.#open.map(({ part, givenId }): ToolResultPart => {
      const late = this.#lateResult(givenId, before);
      this.repairs.push({
        problem: late ? 'late-result' : 'missing-result',
        index: this.#openIndex,
        toolCallId: part.toolCallId,
      });
      return {
        type: 'tool-result',
        toolCallId: part.toolCallId,
        toolName: part.toolName,
        output: late?.output ?? { type: 'error-text', value: interruptedText },
      };
    });
    this.#open = [];
    const last = this.messages.at(-1);
    if (last?.role === 'tool') {
      this.messages[this.messages.length - 1] = { ...last, content: [...last.content, ...content] };
    } else this.messages.push({ role: 'tool', content });
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
      if (part === undefined) continue;
      this.#moved.add(part);
      return part;
    }
    return undefined;
  }
}

/** Returns the message with these parts; the same one if no part changes. */
const withContent = <Given extends object, Part>(
  message: Given & { readonly content: unknown },
  before: readonly Part[],
  content: readonly Part[],
): Given =>
  content.length === before.length && content.every((part, index) => part === before[index])
    ? message
    : { ...message, content };

const isEmpty = ({ content }: Exclude<Message, ToolMessage>): boolean =>
  typeof content === 'string'
    ? content === ''
    : content.every((part) => part.type === 'text' && part.text === '' && !part.providerOptions);
