import './queue-events.js';

export type { LaneHandle, LaneLease, LaneListener, LaneRequest, Lanes, LaneTask, RunOptions } from './contract.js';
export { LaneError, LaneTimeoutError, type LaneErrorCode } from './errors.js';
export type { LaneEvent } from './events.js';
export { createLanes, type DrainOptions, type LocalLanes } from './lanes/lanes.js';
export type { LanesOptions } from './lanes/lanes-options.js';
export { priorityOf } from './priority.js';
export type { LanesSnapshot } from './lanes/snapshot.js';
export { queue } from './queue.js';
export type { QueueOptions } from './queue-options.js';
