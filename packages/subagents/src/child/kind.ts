import {
  TurnError,
  type Agent,
  type ApprovalDecision,
  type MaybePromise,
  type TurnEventOf,
  type TurnOperator,
  type TurnPriority,
} from '@h/turn';
import type { AgentPolicy } from '../rights/policy.js';
import type { ChildStatus } from './record.js';

/** A budget that can be shared, such as that of `@h/guardrails`. Usage of a share counts toward the whole. */
export interface SharedBudget {
  share(options?: { readonly name?: string } & Readonly<Record<string, unknown>>): SharedBudget;
  /** Returns whether the usage of a turn counts here. A sub-agent whose turn is not charged to its share is stopped. */
  charges(turn: string): boolean;
}

/** Identity of a sub-agent. */
export interface ChildInfo {
  readonly id: string;
  /** The kind of agent: its name in `agents`. */
  readonly agent: string;
  readonly session: string;
  readonly turn: string;
  readonly task: string;
  /** The session that it works for. */
  readonly parent: string;
  /** The session at the top of the tree. */
  readonly root: string;
  /** From 1. */
  readonly depth: number;
}

/** Input of {@link AgentKind.create}. */
export interface ChildContext<Budget extends SharedBudget = SharedBudget> extends ChildInfo {
  /** Its rights. Build its tools, its sandbox and its hooks from it. */
  readonly policy: AgentPolicy;
  /** Returns whether the policy allows a tool, for use as a toolset. */
  readonly allows: (tool: string) => boolean;
  /**
   * Enforces the policy on calls; see `policyGuard`. It must be the last operator of the agent's pipe, so that nothing
   * rewrites a call after it was judged. An agent with another last operator is not run.
   */
  readonly guard: TurnOperator;
  /**
   * Its share of the parent's budget, for `guardrails({ budget })`. An agent whose turn is not charged to it is stopped
   * before its first step.
   */
  readonly budget: Budget | undefined;
  /** The folder of its copy, if it is isolated. */
  readonly folder: string | undefined;
  /** Aborted when the sub-agent must stop. */
  readonly signal: AbortSignal;
}

/** An agent with a cleanup function. */
export interface DisposableAgent {
  readonly agent: Agent;
  /** Called once, when its turn has ended. */
  readonly dispose: () => MaybePromise<void>;
}

/** A kind of sub-agent that can be spawned. */
export interface AgentKind<Budget extends SharedBudget = SharedBudget> {
  /** Tells the parent's model what the agent is good at and what it delivers. */
  readonly description: string;
  /**
   * Creates the agent: a separate harness for each sub-agent, without `queue()`, because its turn already holds a lane.
   */
  readonly create: (context: ChildContext<Budget>) => MaybePromise<Agent | DisposableAgent>;
  /**
   * Its maximum rights. They are intersected with those of its parent.
   *
   * @defaultValue the policy of its parent
   */
  readonly policy?: Partial<AgentPolicy> | undefined;
  /** @defaultValue `limits.timeoutMs` */
  readonly timeoutMs?: number | undefined;
  /**
   * Whether it works in a copy that `isolate` creates, because it edits files.
   *
   * @defaultValue `false`
   */
  readonly isolate?: boolean | undefined;
  /** @defaultValue `'normal'` */
  readonly priority?: TurnPriority | undefined;
}

/** A copy of a folder for one sub-agent. */
export interface Isolation {
  /** The folder of the copy. */
  readonly folder: string;
  /** The copied folder. Rights in it become rights in the copy. */
  readonly original: string;
  /** Called once, after the sub-agent has ended. The parent receives the result, such as a branch name. */
  readonly finish: (status: ChildStatus) => MaybePromise<string | undefined>;
}

/** An approval request of a sub-agent. */
export interface ChildQuestion {
  readonly child: ChildInfo;
  /** The event of the sub-agent: call, reason, expiry. */
  readonly request: TurnEventOf<'approval.request'>;
  /** Answers the request; returns `false` if it is no longer pending. */
  readonly answer: (decision: ApprovalDecision) => boolean;
}

/**
 * Returns the agent of a result of `create`.
 *
 * @throws TurnError `no-agent`
 */
export const agentOf = (made: Agent | DisposableAgent, kind: string): Agent => {
  const agent: unknown = isObject(made) && 'agent' in made ? made.agent : made;
  if (isObject(agent) && 'turn' in agent && 'operators' in agent) return agent as Agent;
  throw new TurnError(
    'no-agent',
    `create() of the agent ${JSON.stringify(kind)} must return an agent, or { agent, dispose }.`,
  );
};

/** Returns the cleanup function of a result of `create`, if any. */
export const disposeOf = (made: Agent | DisposableAgent): (() => MaybePromise<void>) | undefined =>
  isObject(made) && 'dispose' in made && typeof made.dispose === 'function' ? () => made.dispose() : undefined;

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;
