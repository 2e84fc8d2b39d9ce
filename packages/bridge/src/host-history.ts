import { isDeepStrictEqual } from 'node:util';
import type { Message, MessageList } from '@h/turn';
import type { HostFormat } from './host.js';
import { isSameData } from './same-data.js';

/** An update of the history of a turn from the history of the host. */
export type HistoryUpdate =
  | { readonly type: 'same'; readonly messages?: undefined }
  /** The host added messages. */
  | { readonly type: 'append'; readonly messages: readonly Message[] }
  /** The host changed known messages, or the session is new. */
  | { readonly type: 'replace'; readonly messages: readonly Message[] };

/**
 * What the host received since its last model call, and adds to its history: an answer and the results of its calls.
 */
export interface Delivered {
  /** `undefined` if the answer had no content. */
  readonly answer: { readonly isChanged: boolean } | undefined;
  /** For each call of the answer, by id: whether an operator changed the result. */
  readonly calls: ReadonlyMap<string, { readonly isChanged: boolean }>;
}

/** The host's form of a message. */
interface HostForm<HostMessage> {
  readonly messages: readonly HostMessage[];
  /** The index of the first one in the history of the host, if the host has them. */
  readonly index?: number;
  /** The adopted history that has them at this index. */
  readonly adoption?: object;
}

export const nothingDelivered: Delivered = { answer: undefined, calls: new Map() };

/**
 * Synchronizes the history of a session with the history of its host.
 *
 * The host owns the history, so its additions and changes are adopted. Messages that operators replaced or added are
 * preserved, so that each request repeats the previous one byte for byte. An update compares the known messages with
 * those of the host: objects that the host has kept by identity, others by content, which is read only if it differs.
 */
export class HostHistory<HostMessage> {
  readonly #format: HostFormat<HostMessage>;
  readonly #forms = new WeakMap<Message, HostForm<HostMessage>>();
  /** The latest history of the host. */
  #host: readonly HostMessage[] = [];
  /** Changes when the whole history of the host is adopted; until then, its known messages do not change. */
  #adoption = {};
  /** The number of messages of the host that are accounted for. */
  #known = 0;
  /** The last known message, to detect changes in the same object. */
  #last: string | undefined;
  /** The last result of {@link #hasKnown}. */
  #compared: { readonly host: readonly HostMessage[]; readonly hasKnown: boolean } | undefined;

  constructor(format: HostFormat<HostMessage>) {
    this.#format = format;
  }

  /** Clears the known messages, so that the next update adopts the whole history of the host. */
  reset(): void {
    this.#known = 0;
  }

  /** Whether the host's history continues the known one and contains the delivered messages. */
  continues(host: readonly HostMessage[], delivered: Delivered): boolean {
    return this.#known > 0 && this.#accountFor(host, delivered) !== undefined;
  }

  /** Whether the host added a user message to the known history. */
  hasNewInput(host: readonly HostMessage[]): boolean {
    return host.slice(this.#known).some((message) => this.#format.read(message).role === 'user');
  }

  /** Returns the tool messages that the host added to the known history. */
  newResults(host: readonly HostMessage[]): readonly Message[] {
    return host
      .slice(this.#known)
      .map((message) => this.#format.read(message))
      .filter(({ role }) => role === 'tool');
  }

  /** Compares the history of a turn with that of the host, whose messages then count as known. */
  update(host: readonly HostMessage[], own: MessageList, delivered: Delivered): HistoryUpdate {
    const added = this.#known > 0 ? this.#accountFor(host, delivered) : undefined;
    if (!added) this.#adoption = {};
    const update: HistoryUpdate = added
      ? this.#takeAdded(host, own, delivered, added)
      : { type: 'replace', messages: host.map((message, index) => this.#read(message, index)) };
    // A copy, because the host may change its own.
    this.#host = [...host];
    this.#known = host.length;
    this.#last = this.#print(host.at(-1));
    this.#compared = undefined;
    return update;
  }

  /**
   * Returns the host's form of a history. If it contains what the host would send, these are the host's own messages,
   * of which the host may have changed fields that operators do not see.
   */
  renderHistory(messages: Iterable<Message>): readonly HostMessage[] {
    const rendered: HostMessage[] = [];
    let isSame = true;
    for (const message of messages) {
      const form = this.#formOf(message);
      isSame &&= form.index === rendered.length && this.#isCurrent(form);
      for (const part of form.messages) rendered.push(part);
    }
    return isSame && rendered.length === this.#host.length ? this.#host : rendered;
  }

  /** Whether the host still has these messages, as far as operators see them. */
  #isCurrent({ messages, index = 0, adoption }: HostForm<HostMessage>): boolean {
    // Each update has compared the known messages with those of the host.
    if (adoption === this.#adoption) return true;
    return messages.every((message, offset) => this.#isSame(message, this.#host[index + offset]));
  }

  #isSame(known: HostMessage, current: HostMessage | undefined): boolean {
    if (isSameData(known, current)) return true;
    return current !== undefined && isDeepStrictEqual(this.#format.read(current), this.#format.read(known));
  }

  /** Whether a history begins with the known messages, as far as operators see them. */
  #hasKnown(host: readonly HostMessage[]): boolean {
    if (host.length < this.#known || this.#print(host[this.#known - 1]) !== this.#last) return false;
    if (this.#compared?.host !== host) {
      this.#compared = { host, hasKnown: this.#host.every((known, index) => this.#isSame(known, host[index])) };
    }
    return this.#compared.hasKnown;
  }

  /** Returns the host's form of messages that are not part of the history. */
  render(messages: readonly Message[]): readonly HostMessage[] {
    return messages.flatMap((message) => this.#formOf(message).messages);
  }

  #formOf(message: Message): HostForm<HostMessage> {
    const known = this.#forms.get(message);
    if (known) return known;
    const form = { messages: this.#format.write(message) };
    this.#forms.set(message, form);
    return form;
  }

  /**
   * Returns the messages after the known ones, and how many of them were delivered; `undefined` if the host changed a
   * known message or lacks the delivered answer.
   */
  #accountFor(
    host: readonly HostMessage[],
    { answer, calls }: Delivered,
  ): { readonly messages: readonly Message[]; readonly count: number } | undefined {
    if (!this.#hasKnown(host)) return undefined;
    const messages = host.slice(this.#known).map((message) => this.#format.read(message));
    if (answer && messages[0]?.role !== 'assistant') return undefined;
    let count = answer ? 1 : 0;
    while (isResultOf(messages[count], calls)) count += 1;
    return { messages, count };
  }

  #takeAdded(
    host: readonly HostMessage[],
    own: MessageList,
    delivered: Delivered,
    { messages, count }: { readonly messages: readonly Message[]; readonly count: number },
  ): HistoryUpdate {
    const forms = host.slice(this.#known);
    this.#keepForms(own, forms.slice(0, count), messages, delivered);
    const rest = messages.slice(count);
    if (rest.length === 0) return { type: 'same' };
    for (const [index, message] of rest.entries()) {
      const form = forms[count + index] as HostMessage;
      this.#forms.set(message, { messages: [form], index: this.#known + count + index, adoption: this.#adoption });
    }
    return { type: 'append', messages: rest };
  }

  /** Stores the host's form of the answer and of the results that no operator changed. */
  #keepForms(
    own: MessageList,
    forms: readonly HostMessage[],
    messages: readonly Message[],
    { answer, calls }: Delivered,
  ): void {
    const isResultKept = [...calls.values()].every(({ isChanged }) => !isChanged);
    const results = forms.filter((_, index) => messages[index]?.role === 'tool');
    const answered = new Set(messages.slice(0, forms.length).flatMap((message) => resultIds(message)));
    const firstResult = this.#known + messages.findIndex(({ role }) => role === 'tool');
    for (let index = own.length - 1; index >= 0; index -= 1) {
      const message = own.at(index);
      // Messages of earlier requests already have their form.
      if (message === undefined || this.#forms.has(message)) continue;
      if (message.role === 'tool' && isResultKept && results.length > 0) {
        // The host lacks the results of calls that were skipped because it continued without them.
        const missing = message.content.filter((part) => part.type === 'tool-result' && !answered.has(part.toolCallId));
        this.#forms.set(
          message,
          missing.length === 0
            ? { messages: results, index: firstResult, adoption: this.#adoption }
            : { messages: [...results, ...this.#format.write({ ...message, content: missing })] },
        );
      }
      if (message.role !== 'assistant') continue;
      if (answer && !answer.isChanged && forms[0] !== undefined) {
        this.#forms.set(message, { messages: [forms[0]], index: this.#known, adoption: this.#adoption });
      }
      return;
    }
  }

  #read(message: HostMessage, index: number): Message {
    const read = this.#format.read(message);
    this.#forms.set(read, { messages: [message], index, adoption: this.#adoption });
    return read;
  }

  #print(message: HostMessage | undefined): string | undefined {
    return message === undefined ? undefined : JSON.stringify(this.#format.read(message));
  }
}

const resultIds = (message: Message): readonly string[] =>
  message.role === 'tool'
    ? message.content.flatMap((part) => (part.type === 'tool-result' ? [part.toolCallId] : []))
    : [];

const isResultOf = (message: Message | undefined, calls: ReadonlyMap<string, unknown>): boolean =>
  message?.role === 'tool' &&
  message.content.every((part) => part.type === 'tool-result' && calls.has(part.toolCallId));
