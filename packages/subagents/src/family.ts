import type { Agent, TurnPriority } from '@h/turn';
import type { Deferred } from './deferred.js';
import type { Limits } from './limits.js';
import type { AgentPolicy } from './policy.js';
import type { ChildEnd, ChildRecord } from './record.js';
import type { SharedBudget } from './kind.js';
import type { RunPlace } from './run-place.js';

/** How far the result of a sub-agent has come. */
type Delivery = 'waiting' | 'taken' | 'delivered';

/** A sub-agent that this process knows. */
export interface Child {
  record: ChildRecord;
  /** What it is in the tree. */
  readonly node: Member;
  readonly parent: Member;
  policy: AgentPolicy;
  readonly budget: SharedBudget | undefined;
  readonly priority: TurnPriority;
  readonly abort: AbortController;
  agent: Agent | undefined;
  end: ChildEnd | undefined;
  delivery: Delivery;
  /** When it or its parent's turn runs out of time, in milliseconds since 1970. Set when it begins to work. */
  deadlineAt: number;
  /** Its time is up. */
  isLate: boolean;
  /** Its place among those that work. */
  readonly place: RunPlace;
  /** Told once it has ended. */
  readonly ended: Deferred<ChildEnd>;
  /** The records of it that are being written. */
  saving: Promise<void>;
}

/** An agent in a tree, known by its session. */
export interface Member {
  readonly session: string;
  readonly depth: number;
  readonly root: Member;
  /** Its role as a sub-agent; `undefined` for the root. */
  child: Child | undefined;
  /** Its sub-agents whose results are not delivered. */
  readonly children: Set<Child>;
  /** Places that are kept for sub-agents about to be made. */
  reserved: number;
  /** How many sub-agents the tree has that have not ended; counted at the root. */
  alive: number;
  /** Called when one of its sub-agents has ended. */
  readonly listeners: Set<() => void>;
}

/** Why a sub-agent was not spawned. */
export type RefusalCode =
  | 'max-depth'
  | 'max-children'
  | 'max-tree'
  | 'unknown-agent'
  | 'invalid-task'
  | 'not-allowed'
  | 'parent-ended'
  | 'not-kept';

/** A spawn that was refused. Nothing has happened. */
export interface SpawnRefusal {
  readonly status: 'refused';
  readonly code: RefusalCode;
  readonly reason: string;
  /** The limit that was reached, if any. */
  readonly limit?: number | undefined;
}

/** A place in the tree, kept until a sub-agent takes it or it is given back. */
export interface Place {
  readonly parent: Member;
  readonly depth: number;
  take(child: Child): void;
  giveBack(): void;
}

/** All trees of agents, with parents, children and counts. */
export class Family {
  readonly #limits: Limits;
  readonly #members = new Map<string, Member>();

  constructor(limits: Limits) {
    this.#limits = limits;
  }

  /** How many agents it knows. */
  get size(): number {
    return this.#members.size;
  }

  all(): readonly Member[] {
    return [...this.#members.values()];
  }

  find(session: string): Member | undefined {
    return this.#members.get(session);
  }

  /** Keeps a place for one more sub-agent, against all limits at once, or says which one forbids it. */
  reserve(session: string): Place | SpawnRefusal {
    const known = this.#members.get(session);
    const isEnding = known?.child
      ? known.child.end !== undefined || known.child.abort.signal.aborted
      : !known && isChildSession(session);
    if (isEnding) return refusal('parent-ended', 'The agent that wants it has ended, or is about to.');
    const parent = known ?? createMember(session);
    const { root } = parent;
    const { depth, children, tree } = this.#limits;
    if (parent.depth >= depth) {
      return refusal('max-depth', `Sub-agents may be ${depth} deep, and this one is. Do the work yourself.`, depth);
    }
    if (parent.children.size + parent.reserved >= children) {
      return refusal('max-children', `There are ${children} sub-agents already; wait for one of them.`, children);
    }
    if (root.alive >= tree) {
      return refusal(
        'max-tree',
        `All agents of this task together have ${tree} sub-agents under way; wait until one has ended.`,
        tree,
      );
    }
    this.#members.set(session, parent);
    parent.reserved += 1;
    root.alive += 1;
    let isOpen = true;
    const close = (): void => {
      if (isOpen) parent.reserved -= 1;
      isOpen = false;
    };
    return {
      parent,
      depth: parent.depth + 1,
      take: (child) => {
        close();
        parent.children.add(child);
        this.#members.set(child.node.session, child.node);
      },
      giveBack: () => {
        close();
        root.alive -= 1;
        this.#retire(parent);
      },
    };
  }

  /** Takes in a sub-agent of a process that died: it has ended and only its result is to be delivered. */
  adopt(session: string, childOf: (parent: Member) => Child): Child {
    const parent = this.#members.get(session) ?? createMember(session);
    this.#members.set(session, parent);
    const child = childOf(parent);
    parent.children.add(child);
    return child;
  }

  /** A sub-agent works no longer. */
  ended(child: Child): void {
    child.parent.root.alive -= 1;
    this.#retire(child.parent.root);
    for (const listener of Array.from(child.parent.listeners)) listener();
  }

  /** Forgets a sub-agent whose result was delivered. */
  forget(child: Child): void {
    child.parent.children.delete(child);
    this.#retire(child.node);
    this.#retire(child.parent);
  }

  #retire(member: Member): void {
    const isNeeded =
      member.children.size > 0 ||
      member.reserved > 0 ||
      (member.child !== undefined && member.child.parent.children.has(member.child));
    if (!isNeeded && (member.root !== member || member.alive === 0) && this.#members.get(member.session) === member) {
      this.#members.delete(member.session);
    }
  }
}

/** The session of a sub-agent. Such names belong to sub-agents: one that is known no longer is no agent at the top. */
export const childSession = (id: string): string => `${childPrefix}${id}`;

/**
 * Returns whether a session belongs to a sub-agent. After a crash, finish its turn instead of resuming it: its parent is informed that it
 * was interrupted.
 *
 * @example
 * ```ts
 * await recoverTurns(agent, { policy: 'ask', ask: ({ session }) => (isChildSession(session) ? 'finish' : 'resume') });
 * ```
 */
export const isChildSession = (session: string): boolean => session.startsWith(childPrefix);

const childPrefix = 'subagent-';

export const refusal = (code: RefusalCode, reason: string, limit?: number): SpawnRefusal => ({
  status: 'refused',
  code,
  reason,
  ...(limit !== undefined && { limit }),
});

export const createMember = (session: string, parent?: Member): Member => {
  const member = {
    session,
    depth: parent ? parent.depth + 1 : 0,
    child: undefined,
    children: new Set<Child>(),
    reserved: 0,
    alive: 0,
    listeners: new Set<() => void>(),
  };
  return Object.assign(member, { root: parent?.root ?? (member as unknown as Member) });
};

/** The sub-agents of an agent that have not ended. */
export const aliveOf = (member: Member | undefined): readonly Child[] =>
  member ? [...member.children].filter(({ end }) => end === undefined) : [];

/** Sub-agents with unread results. */
export const pendingOf = (member: Member | undefined): readonly Child[] =>
  member
    ? [...member.children].filter(
        ({ end, delivery, record }) => end !== undefined && delivery === 'waiting' && record.receiver === 'parent',
      )
    : [];
