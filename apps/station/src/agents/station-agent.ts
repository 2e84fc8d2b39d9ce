import type { Amounts } from '@h/guardrails';
import type { Lanes } from '@h/queue';
import type { ArtifactStore } from '@h/tools';
import type { Agent, SessionStore } from '@h/turn';

/** What the service provides to the agents that it opens. They share lanes and stores. */
export interface AgentEnvironment {
  readonly lanes: Lanes;
  readonly sessions: SessionStore;
  readonly artifacts: ArtifactStore;
  /** What a tenant has used since midnight UTC, for limits that survive a restart. @defaultValue nothing */
  readonly usedToday?: ((tenant: string) => Amounts) | undefined;
}

/** A kind of agent that sessions can be created with. */
export interface StationAgent {
  readonly name: string;
  readonly description: string;
  /** The model that it uses first, as `provider/model`. */
  readonly model: string;
  /**
   * Composes its pipeline, with `queue(lanes)` as the first operator. Called once in each process that runs turns.
   *
   * Agents read `tenant` of a turn's metadata, which selects the budget. Sessions that `sessionOfStep()` names share the
   * branch and the workspace of their workflow run.
   */
  open(environment: AgentEnvironment): Agent | Promise<Agent>;
  /** Ends sandboxes and sub-agents. Call it when no turn runs. */
  close?(): Promise<void>;
}
