import { LaneError } from '../errors.js';
import type { Keeper } from '../lanes/keeper.js';
import type { LanesOptions } from '../lanes/lanes-options.js';
import { lanesWith, type LocalLanes } from '../lanes/lanes.js';
import { SharedGate } from './shared-gate.js';
import type { SharedSlots } from './shared-slots.js';

/** Options of {@link createSharedLanes}: those of `createLanes()`. Each process has its own time limits and bounds. */
export type SharedLanesOptions = LanesOptions;

/**
 * Creates lanes whose slots several processes share, for implementations of {@link SharedSlots}.
 *
 * The line of each session, time limits, lending and notifications are those of `createLanes()`. Positions in notices
 * and `snapshot()` cover the requests of this process.
 *
 * @throws InvalidOptionError
 */
export const createSharedLanes = (slots: SharedSlots, options: SharedLanesOptions = {}): LocalLanes => {
  const made: { gate?: SharedGate; keeper?: Keeper } = {};
  const lanes = lanesWith(
    options,
    (gateOptions) => (made.gate = new SharedGate(gateOptions, slots)),
    (keeper) => (made.keeper = keeper),
  );
  slots.attach({
    granted: (ticket, fence) => {
      made.gate?.grant(ticket, fence);
      made.keeper?.admitAll();
    },
    lost: () => {
      made.gate?.forget();
      made.keeper?.loseAll(lostError);
      made.gate?.enterAgain();
    },
    failed: (error) => {
      for (const waiter of made.keeper?.lastWaiting ?? []) waiter.abort(failedError(waiter.session, error));
    },
  });
  return lanes;
};

const failedError = (session: string, cause: Error): LaneError =>
  new LaneError('lane-failed', session, `Session ${JSON.stringify(session)} gets no slot: ${cause.message}`, { cause });

const lostError = (session: string): LaneError =>
  new LaneError(
    'lane-lost',
    session,
    `This process did not renew its lease in time, so the slot of session ${JSON.stringify(session)} was given to another one. Write no more results of this turn.`,
  );
