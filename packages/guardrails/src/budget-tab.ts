import type { Account } from './account.js';
import { addTo, difference, type Amounts, type Counters, type MutableCounters } from './counters.js';

/** What one turn takes from a budget. */
export interface BudgetTab {
  spend(amounts: Amounts): void;
  endStep(hasFailed: boolean): void;
  /** Counts what the turn had used before its process died, as far as it is not counted yet. */
  catchUp(used: Counters): void;
  /** The turn is over, or nobody follows it any more. */
  close(at: number): void;
}

/** Opens a tab on these accounts; what the turn has had is kept in `charged`. */
export const openTab = (
  accounts: readonly Account[],
  charged: MutableCounters,
  isNew: boolean,
  at: number,
  onClose: () => void,
): BudgetTab => {
  let isOpen = true;
  for (const account of accounts) account.enter(at);
  const spend = (amounts: Amounts): void => {
    addTo(charged, amounts);
    for (const account of accounts) account.add(amounts);
  };
  const endStep = (hasFailed: boolean): void => {
    for (const account of accounts) account.endStep(hasFailed);
  };
  return {
    spend,
    endStep,
    catchUp: (used) => {
      const streak = used.consecutiveExceptions;
      spend(difference({ ...used, consecutiveExceptions: charged.consecutiveExceptions }, charged));
      if (isNew) for (let step = 0; step < streak; step += 1) endStep(true);
    },
    close: (closedAt) => {
      if (!isOpen) return;
      isOpen = false;
      for (const account of accounts) account.leave(closedAt);
      onClose();
    },
  };
};
