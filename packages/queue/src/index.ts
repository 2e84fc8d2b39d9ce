import './queue-events.js';

export type {
  Dropped,
  LaneListener,
  LaneHandle,
  LaneRequest,
  Lanes,
  LaneLease,
  ShutdownOptions,
  WaitingNotice,
} from './contract.js';
export { LaneError, LaneTimeoutError, type LaneErrorCode, type TimeoutKind } from './errors.js';
export type { LaneEvent } from './events.js';
export type { GroupOptions } from './groups.js';
export type { FullPolicy } from './bounds.js';
export { createLanes, type LocalLanes } from './lanes.js';
export type { LanesOptions } from './lanes-options.js';
export { priorityOf } from './priority.js';
export type { RunOptions, Task } from './run.js';
export type { LanesSnapshot, RunningSnapshot, SessionSnapshot, WaitingSnapshot } from './snapshot.js';
export { queue } from './queue.js';
export type { QueueOptions } from './queue-options.js';
