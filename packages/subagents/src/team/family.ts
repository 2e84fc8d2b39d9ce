import type { Agent, TurnPriority } from '@h/turn';
import type { Deferred } from '../child/deferred.js';
import type { Limits } from '../limits.js';
import type { AgentPolicy } from '../rights/policy.js';
import type { ChildEnd, ChildRecord } from '../child/record.js';
import type { SharedBudget } from '../child/kind.js';
import type { RunPlace } from '../child/run-place.js';

/** The delivery state of a result. */
type Delivery = 'waiting' | 'taken' | 'delivered';

/** A sub-agent that this process knows. */
export interface Child {
  record: ChildRecord;
  /** Its node in the tree. */
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
  /** Its slot among the running sub-agents. */
  readonly place: RunPlace;
  /** Called once it has ended. */
  readonly ended: Deferred<ChildEnd>;
  /** Pending writes of its record. */
  saving: Promise<void>;
}

/** An agent in a tree, identified by its session. */
export interface Member {
  readonly session: string;
  readonly depth: number;
  readonly root: Member;
  /** Its role as a sub-agent; `undefined` for the root. */
  child: Child | undefined;
  /** Its sub-agents whose results were not delivered. */
  readonly children: Set<Child>;
  /** Number of reservations for sub-agents that are being created. */
  reserved: number;
  /** Number of running sub-agents in the tree; counted at the root. */
  alive: number;
  /** Called when one of its sub-agents has ended. */
  readonly listeners: Set<() => void>;
}

/** The reason why a sub-agent was not spawned. */
export type RefusalCode =
  | 'max-depth'
  | 'max-children'
  | 'max-tree'
  | 'unknown-agent'
  | 'invalid-task'
  | 'not-allowed'
  | 'parent-ended'
  | 'not-kept';

/** A refused spawn, which has no effect. */
export interface SpawnRefusal {
  readonly status: 'refused';
  readonly code: RefusalCode;
  readonly reason: string;
  /** The limit that was reached, if any. */
  readonly limit?: number | undefined;
}

/** A reservation in the tree, until a sub-agent uses it or it is released. */
export interface Place {
  readonly parent: Member;
  readonly depth: number;
  take(child: Child): void;
  release(): void;
}

/** All trees of agents, with parents, children and counts. */
export class Family {
  readonly #limits: Limits;
  readonly #members = new Map<string, Member>();

  constructor(limits: Limits) {
    this.#limits = limits;
  }

  /** Number of known agents. */
  get size(): number {
    return this.#members.size;
  }

  all(): readonly Member[] {
    return [...this.#members.values()];
  }

  find(session: string): Member | undefined {
    return this.#members.get(session);
  }

  /** Reserves a node for one more sub-agent after checking all limits, or returns the limit that forbids it. */
  reserve(session: string): Place | SpawnRefusal {
    const known = this.#members.get(session);
    const isEnding = known?.child
      ? known.child.end !== undefined || known.child.abort.signal.aborted
      : !known && isChildSession(session);
    if (isEnding) return refusal('parent-ended', 'The parent agent has ended or is ending.');
    const parent = known ?? createMember(session);
    const { root } = parent;
    const { depth, children, tree } = this.#limits;
    if (parent.depth >= depth) {
      return refusal(
        'max-depth',
        `The maximum depth of sub-agents is ${depth}, and this agent is at it. Do the work yourself.`,
        depth,
      );
    }
    if (parent.children.size + parent.reserved >= children) {
      return refusal(
        'max-children',
        `This agent has ${children} sub-agents, which is the limit; wait for one of them.`,
        children,
      );
    }
    if (root.alive >= tree) {
      return refusal(
        'max-tree',
        `All agents of this task together run ${tree} sub-agents, which is the limit; wait until one has ended.`,
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
      release: () => {
        close();
        root.alive -= 1;
        this.#retire(parent);
      },
    };
  }

  /** Adds a sub-agent whose process died: only its result remains to be delivered. */
  adopt(session: string, childOf: (parent: Member) => Child): Child {
    const parent = this.#members.get(session) ?? createMember(session);
    this.#members.set(session, parent);
    const child = childOf(parent);
    parent.children.add(child);
    return child;
  }

  /** Records that a sub-agent has ended. */
  ended(child: Child): void {
    child.parent.root.alive -= 1;
    this.#retire(child.parent.root);
    for (const listener of Array.from(child.parent.listeners)) listener();
  }

  /** Removes a sub-agent whose result was delivered. */
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

/** Sessions of sub-agents have this prefix, so that a removed one is not mistaken for an agent at the top. */
export const childSession = (id: string): string => `${childPrefix}${id}`;

/**
 * Returns whether a session belongs to a sub-agent. After a crash, finish its turn instead of resuming it: its parent
 * is informed that it was interrupted.
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

/** Returns the running sub-agents of an agent. */
export const aliveOf = (member: Member | undefined): readonly Child[] =>
  member ? [...member.children].filter(({ end }) => end === undefined) : [];

/** Returns sub-agents with unread results. */
export const pendingOf = (member: Member | undefined): readonly Child[] =>
  member
    ? [...member.children].filter(
        ({ end, delivery, record }) => end !== undefined && delivery === 'waiting' && record.receiver === 'parent',
      )
    : [];
