import type { Clock } from './clock.js';
import type { Progress } from './progress/schema.js';

/** What a session has claimed: a task, or the planning of all of them. */
export type Claimed = { readonly task: string } | { readonly task?: undefined };

/** What a session knows of what it has claimed, so that it notices when somebody else has taken it up. */
export interface ClaimWatch {
  /** Learns from what stands in the progress file now. @returns whether the claim was lost just now */
  look(progress: Progress, owner: string): boolean;
  /** Whether the lease has run out by the clock, because the machine slept, say: others may have taken it up meanwhile. */
  isDoubtful(): boolean;
  /** What is not this session's any more, until it has claimed something again. */
  lost(): Claimed | undefined;
}

export const claimWatch = (clock: Clock): ClaimWatch => {
  let held: { readonly claimed: Claimed; readonly until: number } | undefined;
  let lost: Claimed | undefined;
  return {
    look: (progress, owner) => {
      const before = held;
      held = heldBy(progress, owner);
      if (held) lost = undefined;
      if (held || before === undefined || isOver(progress, owner, before.claimed)) return false;
      lost = before.claimed;
      return true;
    },
    isDoubtful: () => held !== undefined && clock() >= held.until,
    lost: () => lost,
  };
};

const heldBy = ({ tasks, planning }: Progress, owner: string) => {
  const task = tasks.find(({ claim }) => claim?.owner === owner);
  if (task?.claim) return { claimed: { task: task.id }, until: Date.parse(task.claim.expiresAt) };
  return planning?.claim?.owner === owner ? { claimed: {}, until: Date.parse(planning.claim.expiresAt) } : undefined;
};

/** What a session has finished or set aside itself is not lost. */
const isOver = ({ tasks }: Progress, owner: string, { task }: Claimed): boolean => {
  const now = tasks.find(({ id }) => id === task);
  return now?.lastOwner === owner && now.status !== 'in_progress';
};
