import { SessionHeldError } from '@h/session';
import type { SessionStore } from '@h/turn';
import { UsageError } from '../usage-error.js';

/**
 * Locks the plan of a folder: two processes in one work tree would commit each other's unfinished work. The lock is
 * that of a session without turns and ends with the process.
 *
 * @returns a function that releases the lock
 * @throws UsageError if another process holds the lock
 */
export const holdPlan = async (sessions: SessionStore): Promise<() => Promise<void>> => {
  try {
    const held = await sessions.open('plan');
    return async () => {
      await held.close();
    };
  } catch (error) {
    if (!(error instanceof SessionHeldError)) throw error;
    throw new UsageError(
      `--plan: process ${error.pid} has held the plan of this folder since ${new Date(error.since).toISOString()}. Wait for it or stop it.`,
      { cause: error },
    );
  }
};
