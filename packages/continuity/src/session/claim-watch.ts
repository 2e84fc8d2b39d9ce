import type { Clock } from '../clock.js';
import type { Progress } from '../progress/schema.js';

/** What a session has claimed: a task, or the planning. */
export type Claimed = { readonly task: string } | { readonly task?: undefined };

/** Tracks the claim of a session, to detect that another session has taken it over. */
export interface ClaimWatch {
  /** Compares the claim with the progress file. @returns whether the claim was lost since the last call */
  look(progress: Progress, owner: string): boolean;
  /** Whether the lease has expired by the clock, for instance after a suspend: another session may have taken over. */
  isDoubtful(): boolean;
  /** The lost claim, until the session claims something again. */
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

/** Whether the session itself has finished or blocked the task. */
const isOver = ({ tasks }: Progress, owner: string, { task }: Claimed): boolean => {
  const now = tasks.find(({ id }) => id === task);
  return now?.lastOwner === owner && now.status !== 'in_progress';
};
