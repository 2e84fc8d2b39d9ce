export { createSharedLanes, type SharedLanesOptions } from './shared-lanes.js';
export type { SharedSlots, SharedSlotsHost, SlotRequest } from './shared-slots.js';
export { checkSendOptions } from '../inbox/inbox-options.js';
export { decodeEntry, encodeEntry } from '../file-store/entry.js';
