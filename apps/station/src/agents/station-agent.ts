import type { Lanes } from '@h/queue';
import type { ArtifactStore } from '@h/tools';
import type { Agent, SessionStore } from '@h/turn';
import type { HandedOver } from './hand-over.js';
import type { TenantUse } from './tenant-budgets.js';

/** What the service provides to the agents that it opens. They share lanes and stores. */
export interface AgentEnvironment {
  readonly lanes: Lanes;
  readonly sessions: SessionStore;
  readonly artifacts: ArtifactStore;
  /** Lets limits of tenants count turns of earlier and other processes. @defaultValue those of this process count */
  readonly tenants?: TenantUse | undefined;
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
   * Agents read `tenant` of a turn's metadata, which selects the budget. Sessions that `sessionOfStep()` names share
   * the branch and the workspace of their workflow run.
   */
  open(environment: AgentEnvironment): Agent | Promise<Agent>;
  /**
   * Copies files of other sessions into the workspace of a session, if it is a separate one. Call it before its turn.
   */
  receive?(session: string, files: readonly HandedOver[]): Promise<void>;
  /** Sends pending telemetry. Turns that still run send no more. */
  flush?(): Promise<void>;
  /** Ends sandboxes and sub-agents. Call it when no turn runs. */
  close?(): Promise<void>;
}
