import type { TurnEventOf } from './events.js';
import type { AssistantPart, Message } from './messages.js';

/** The ids of the tool calls of a session, of which each may be used once: providers tell calls and results apart by them. */
export class CallIds {
  readonly #used = new Set<string>();
  /** The next number to try behind an id that was used before, so that the thousandth time is found as fast as the second. */
  readonly #numbers = new Map<string, number>();
  /** The content of an answer that has not left yet, as it was handed on. */
  #latest: readonly AssistantPart[] = [];

  constructor(messages: Iterable<Message> = []) {
    for (const { role, content } of messages) {
      if (role !== 'assistant' || typeof content === 'string') continue;
      for (const part of content) if (part.type === 'tool-call') this.#used.add(part.toolCallId);
    }
  }

  /** Notes an id that is used by somebody else: the provider itself, say. */
  note(id: string): void {
    this.#used.add(id);
  }

  has(id: string): boolean {
    return this.#used.has(id);
  }

  /** Takes the id, or the first free number behind it when it is taken. */
  take(id: string): string {
    const free = this.#freeId(id);
    this.#used.add(free);
    return free;
  }

  /** Gives every call of an answer that this side has to run an id of its own; the answer itself where all have one. */
  takeAll(content: readonly AssistantPart[]): readonly AssistantPart[] {
    let isChanged = false;
    const owned = content.map((part): AssistantPart => {
      if (part.type !== 'tool-call' || part.providerExecuted === true) return part;
      const id = this.take(part.toolCallId);
      isChanged ||= id !== part.toolCallId;
      return id === part.toolCallId ? part : { ...part, toolCallId: id };
    });
    this.#latest = isChanged ? owned : content;
    return this.#latest;
  }

  /** The answer as it leaves: the calls that an operator has put into it get ids of their own too. */
  ownedBy(answer: TurnEventOf<'model.response'>): TurnEventOf<'model.response'> {
    const given = this.#latest;
    this.#latest = [];
    if (answer.content === given) return answer;
    for (const part of given) if (part.type === 'tool-call') this.#used.delete(part.toolCallId);
    const content = this.takeAll(answer.content);
    this.#latest = [];
    return content === answer.content ? answer : { ...answer, content };
  }

  #freeId(id: string): string {
    if (id !== '' && !this.#used.has(id)) return id;
    const base = id === '' ? 'call' : id;
    let number = this.#numbers.get(base) ?? 2;
    while (this.#used.has(`${base}-${number}`)) number += 1;
    this.#numbers.set(base, number + 1);
    return `${base}-${number}`;
  }
}
