import type { TurnOperator } from '@h/turn';
import { checkSubagents } from './check-subagents.js';
import './events.js';
import { aliveOf, pendingOf, type SpawnRefusal } from './family.js';
import type { SharedBudget } from './kind.js';
import type { SubagentsOptions } from './options.js';
import { recover, type Orphan, type RecoverOptions } from './recover.js';
import type { ChildRecord, ChildStatus } from './record.js';
import type { Spawned, SpawnRequest } from './spawned.js';
import { Team } from './team.js';
import { spawnTool, waitTool, type SubagentTool } from './tools.js';
import { turnChildren } from './turn-children.js';

/** A sub-agent whose result its parent has not had. */
export interface ChildSnapshot extends Pick<ChildRecord, 'id' | 'agent' | 'task' | 'session' | 'turn' | 'depth'> {
  readonly status: 'under-way' | ChildStatus;
}

/** The operator, its tools, and what code may do with sub-agents. One object for all agents of a tree. */
export interface Subagents extends TurnOperator {
  /** `spawn` and `wait`, for the agents at the top and for those below them: `tools.map(defineTool)`. */
  readonly tools: readonly [spawn: SubagentTool, wait: SubagentTool];
  /**
   * Spawns a sub-agent. A refusal is an answer.
   *
   * @throws TurnError `invalid-option` for a policy that is none
   */
  spawn(request: SpawnRequest): Promise<Spawned | SpawnRefusal>;
  /** The sub-agents of a session whose results were not delivered. */
  list(session: string): readonly ChildSnapshot[];
  /**
   * Cancels the sub-agents of a session, or one of them, and all below; resolves when they have ended, which takes at most
   * `limits.graceMs`, and what the store takes. Results say so.
   */
  cancel(session: string, options?: { readonly child?: string; readonly reason?: string }): Promise<void>;
  /**
   * Finds sub-agents whose process died and tells their parents. To be called once, before turns begin or are resumed. Turns of
   * sub-agents that never ended are not to be resumed then, because their parents are told that they were interrupted.
   */
  recover(options?: RecoverOptions): Promise<readonly Orphan[]>;
  /** Forgets the results that a session has not had, because it will have no further turn. */
  forget(session: string): void;
  /** Spawns nothing more and cancels all; resolves when all have ended. */
  close(reason?: string): Promise<void>;
}

/**
 * Lets agents give tasks to agents.
 *
 * It is the operator of every agent that spawns, at the top and below, and it has the tools. A sub-agent runs as a turn of its
 * own, in a session and lane of its own, with no more rights than its parent. Results come into the parent's history with its
 * next step, each once; while sub-agents work the parent's turn does not end, unless `parentEnd` says so. A parent's turn that
 * is stopped takes them along.
 *
 * @throws TurnError `invalid-option`
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
  // A share is of the kind of what it is a share of, so create() is given what it takes.
  const plain = options as unknown as SubagentsOptions;
  checkSubagents(plain);
  const team = new Team(plain);
  const tools = [spawnTool(team), waitTool(team)] as const;
  /** One after the other, so that nobody is found twice. */
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
