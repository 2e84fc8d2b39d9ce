import { SessionHeldError } from '@h/session';
import type { SessionStore } from '@h/turn';
import { UsageError } from '../usage-error.js';

/**
 * Makes the plan of a folder this process's own: two in one work tree would commit each other's half-done work. The lock is
 * that of a session that has no turns, and ends with the process.
 *
 * @returns how to let it go
 * @throws UsageError where another process has it
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
      `--plan: process ${error.pid} works on the plan of this folder, since ${new Date(error.since).toISOString()}.`,
      { cause: error },
    );
  }
};
