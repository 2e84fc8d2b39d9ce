import type { Clock } from './clock.js';
import type { Progress } from './progress/schema.js';

/** What a session knows of the task that it has claimed, so that it notices when somebody else has taken it up. */
export interface ClaimWatch {
  /** Learns from what stands in the progress file now. @returns whether the task was lost just now */
  look(progress: Progress, owner: string): boolean;
  /** Whether the lease has run out by the clock, because the machine slept, say: others may have taken the task up meanwhile. */
  isDoubtful(): boolean;
  /** Id of the task that is not this session's any more, until it has another one. */
  lost(): string | undefined;
}

export const claimWatch = (clock: Clock): ClaimWatch => {
  let held: { readonly id: string; readonly until: number } | undefined;
  let lost: string | undefined;
  return {
    look: ({ tasks }, owner) => {
      const mine = tasks.find(({ claim }) => claim?.owner === owner);
      const before = held;
      held = mine?.claim && { id: mine.id, until: Date.parse(mine.claim.expiresAt) };
      if (held) lost = undefined;
      if (held || before === undefined) return false;
      const now = tasks.find(({ id }) => id === before.id);
      // What it has finished or set aside itself is not lost.
      if (now?.lastOwner === owner && now.status !== 'in_progress') return false;
      lost = before.id;
      return true;
    },
    isDoubtful: () => held !== undefined && clock() >= held.until,
    lost: () => lost,
  };
};
