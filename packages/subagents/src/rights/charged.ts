import { stop, toErrorInfo, TurnError, type NewEventOf } from '@h/turn';
import type { SharedBudget } from '../child/kind.js';

/** Returns the stop for a turn that must not call its model; `undefined` if it may. */
export type TurnCheck = (turn: string) => NewEventOf<'turn.stop'> | undefined;

/** Stops a turn that is not charged to its shared budget, because the limits of the budget would have no effect. */
export const chargedTo =
  (budget: SharedBudget | undefined, agent: string): TurnCheck =>
  (turn) => {
    if (!budget || isCharged(budget, turn)) return undefined;
    const error = new TurnError(
      'budget-not-charged',
      `The turn of the agent ${JSON.stringify(agent)} is not charged to its share of the budget. Add guardrails({ budget: context.budget }) to its pipe.`,
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
