import {
  TurnError,
  type Agent,
  type ApprovalDecision,
  type MaybePromise,
  type TurnEventOf,
  type TurnOperator,
  type TurnPriority,
} from '@h/turn';
import type { AgentPolicy } from './policy.js';
import type { ChildStatus } from './record.js';

/** A budget of which parts can be given away; the one of `@h/guardrails` is one. What is spent of a share is spent of the whole. */
export interface SharedBudget {
  share(options?: { readonly name?: string } & Readonly<Record<string, unknown>>): SharedBudget;
  /** Whether what a turn uses is counted here. A sub-agent whose turn is not charged to its share is stopped. */
  charges(turn: string): boolean;
}

/** Who a sub-agent is. */
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

/** What a sub-agent is made from. */
export interface ChildContext<Budget extends SharedBudget = SharedBudget> extends ChildInfo {
  /** All that it may do. Build its tools, its sandbox and its hooks after it. */
  readonly policy: AgentPolicy;
  /** Whether the policy lets it call a tool: for a toolset. */
  readonly allows: (tool: string) => boolean;
  /**
   * Enforces the policy on calls: tools, approvals, and paths and hosts as far as `reachOf` or the effects of tools tell of them.
   * It has to be the last one in the pipe of the agent, so that nothing rewrites calls that it has judged; an agent of which it
   * is not the last one is not run.
   */
  readonly guard: TurnOperator;
  /**
   * Its share of the parent's budget, where there is one: for `guardrails({ budget })`. An agent whose turn is not charged to
   * it is stopped before its first step.
   */
  readonly budget: Budget | undefined;
  /** The folder of its copy, where it works in one. */
  readonly folder: string | undefined;
  /** Aborted when it is to stop. */
  readonly signal: AbortSignal;
}

/** An agent with something to clean up. */
export interface DisposableAgent {
  readonly agent: Agent;
  /** Called once, when its turn is over. */
  readonly dispose: () => MaybePromise<void>;
}

/** A kind of sub-agent that can be spawned. */
export interface AgentKind<Budget extends SharedBudget = SharedBudget> {
  /** For the parent's model: what it is good at, what it delivers. */
  readonly description: string;
  /** Makes the agent. A harness of its own for each sub-agent, without `queue()`: the turn runs in its lane already. */
  readonly create: (context: ChildContext<Budget>) => MaybePromise<Agent | DisposableAgent>;
  /**
   * What it may do at most. What its parent may not do it may not do either.
   *
   * @defaultValue as its parent
   */
  readonly policy?: Partial<AgentPolicy> | undefined;
  /** @defaultValue `limits.timeoutMs` */
  readonly timeoutMs?: number | undefined;
  /**
   * It edits files, so it works in a copy that the hook `isolate` makes.
   *
   * @defaultValue `false`
   */
  readonly isolate?: boolean | undefined;
  /** @defaultValue `'normal'` */
  readonly priority?: TurnPriority | undefined;
}

/** A copy to work in. */
export interface Isolation {
  /** The folder of the copy. */
  readonly folder: string;
  /** The folder that it is a copy of: rights in it become rights in the copy. */
  readonly original: string;
  /** Called once, when the sub-agent is done with it. What it answers is told to the parent: a branch, say. */
  readonly finish: (status: ChildStatus) => MaybePromise<string | undefined>;
}

/** A question of a sub-agent to the user. */
export interface ChildQuestion {
  readonly child: ChildInfo;
  /** Its own event: the call, the reason, when it expires. */
  readonly request: TurnEventOf<'approval.request'>;
  /** Answers it; `false` when it is no question any more. */
  readonly answer: (decision: ApprovalDecision) => boolean;
}

/**
 * The agent of what `create` answered.
 *
 * @throws TurnError `no-agent`
 */
export const agentOf = (made: Agent | DisposableAgent, kind: string): Agent => {
  const agent: unknown = isObject(made) && 'agent' in made ? made.agent : made;
  if (isObject(agent) && 'turn' in agent && 'operators' in agent) return agent as Agent;
  throw new TurnError(
    'no-agent',
    `create() of the agent ${JSON.stringify(kind)} answers with an agent, or with { agent, dispose }.`,
  );
};

/** What has to be called when the agent is done with. */
export const disposeOf = (made: Agent | DisposableAgent): (() => MaybePromise<void>) | undefined =>
  isObject(made) && 'dispose' in made && typeof made.dispose === 'function' ? () => made.dispose() : undefined;

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;
