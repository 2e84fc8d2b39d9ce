import type { JSONValue, Message, MessageList, ToolResultOutput, UserMessage } from '@h/turn';
import { describeEnd, type WrapEvidence } from './evidence.js';
import { pendingOf, type Child, type Family, type Member } from './family.js';
import type { ChildEnd } from './record.js';
import type { Records } from './records.js';
import type { Unread } from './unread.js';

/** A sub-agent that has ended. */
export type EndedChild = Child & { readonly end: ChildEnd };

/** What bringing results takes. */
export interface DeliveryHost {
  readonly family: Family;
  readonly records: Records;
  readonly unread: Unread;
  readonly wrap: WrapEvidence;
  /** How many results a message brings. After a crash there may be more than one could read. */
  readonly atOnce: number;
}

/**
 * Brings results to parents, each once: a result is taken by one message or by one tool call, and is forgotten only when that
 * is in the journal of the parent. What did not get there is there to be taken again.
 */
export class Delivery {
  readonly #host: DeliveryHost;

  constructor(host: DeliveryHost) {
    this.#host = host;
  }

  pending(member: Member | undefined): readonly EndedChild[] {
    return pendingOf(member) as readonly EndedChild[];
  }

  /** Those that come next. */
  next(member: Member | undefined): readonly EndedChild[] {
    return this.pending(member).slice(0, this.#host.atOnce);
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
    await Promise.all(children.map((child) => this.#host.records.change(child, { takenBy: call })));
    // What is cut later on keeps its beginning.
    return `Results of ${children.map(({ record }) => record.id).join(', ')}\n\n${this.text(children)}`;
  }

  text(children: readonly EndedChild[]): string {
    return children.map(({ end }) => describeEnd(end, this.#host.wrap)).join('\n\n');
  }

  /** Gives back what did not get there. */
  giveBack(children: Iterable<Child>): void {
    for (const child of children) if (child.delivery === 'taken') child.delivery = 'waiting';
  }

  /** They got there: they are known no longer. */
  forget(children: Iterable<Child>): void {
    for (const child of children) {
      child.delivery = 'delivered';
      this.#host.family.forget(child);
      this.#host.unread.delete(child);
      void this.#host.records.remove(child);
    }
  }

  /** Returns the sub-agents whose results the messages contain: an earlier process delivered them before it died. */
  toldIn(messages: Iterable<Message>, children: readonly EndedChild[]): readonly EndedChild[] {
    return told(messages, children, tells);
  }

  /** Which of these got into a history just now: its latest messages say so, the others are read only where they do not. */
  arrivedIn(messages: MessageList, children: readonly Child[]): readonly Child[] {
    const latest = told(messages.slice(-latestMessages), children, isAnswer);
    return latest.length === children.length ? latest : told(messages, children, isAnswer);
  }
}

const latestMessages = 16;

/** Returns the sub-agents whose results the messages contain: as pushed results, or as the answer of a `wait` call. */
const told = <Each extends Child>(
  messages: Iterable<Message>,
  children: readonly Each[],
  isTold: (output: ToolResultOutput, id: string) => boolean,
): readonly Each[] => {
  if (children.length === 0) return [];
  const ids = new Set<JSONValue>();
  for (const message of messages) {
    for (const id of idsIn(message)) ids.add(id);
    if (message.role !== 'tool') continue;
    for (const part of message.content) {
      if (part.type !== 'tool-result') continue;
      for (const { record } of children) {
        if (record.takenBy === part.toolCallId && isTold(part.output, record.id)) ids.add(record.id);
      }
    }
  }
  return children.filter(({ record }) => ids.has(record.id));
};

/** The sub-agents that a message brings the results of. */
export const idsIn = (message: Message): readonly JSONValue[] => {
  const ids = message.role === 'user' ? message.metadata?.['subagents'] : undefined;
  return Array.isArray(ids) ? (ids as readonly JSONValue[]) : [];
};

const isAnswer = ({ type }: ToolResultOutput): boolean => type === 'text' || type === 'content' || type === 'json';

/** Call ids may repeat within a session, so the answer must name the sub-agent, as its first line does. */
const tells = (output: ToolResultOutput, id: string): boolean =>
  isAnswer(output) && JSON.stringify(output).includes(id);
