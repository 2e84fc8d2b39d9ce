import './queue-events.js';

export type {
  Dropped,
  LaneBackend,
  LaneListener,
  LanePlace,
  LaneRequest,
  Lease,
  Pause,
  WaitingNotice,
} from './contract.js';
export { LaneError, LaneTimeoutError, type LaneErrorCode, type TimeoutKind } from './errors.js';
export type { LaneEvent } from './events.js';
export type { GroupOptions } from './groups.js';
export type { FullPolicy } from './bounds.js';
export { createLanes, type Lanes, type ShutdownOptions } from './lanes.js';
export type { LanesOptions } from './lanes-options.js';
export { priorityOf } from './priority.js';
export type { RunOptions, Task } from './run.js';
export type { LanesSnapshot, RunningSnapshot, SessionSnapshot, WaitingSnapshot } from './snapshot.js';
export { queue } from './queue.js';
export type { QueueOptions } from './queue-options.js';
export { createInbox, type Inbox, type InboxSnapshot } from './inbox.js';
export type {
  Delivered,
  Delivery,
  InboxMode,
  InboxOptions,
  RecoverOptions,
  SendOptions,
  Sent,
} from './inbox-options.js';
export type { InboxContents, InboxStore, KeptMessage, KnownDelivery } from './inbox-store.js';
export type { RecoveredMessage } from './kept-inbox.js';
