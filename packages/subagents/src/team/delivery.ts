import type { JSONValue, Message, MessageList, ToolResultOutput, UserMessage } from '@h/turn';
import { describeEnd, type WrapEvidence } from '../child/evidence.js';
import { pendingOf, type Child, type Family, type Member } from './family.js';
import type { ChildEnd } from '../child/record.js';
import type { Records } from '../child/records.js';
import type { Unread } from './unread.js';

/** A sub-agent that has ended. */
export type EndedChild = Child & { readonly end: ChildEnd };

/** Options of {@link Delivery}. */
export interface DeliveryHost {
  readonly family: Family;
  readonly records: Records;
  readonly unread: Unread;
  readonly wrap: WrapEvidence;
  /** Maximum number of results per message; after a crash there may be too many for one. */
  readonly atOnce: number;
}

/**
 * Delivers each result to its parent once, with a message or a tool call. A result is forgotten only when it is in the
 * journal of the parent; until then it can be delivered again.
 */
export class Delivery {
  readonly #host: DeliveryHost;

  constructor(host: DeliveryHost) {
    this.#host = host;
  }

  pending(member: Member | undefined): readonly EndedChild[] {
    return pendingOf(member) as readonly EndedChild[];
  }

  /** Returns the results to deliver next. */
  next(member: Member | undefined): readonly EndedChild[] {
    return this.pending(member).slice(0, this.#host.atOnce);
  }

  /** Assigns these results to a message. */
  message(children: readonly EndedChild[]): UserMessage {
    for (const child of children) child.delivery = 'taken';
    const metadata = { internal: true, subagents: children.map(({ record }) => record.id) };
    return { role: 'user', content: this.text(children), metadata };
  }

  /** Assigns these results to the answer of a tool call. */
  async answer(children: readonly EndedChild[], call: string): Promise<string> {
    for (const child of children) child.delivery = 'taken';
    await Promise.all(children.map((child) => this.#host.records.change(child, { takenBy: call })));
    // A later truncation keeps the beginning.
    return `Results of ${children.map(({ record }) => record.id).join(', ')}\n\n${this.text(children)}`;
  }

  text(children: readonly EndedChild[]): string {
    return children.map(({ end }) => describeEnd(end, this.#host.wrap)).join('\n\n');
  }

  /** Returns results that were not delivered to the queue. */
  requeue(children: Iterable<Child>): void {
    for (const child of children) if (child.delivery === 'taken') child.delivery = 'waiting';
  }

  /** Removes results that were delivered. */
  forget(children: Iterable<Child>): void {
    for (const child of children) {
      child.delivery = 'delivered';
      this.#host.family.forget(child);
      this.#host.unread.delete(child);
      void this.#host.records.remove(child);
    }
  }

  /** Returns the sub-agents whose results the messages contain: an earlier process delivered them before it died. */
  deliveredIn(messages: Iterable<Message>, children: readonly EndedChild[]): readonly EndedChild[] {
    return childrenWithResultIn(messages, children, isAnswerOf);
  }

  /**
   * Returns which of these results have just entered a history. Only the latest messages are searched if they contain
   * them.
   */
  arrivedIn(messages: MessageList, children: readonly Child[]): readonly Child[] {
    const latest = childrenWithResultIn(messages.slice(-latestMessages), children, isAnswer);
    return latest.length === children.length ? latest : childrenWithResultIn(messages, children, isAnswer);
  }
}

const latestMessages = 16;

/** Returns the sub-agents whose results the messages contain: as pushed results, or as the answer of a `wait` call. */
const childrenWithResultIn = <Each extends Child>(
  messages: Iterable<Message>,
  children: readonly Each[],
  isResult: (output: ToolResultOutput, id: string) => boolean,
): readonly Each[] => {
  if (children.length === 0) return [];
  const ids = new Set<JSONValue>();
  for (const message of messages) {
    for (const id of idsIn(message)) ids.add(id);
    if (message.role !== 'tool') continue;
    for (const part of message.content) {
      if (part.type !== 'tool-result') continue;
      for (const { record } of children) {
        if (record.takenBy === part.toolCallId && isResult(part.output, record.id)) ids.add(record.id);
      }
    }
  }
  return children.filter(({ record }) => ids.has(record.id));
};

/** Returns the ids of the sub-agents whose results a message contains. */
export const idsIn = (message: Message): readonly JSONValue[] => {
  const ids = message.role === 'user' ? message.metadata?.['subagents'] : undefined;
  return Array.isArray(ids) ? (ids as readonly JSONValue[]) : [];
};

const isAnswer = ({ type }: ToolResultOutput): boolean => type === 'text' || type === 'content' || type === 'json';

/** Call ids may repeat within a session, so the answer must name the sub-agent, as its first line does. */
const isAnswerOf = (output: ToolResultOutput, id: string): boolean =>
  isAnswer(output) && JSON.stringify(output).includes(id);
