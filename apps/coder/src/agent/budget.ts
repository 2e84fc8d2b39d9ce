import { createBudget, type Budget, type GuardrailsOptions } from '@h/guardrails';
import type { UsageMeter } from '@h/observe';
import type { CoderArguments } from '../arguments.js';

/** Default limits of an unattended plan: about one day of work with an expensive model. */
const planDefaults = { maxCost: 20, maxTokens: 50_000_000, maxMinutes: 480 } as const;

/** Limits of the whole run. All turns, sessions and sub-agents share one budget. */
export interface RunBudget extends Pick<GuardrailsOptions, 'costOf' | 'unknownCost'> {
  readonly budget?: Budget;
}

/** Creates the budget of `--max-cost`, `--max-tokens` and `--max-minutes`. A plan always has a budget. */
export const budgetFor = (
  given: Pick<CoderArguments, 'plan' | 'maxCost' | 'maxTokens' | 'maxMinutes'>,
  { costOf }: Pick<UsageMeter, 'costOf'>,
): RunBudget => {
  const { maxCost, maxTokens, maxMinutes } = { ...(given.plan && planDefaults), ...withoutUndefined(given) };
  if (maxCost === undefined && maxTokens === undefined && maxMinutes === undefined) return {};
  const maxDurationMs = maxMinutes === undefined ? undefined : maxMinutes * 60_000;
  return {
    budget: createBudget({ name: given.plan ? 'plan' : 'run', maxCost, maxTokens, maxDurationMs }),
    costOf,
    // An explicit cost limit stops a model of unknown price; the default limit does not.
    unknownCost: given.maxCost === undefined ? 'ignore' : 'stop',
  };
};

/** The share of the run's scarcest limit that is left, from 0 to 1. */
export const shareLeft = (limits: RunBudget | undefined): number => {
  const budget = limits?.budget;
  if (budget === undefined) return 1;
  return Math.min(1, ...budget.limits().map(({ used, max }) => Math.max(0, 1 - used / max)));
};

const withoutUndefined = ({
  maxCost,
  maxTokens,
  maxMinutes,
}: Pick<CoderArguments, 'maxCost' | 'maxTokens' | 'maxMinutes'>) => ({
  ...(maxCost !== undefined && { maxCost }),
  ...(maxTokens !== undefined && { maxTokens }),
  ...(maxMinutes !== undefined && { maxMinutes }),
});
