import { stop, toErrorInfo, TurnError, type NewEventOf } from '@h/turn';
import type { SharedBudget } from './kind.js';

/** Says of a turn that is about to ask its model why it is stopped, if it is. */
export type TurnCheck = (turn: string) => NewEventOf<'turn.stop'> | undefined;

/** Stops a turn that nobody charges to the budget that it shares: its limits would hold nothing. */
export const chargedTo =
  (budget: SharedBudget | undefined, agent: string): TurnCheck =>
  (turn) => {
    if (!budget || isCharged(budget, turn)) return undefined;
    const error = new TurnError(
      'budget-not-charged',
      `The agent ${JSON.stringify(agent)} has a share of a budget to which nobody charges its turn, so nothing would keep it within that: put guardrails({ budget: context.budget }) into its pipe.`,
    );
    return stop('error', error.message, toErrorInfo(error));
  };

const isCharged = (budget: SharedBudget, turn: string): boolean => {
  try {
    return budget.charges(turn);
  } catch {
    return false;
  }
};
