import { withDropped } from '../dropped.js';
import { LaneError } from '../errors.js';
import type { Lane } from './lane.js';
import type { Waiter } from './waiter.js';

/** What to do with a request that exceeds the limit of its session. */
export type FullPolicy = 'reject' | 'drop-oldest' | 'drop-newest' | 'summarize';

/** Limits on waiting requests. */
export interface Bounds {
  readonly maxWaiting: number;
  readonly maxWaitingPerSession: number;
  readonly whenFull: FullPolicy;
}

/** Returns the error for a request that exceeds a limit. Requests with `ahead` wait for no others and are exempt. */
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
      `${waiting} requests are waiting, which is the limit (maxWaiting). Try again later.`,
    );
  }
  if (!lane || !isFull(bounds, lane)) return undefined;
  if (bounds.whenFull !== 'reject' && lane.waitingCount > 0) return undefined;
  return new LaneError(
    'lane-full',
    session,
    `${lane.waitingCount} requests wait for session ${JSON.stringify(session)}, which is the limit (maxWaitingPerSession). Try again later.`,
  );
};

/** Returns the waiting request to drop for a new one, if the session is full. */
export const waiterToDrop = (bounds: Bounds, { request }: Waiter, lane: Lane): Waiter | undefined => {
  if (request.ahead === true || !isFull(bounds, lane)) return undefined;
  return bounds.whenFull === 'drop-newest' ? lane.newestWaiting : lane.oldestWaiting;
};

/** Returns the error of a dropped request. With the policy `summarize`, the lane keeps its summary. */
export const noteDropped = ({ whenFull }: Bounds, { request, session }: Waiter, lane: Lane): LaneError => {
  if (whenFull === 'summarize') lane.dropped = withDropped(lane.dropped, request.summary);
  return new LaneError(
    'lane-dropped',
    session,
    `The request was dropped for a newer one: session ${JSON.stringify(session)} is full (whenFull: "${whenFull}"). Try again later.`,
  );
};

const isFull = ({ maxWaitingPerSession }: Bounds, lane: Lane): boolean => lane.waitingCount >= maxWaitingPerSession;
