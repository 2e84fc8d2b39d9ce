import type { LaneListener } from '../src/contract.js';
import type { LaneEvent } from '../src/events.js';
import { createLanes } from '../src/lanes/lanes.js';
import type { LanesOptions } from '../src/lanes/lanes-options.js';
import { virtualTime } from './virtual-time.js';

/** A promise that resolves on demand. */
export const gate = () => {
  let open: (value?: unknown) => void = () => undefined;
  const passed = new Promise<unknown>((resolve) => {
    open = resolve;
  });
  return { open, passed };
};

/** Lanes in virtual time, and their events. */
export const timed = (options: LanesOptions = {}) => {
  const time = virtualTime();
  const events: LaneEvent[] = [];
  return {
    time,
    events,
    lanes: createLanes({ ...options, scheduler: time.scheduler, onEvent: (event) => events.push(event) }),
  };
};

export const silent: LaneListener = { admitted: () => undefined, refused: () => undefined };
