import { createSlots } from '@h/session/format';
import { monotonicMs } from '../clock.js';
import { PostgresError } from '../errors.js';

/**
 * Number of sessions that are opened at a time. With thousands, the statements of running turns would wait behind those
 * of new ones for longer than the pool and the turns allow.
 */
const maxOpening = 16;

/** Opens a session when few others are being opened. */
export type Opening = <Result>(open: () => Promise<Result>) => Promise<Result>;

/**
 * Opens few sessions at a time, in order.
 *
 * While the database is unavailable, each of them fails after `retryMs`. Those that have waited for them meanwhile fail
 * with them.
 */
export const createOpening = (retryMs: number): Opening => {
  const inSlot = createSlots(maxOpening);
  let failure: { readonly at: number; readonly error: PostgresError } | undefined;
  return (open) => {
    const since = monotonicMs();
    return inSlot(async () => {
      // The last retry begins before the end of the time, so half of it counts as all. Without retries, a failure says
      // nothing about the next session.
      if (failure && retryMs > 0 && failure.at - since >= retryMs / 2) throw failure.error;
      try {
        const opened = await open();
        failure = undefined;
        return opened;
      } catch (error) {
        if (error instanceof PostgresError && error.isRetryable) failure = { at: monotonicMs(), error };
        throw error;
      }
    });
  };
};
