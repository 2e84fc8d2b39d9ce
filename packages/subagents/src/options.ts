import type { MaybePromise, ToolCall, TurnEvent } from '@h/turn';
import type { SchedulerLike } from 'rxjs';
import type { KeepSessions } from './team/ended-sessions.js';
import type { WrapEvidence } from './child/evidence.js';
import type { AgentKind, ChildInfo, ChildQuestion, Isolation, SharedBudget } from './child/kind.js';
import type { ChildLanes } from './lanes.js';
import type { SubagentLimits } from './limits.js';
import type { Aliases } from './rights/patterns.js';
import type { AgentPolicy } from './rights/policy.js';
import type { CallReach } from './rights/reach.js';
import type { ChildEnd, ChildStore } from './child/record.js';

/** Stores results that are too long, as the artifact stores of `@h/tools` do. */
export interface ResultArtifacts {
  put(artifact: {
    readonly session: string;
    readonly content: string;
    readonly external: boolean;
  }): MaybePromise<{ readonly id: string }>;
}

/**
 * What happens to running sub-agents when their parent's turn is done.
 *
 * | value | meaning |
 * |---|---|
 * | `wait` | the parent's turn ends after them; each result resumes its work |
 * | `detach` | they continue; the parent's next turn, which `wake` may start, receives the results. A parent that is a sub-agent has no next turn and waits |
 * | `cancel` | they are cancelled, and the parent's next turn is informed |
 */
export type ParentEnd = 'wait' | 'detach' | 'cancel';

/** Options of {@link subagents}. */
export interface SubagentsOptions<Budget extends SharedBudget = SharedBudget> {
  /** The kinds of agents that can be spawned, by name. */
  readonly agents: Readonly<Record<string, AgentKind<Budget>>>;
  /** Limits of depth, number, time and results. */
  readonly limits?: SubagentLimits | undefined;
  /**
   * Rights of the agents at the top, which limit those of all sub-agents; one policy, or one for each session.
   *
   * @defaultValue {@link unrestricted}
   */
  readonly policy?: AgentPolicy | ((session: string) => AgentPolicy) | undefined;
  /**
   * Aliases of tools, from alias to name.
   *
   * @defaultValue `{}`
   */
  readonly aliases?: Aliases | undefined;
  /**
   * Returns the files and hosts that a call of a sub-agent reaches, so that its guard can compare them with the policy.
   * Return `{}` for a tool that was built from the policy ({@link confinement}), and `undefined` to judge the call by
   * what its tool declares.
   *
   * @defaultValue each call is judged by the effect and the paths that its tool declares
   */
  readonly reachOf?:
    | ((call: ToolCall, child: ChildInfo & { readonly folder: string | undefined }) => CallReach | undefined)
    | undefined;
  /** The budget of the agents at the top, which sub-agents share; one budget, or one for each session. */
  readonly budget?: Budget | ((session: string) => Budget | undefined) | undefined;
  /**
   * The lanes that the turns of parents use.
   *
   * @defaultValue none: only `limits.concurrency` applies
   */
  readonly lanes?: ChildLanes | undefined;
  /**
   * Stores records, so that `recover()` finds sub-agents whose process died; `fileChildStore` of
   * `@h/subagents/file-store` stores them in files.
   *
   * @defaultValue none
   */
  readonly store?: ChildStore | undefined;
  /**
   * Limits the stored sessions of ended sub-agents. The oldest ones beyond `latest` are removed in the background:
   * those that existed when the first sub-agent ended, and later ones of this process. A session in use is retried when
   * others end.
   *
   * @defaultValue all sessions stay in the store, because they are the only record of what sub-agents did
   */
  readonly keepSessions?: KeepSessions | undefined;
  /**
   * Stores long results.
   *
   * @defaultValue none: text beyond `limits.resultChars` is lost
   */
  readonly artifacts?: ResultArtifacts | undefined;
  /**
   * Marks results as untrusted evidence, as `wrapExternal` of `@h/security` does.
   *
   * @defaultValue {@link quoteEvidence}
   */
  readonly wrap?: WrapEvidence | undefined;
  /** Creates the copy of a folder for a sub-agent whose kind has `isolate`. */
  readonly isolate?: ((child: ChildInfo, signal: AbortSignal) => MaybePromise<Isolation>) | undefined;
  /**
   * Receives approval requests of sub-agents whose parent has no turn. Otherwise a request enters the parent's turn as
   * `approval.request` and is answered with `agent.answer()` of the parent.
   *
   * @defaultValue none: without a turn of the parent the request is denied
   */
  readonly onApproval?: ((question: ChildQuestion) => void) | undefined;
  /**
   * What happens to sub-agents when their parent's turn is done.
   *
   * @defaultValue `'wait'`, because it loses no work: an app that exits after the turn would kill detached sub-agents
   */
  readonly parentEnd?: ParentEnd | undefined;
  /** Called when results arrive for an agent at the top that has no turn. Start a turn, and it receives them first. */
  readonly wake?: ((session: string, ended: readonly ChildEnd[]) => void) | undefined;
  /** Called with a result that is dropped because there are more than `limits.unread`. */
  readonly onForgotten?: ((end: ChildEnd) => void) | undefined;
  /** Receives all events of sub-agents. */
  readonly onEvent?: ((child: ChildInfo, event: TurnEvent) => void) | undefined;
  /**
   * The clock and the timers.
   *
   * @defaultValue `asyncScheduler`
   */
  readonly scheduler?: SchedulerLike | undefined;
  /**
   * Creates the ids of sub-agents and of their turns.
   *
   * @defaultValue `crypto.randomUUID`
   */
  readonly newId?: (() => string) | undefined;
}
