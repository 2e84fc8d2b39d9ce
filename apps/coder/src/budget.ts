import { createBudget, type GuardrailsOptions } from '@h/guardrails';
import type { UsageMeter } from '@h/observe';
import type { CoderArguments } from './arguments.js';

/** What a plan may use if nothing else is given: nobody watches it. A day's work of one person with an expensive model. */
const planDefaults = { maxCost: 20, maxTokens: 50_000_000, maxMinutes: 480 } as const;

/** Limits of everything that the process does: all turns, sessions and sub-agents use one budget. */
export type RunBudget = Pick<GuardrailsOptions, 'budget' | 'costOf' | 'unknownCost'>;

/** Makes the budget of `--max-cost`, `--max-tokens` and `--max-minutes`. Plans have one in any case. */
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
    // A model without a known price cannot keep a limit that was asked for, but a default must not make it unusable.
    unknownCost: given.maxCost === undefined ? 'ignore' : 'stop',
  };
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
