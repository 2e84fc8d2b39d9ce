import type { SchedulerLike } from 'rxjs';
import type { Approvals } from './approvals.js';
import type { ModelDriver } from '../contract/model.js';
import type { PipelinePlan } from '../operators/pipeline.js';
import type { PlanContext } from '../loop/plan.js';
import type { SessionGate } from '../journal/session-gate.js';
import type { ToolDriver } from '../contract/tool.js';

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
