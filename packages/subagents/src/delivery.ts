import type { JSONValue, Message, ToolResultOutput, UserMessage } from '@h/turn';
import { describeEnd, type WrapEvidence } from './evidence.js';
import { pendingOf, type Child, type Family, type Member } from './family.js';
import type { ChildEnd } from './record.js';
import type { Records } from './records.js';

/** A sub-agent that has ended. */
export type EndedChild = Child & { readonly end: ChildEnd };

/**
 * Brings results to parents, each once: a result is taken by one message or by one tool call, and is forgotten only when that
 * is in the journal of the parent. What did not get there is there to be taken again.
 */
export class Delivery {
  readonly #family: Family;
  readonly #records: Records;
  readonly #wrap: WrapEvidence;

  constructor(family: Family, records: Records, wrap: WrapEvidence) {
    this.#family = family;
    this.#records = records;
    this.#wrap = wrap;
  }

  pending(member: Member | undefined): readonly EndedChild[] {
    return pendingOf(member) as readonly EndedChild[];
  }

  /** Takes these results for a message to their parent. */
  message(children: readonly EndedChild[]): UserMessage {
    for (const child of children) child.delivery = 'taken';
    const metadata = { internal: true, subagents: children.map(({ record }) => record.id) };
    return { role: 'user', content: this.text(children), metadata };
  }

  /** Takes these results for the answer to a tool call. */
  async answer(children: readonly EndedChild[], call: string): Promise<string> {
    for (const child of children) child.delivery = 'taken';
    await Promise.all(children.map((child) => this.#records.change(child, { takenBy: call })));
    return this.text(children);
  }

  text(children: readonly EndedChild[]): string {
    return children.map(({ end }) => describeEnd(end, this.#wrap)).join('\n\n');
  }

  /** Gives back what did not get there. */
  giveBack(children: Iterable<Child>): void {
    for (const child of children) if (child.delivery === 'taken') child.delivery = 'waiting';
  }

  /** They got there: they are known no longer. */
  forget(children: Iterable<Child>): void {
    for (const child of children) {
      child.delivery = 'delivered';
      this.#family.forget(child);
      void this.#records.remove(child);
    }
  }

  /** Which of these the messages tell of: those that a process told before it died. */
  toldIn(messages: Iterable<Message>, children: readonly EndedChild[]): readonly EndedChild[] {
    if (children.length === 0) return [];
    const told = new Set<JSONValue>();
    for (const message of messages) {
      for (const id of idsIn(message)) told.add(id);
      if (message.role !== 'tool') continue;
      for (const part of message.content) {
        if (part.type !== 'tool-result') continue;
        for (const { record } of children) if (record.takenBy === part.toolCallId && tells(part.output, record.id)) told.add(record.id);
      }
    }
    return children.filter(({ record }) => told.has(record.id));
  }
}

/** The sub-agents that a message brings the results of. */
export const idsIn = (message: Message): readonly JSONValue[] => {
  const ids = message.role === 'user' ? message.metadata?.['subagents'] : undefined;
  return Array.isArray(ids) ? (ids as readonly JSONValue[]) : [];
};

const tells = (output: ToolResultOutput, id: string): boolean => output.type === 'text' && output.value.includes(id);
