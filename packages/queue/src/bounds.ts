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
    return new LaneError('lane-full', session, `${waiting} wait for a place already; maxWaiting allows no more.`);
  }
  if (!lane || !isFull(bounds, lane)) return undefined;
  if (bounds.whenFull !== 'reject' && lane.waitingCount > 0) return undefined;
  return new LaneError(
    'lane-full',
    session,
    `${lane.waitingCount} wait for session ${JSON.stringify(session)} already; maxWaitingPerSession allows no more.`,
  );
};

/** Who has to go so that a newcomer can wait; never one that has a place. */
export const waiterToDrop = (bounds: Bounds, { request }: Waiter, lane: Lane): Waiter | undefined => {
  if (request.ahead === true || !isFull(bounds, lane)) return undefined;
  return bounds.whenFull === 'drop-newest' ? lane.newestWaiting : lane.oldestWaiting;
};

/** What somebody hears that is dropped; where the policy is `summarize`, the lane keeps a few words of it. */
export const noteDropped = ({ whenFull }: Bounds, { request, session }: Waiter, lane: Lane): LaneError => {
  if (whenFull === 'summarize') lane.dropped = withDropped(lane.dropped, request.summary);
  return new LaneError(
    'lane-dropped',
    session,
    `Too many wait for session ${JSON.stringify(session)}: one that came later took the place (${whenFull}).`,
  );
};

const isFull = ({ maxWaitingPerSession }: Bounds, lane: Lane): boolean => lane.waitingCount >= maxWaitingPerSession;
