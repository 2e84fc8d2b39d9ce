import type { AssistantPart, Message } from '../contract/messages.js';

/** The ids of the tool calls of a session. Each is used once, because providers match calls and results by id. */
export class CallIds {
  readonly #used = new Set<string>();
  /** The next number to try for an id that is in use, so that claiming it takes constant time. */
  readonly #numbers = new Map<string, number>();
  /** The content returned for the answer that is still in the pipeline. */
  #latest: readonly AssistantPart[] = [];

  constructor(messages: Iterable<Message> = []) {
    for (const { role, content } of messages) {
      if (role !== 'assistant' || typeof content === 'string') continue;
      for (const part of content) if (part.type === 'tool-call') this.#used.add(part.toolCallId);
    }
  }

  /** Marks an id as used by another party, such as the provider. */
  note(id: string): void {
    this.#used.add(id);
  }

  has(id: string): boolean {
    return this.#used.has(id);
  }

  /** Claims the id or, if it is in use, the id with the next free number. */
  claim(id: string): string {
    const free = this.#freeId(id);
    this.#used.add(free);
    return free;
  }

  /** Gives every call for the client a unique id; returns the same array if no id changes. */
  claimAll(content: readonly AssistantPart[]): readonly AssistantPart[] {
    let isChanged = false;
    const owned = content.map((part): AssistantPart => {
      if (part.type !== 'tool-call' || part.providerExecuted === true) return part;
      const id = this.claim(part.toolCallId);
      isChanged ||= id !== part.toolCallId;
      return id === part.toolCallId ? part : { ...part, toolCallId: id };
    });
    this.#latest = isChanged ? owned : content;
    return this.#latest;
  }

  /** Returns the answer with unique ids, also for calls that an operator added. */
  withUniqueIds<Answer extends { readonly content: readonly AssistantPart[] }>(answer: Answer): Answer {
    const given = this.#latest;
    this.#latest = [];
    if (answer.content === given) return answer;
    for (const part of given) if (part.type === 'tool-call') this.#used.delete(part.toolCallId);
    const content = this.claimAll(answer.content);
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
