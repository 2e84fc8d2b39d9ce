import type { StationRun, StationWorkflow } from './contract.js';

/** The workflows of the service. Runs of other tenants do not exist for a caller. */
export interface WorkflowService {
  list(): Promise<readonly StationWorkflow[]>;
  runs(tenant: string): Promise<readonly StationRun[]>;
  run(tenant: string, id: string): Promise<StationRun | undefined>;
  /** @param key - a repeated call with the same key starts one run */
  start(
    tenant: string,
    workflow: string,
    input: Readonly<Record<string, unknown>>,
    key: string | undefined,
  ): Promise<StationRun>;
  cancel(tenant: string, id: string): Promise<StationRun | undefined>;
}
