import type { MaybePromise, ToolCall, TurnEvent } from '@h/turn';
import type { SchedulerLike } from 'rxjs';
import type { KeepSessions } from './ended-sessions.js';
import type { WrapEvidence } from './evidence.js';
import type { AgentKind, ChildInfo, ChildQuestion, Isolation, SharedBudget } from './kind.js';
import type { ChildLanes } from './lanes.js';
import type { SubagentLimits } from './limits.js';
import type { Aliases } from './patterns.js';
import type { AgentPolicy } from './policy.js';
import type { CallReach } from './reach.js';
import type { ChildEnd, ChildStore } from './record.js';

/** Keeps what is too long to be read at once; the stores of `@h/tools` do. */
export interface ResultArtifacts {
  put(artifact: {
    readonly session: string;
    readonly content: string;
    readonly external: boolean;
  }): MaybePromise<{ readonly id: string }>;
}

/**
 * What becomes of sub-agents that are under way when their parent is done.
 *
 * | value | meaning |
 * |---|---|
 * | `wait` | the parent's turn does not end before them; each result sets it to work again |
 * | `detach` | they go on; the results come with the parent's next turn, which `wake` may begin. A sub-agent has no next turn, so it waits |
 * | `cancel` | they are cancelled, which the parent's next turn is told |
 */
export type ParentEnd = 'wait' | 'detach' | 'cancel';

/** Options of {@link subagents}. */
export interface SubagentsOptions<Budget extends SharedBudget = SharedBudget> {
  /** The kinds of agents that can be spawned, by name. */
  readonly agents: Readonly<Record<string, AgentKind<Budget>>>;
  readonly limits?: SubagentLimits | undefined;
  /**
   * What the agents at the top may do, of which sub-agents get a part; for all, or by session.
   *
   * @defaultValue {@link unrestricted}
   */
  readonly policy?: AgentPolicy | ((session: string) => AgentPolicy) | undefined;
  /**
   * Other names of tools, as other name → own name.
   *
   * @defaultValue `{}`
   */
  readonly aliases?: Aliases | undefined;
  /**
   * What a call of a sub-agent reaches for, so that its guard can compare it with its policy: `{}` for a tool that keeps to the
   * policy by itself, because its workspace or its sandbox was made from it ({@link confinement}).
   *
   * @defaultValue known of no call: each is judged by the effect that its tool declares
   */
  readonly reachOf?:
    | ((call: ToolCall, child: ChildInfo & { readonly folder: string | undefined }) => CallReach | undefined)
    | undefined;
  /** The budget of the agents at the top, of which sub-agents get shares; for all, or by session. */
  readonly budget?: Budget | ((session: string) => Budget | undefined) | undefined;
  /**
   * Where turns line up: the lanes that the parents use.
   *
   * @defaultValue none: only `limits.concurrency` holds
   */
  readonly lanes?: ChildLanes | undefined;
  /**
   * Where records are kept, so that `recover()` finds those whose process died; `fileChildStore` of `@h/subagents/file-store`
   * keeps them in files.
   *
   * @defaultValue nowhere
   */
  readonly store?: ChildStore | undefined;
  /**
   * How many sessions of sub-agents that have ended are kept, and in what store they lie. Those beyond are removed, the oldest
   * first, in the background: of those that were there when the first sub-agent ended, and of its own since. One that is in
   * use is tried again when others end.
   *
   * @defaultValue all stay in your store: whoever wants to see what a sub-agent did finds it nowhere else
   */
  readonly keepSessions?: KeepSessions | undefined;
  /**
   * Where long results are kept.
   *
   * @defaultValue nowhere: what is over `limits.resultChars` is cut
   */
  readonly artifacts?: ResultArtifacts | undefined;
  /**
   * Marks results as evidence; `wrapExternal` of `@h/security` does.
   *
   * @defaultValue {@link quoteEvidence}
   */
  readonly wrap?: WrapEvidence | undefined;
  /** Makes the copy in which a sub-agent works whose kind says `isolate`. */
  readonly isolate?: ((child: ChildInfo, signal: AbortSignal) => MaybePromise<Isolation>) | undefined;
  /**
   * Asked what a sub-agent wants a person to approve while its parent has no turn. Otherwise the question enters the parent's
   * turn as `approval.request`, to be answered by `agent.answer()` of the parent.
   *
   * @defaultValue nobody: without a turn of the parent the answer is no
   */
  readonly onApproval?: ((question: ChildQuestion) => void) | undefined;
  /**
   * What becomes of sub-agents when their parent is done.
   *
   * @defaultValue `'wait'`, the only one that loses nothing in an app that does nothing for it: one that exits after the
   *   turn would kill what is detached, and nobody asked for a cancellation
   */
  readonly parentEnd?: ParentEnd | undefined;
  /** Told that there are results for an agent at the top that has no turn. Begin one, and it reads them first. */
  readonly wake?: ((session: string, ended: readonly ChildEnd[]) => void) | undefined;
  /** Told of a result that nobody will read: there were more than `limits.unread`. */
  readonly onForgotten?: ((end: ChildEnd) => void) | undefined;
  /** Shown all events of sub-agents. */
  readonly onEvent?: ((child: ChildInfo, event: TurnEvent) => void) | undefined;
  /**
   * The clock and the timers.
   *
   * @defaultValue `asyncScheduler`
   */
  readonly scheduler?: SchedulerLike | undefined;
  /**
   * Makes ids of sub-agents and of their turns.
   *
   * @defaultValue `crypto.randomUUID`
   */
  readonly newId?: (() => string) | undefined;
}
