import type { SchedulerLike } from 'rxjs';
import type { Approvals } from './approvals.js';
import type { ModelDriver } from './model.js';
import type { PipelinePlan } from './pipeline.js';
import type { PlanContext } from './plan.js';
import type { SessionGate } from './session-gate.js';
import type { ToolDriver } from './tool.js';

/** What all turns of a harness share. */
export interface RunnerOptions extends PlanContext {
  readonly model: ModelDriver;
  readonly tools: ToolDriver | undefined;
  readonly gate: SessionGate;
  readonly pipeline: PipelinePlan;
  readonly scheduler: SchedulerLike;
  readonly closeGraceMs: number;
  readonly approvals: Approvals;
}
