import { withDropped } from './dropped.js';
import { LaneError } from './errors.js';
import type { Lane } from './lane.js';
import type { Waiter } from './waiter.js';

/** What to do with one too many in a session. */
export type FullPolicy = 'reject' | 'drop-oldest' | 'drop-newest' | 'summarize';

/** How many may wait. */
export interface Bounds {
  readonly maxWaiting: number;
  readonly maxWaitingPerSession: number;
  readonly whenFull: FullPolicy;
}

/** Why a newcomer may not wait because too many do. Those who go ahead wait for no others, and may. */
export const fullError = (
  bounds: Bounds,
  waiting: number,
  { request, session }: Waiter,
  lane: Lane | undefined,
): LaneError | undefined => {
  if (request.ahead === true) return undefined;
  if (waiting >= bounds.maxWaiting) {
    return new LaneError(
      'lane-full',
      session,
      `${waiting} requests wait already, the limit of maxWaiting. Try again later.`,
    );
  }
  if (!lane || !isFull(bounds, lane)) return undefined;
  if (bounds.whenFull !== 'reject' && lane.waitingCount > 0) return undefined;
  return new LaneError(
    'lane-full',
    session,
    `${lane.waitingCount} requests wait for session ${JSON.stringify(session)} already, the limit of maxWaitingPerSession. Try again later.`,
  );
};

/** The waiting request that is dropped for a new one, if the session is full. */
export const waiterToDrop = (bounds: Bounds, { request }: Waiter, lane: Lane): Waiter | undefined => {
  if (request.ahead === true || !isFull(bounds, lane)) return undefined;
  return bounds.whenFull === 'drop-newest' ? lane.newestWaiting : lane.oldestWaiting;
};

/** The error of a dropped request. With the policy `summarize`, the lane keeps its summary. */
export const noteDropped = ({ whenFull }: Bounds, { request, session }: Waiter, lane: Lane): LaneError => {
  if (whenFull === 'summarize') lane.dropped = withDropped(lane.dropped, request.summary);
  return new LaneError(
    'lane-dropped',
    session,
    `The request was dropped for another one: too many wait for session ${JSON.stringify(session)} (whenFull: ${whenFull}).`,
  );
};

const isFull = ({ maxWaitingPerSession }: Bounds, lane: Lane): boolean => lane.waitingCount >= maxWaitingPerSession;
