import type { TurnOperator } from '@h/turn';
import { checkSubagents } from './check-subagents.js';
import './events.js';
import { aliveOf, pendingOf, type SpawnRefusal } from './team/family.js';
import type { SharedBudget } from './child/kind.js';
import type { SubagentsOptions } from './options.js';
import { recover, type Orphan, type RecoverOptions } from './child/recover.js';
import type { ChildRecord, ChildStatus } from './child/record.js';
import type { Spawned, SpawnRequest } from './child/spawned.js';
import { Team } from './team/team.js';
import { spawnTool, waitTool, type SubagentTool } from './tools.js';
import { turnChildren } from './team/turn-children.js';

/** A sub-agent whose result was not delivered. */
export interface ChildSnapshot extends Pick<ChildRecord, 'id' | 'agent' | 'task' | 'session' | 'turn' | 'depth'> {
  readonly status: 'under-way' | ChildStatus;
}

/** The operator, its tools and methods for code. One object for all agents of a tree. */
export interface Subagents extends TurnOperator {
  /** `spawn` and `wait`, for all agents of a tree: `tools.map(defineTool)`. */
  readonly tools: readonly [spawn: SubagentTool, wait: SubagentTool];
  /**
   * Spawns a sub-agent. Returns a refusal instead of throwing.
   *
   * @throws InvalidOptionError `invalid-option` for an invalid policy
   */
  spawn(request: SpawnRequest): Promise<Spawned | SpawnRefusal>;
  /** Lists the sub-agents of a session whose results were not delivered. */
  list(session: string): readonly ChildSnapshot[];
  /**
   * Cancels the sub-agents of a session, or one of them, with all below. Resolves when they have ended, after at most
   * `limits.graceMs` and the time of the store.
   */
  cancel(session: string, options?: { readonly child?: string; readonly reason?: string }): Promise<void>;
  /**
   * Finds sub-agents whose process died and informs their parents. Call it once, before turns begin or are resumed. Do
   * not resume turns of sub-agents that never ended: their parents are informed that they were interrupted.
   */
  recover(options?: RecoverOptions): Promise<readonly Orphan[]>;
  /** Drops the undelivered results of a session that will have no further turn. */
  forget(session: string): void;
  /** Refuses new sub-agents and cancels all running ones. Resolves when they have ended. */
  close(reason?: string): Promise<void>;
}

/**
 * Creates a team of sub-agents: the tools that spawn them, and the operator of every agent that spawns.
 *
 * A sub-agent runs as a separate turn in a separate session and lane, with no more rights than its parent. Each result
 * enters the parent's history once, with its next step. The parent's turn ends after its sub-agents, unless `parentEnd`
 * differs. If the parent's turn is stopped, they are cancelled.
 *
 * @throws InvalidOptionError `invalid-option`
 *
 * @example
 * ```ts
 * const team = subagents({
 *   agents: { explore: { description: 'Reads and reports.', create: ({ guard }) => harness({ model, tools }).pipe(team, guard) } },
 * });
 * const agent = harness({ model, tools: toolDriver([...own, ...team.tools.map(defineTool)]) }).pipe(team);
 * ```
 */
export const subagents = <Budget extends SharedBudget = SharedBudget>(options: SubagentsOptions<Budget>): Subagents => {
  // A share has the type of its budget, so create() receives what its type declares.
  const plain = options as unknown as SubagentsOptions;
  checkSubagents(plain);
  const team = new Team(plain);
  const tools = [spawnTool(team), waitTool(team)] as const;
  /** Recoveries run one after another, so that no record is found twice. */
  let recovered: Promise<unknown> = Promise.resolve();
  const members: Omit<Subagents, keyof TurnOperator> = {
    tools,
    spawn: (request) => team.spawn(request),
    list: (session) =>
      [...(team.family.find(session)?.children ?? [])].map(
        ({ record: { id, agent, task, session: own, turn, depth }, end }) => ({
          id,
          agent,
          task,
          session: own,
          turn,
          depth,
          status: end?.status ?? 'under-way',
        }),
      ),
    cancel: async (session, { child: id, reason = 'It was cancelled.' } = {}) => {
      const meant = aliveOf(team.family.find(session)).filter(({ record }) => id === undefined || record.id === id);
      await Promise.all(meant.map((child) => team.cancel(child, reason)));
    },
    recover: (recoverOptions) => {
      const done = recovered.then(() => recover(team, recoverOptions));
      recovered = done.catch(() => undefined);
      return done;
    },
    forget: (session) => team.delivery.forget(pendingOf(team.family.find(session))),
    close: (reason = 'The harness is closing.') => team.close(reason),
  };
  return Object.assign(turnChildren(team), members);
};
