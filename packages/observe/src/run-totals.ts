import { cleanUsage } from '@h/prices';
import type { Usage } from '@h/turn';
import { qualifiedName, type ModelName } from './model-name.js';
import { priceOf } from './usage/price-of.js';
import { addTotals, noTotals, totalsOfCall, type UsageTotals } from './usage/totals.js';
import type { RunSettings } from './run-settings.js';
import type { Writable } from './writable.js';

/** Usage and cost of a turn and of its current step. */
export interface RunTotals {
  readonly run: UsageTotals;
  readonly step: UsageTotals;
  /** Usage of side questions. */
  readonly sides: UsageTotals;
  /**
   * Adds a finished model call and returns its usage and cost.
   *
   * @param answered the model that answered, by the provider's name
   */
  call(
    usage: Partial<Usage> | undefined,
    asked: ModelName,
    answered: string | undefined,
    failed: boolean,
  ): { readonly usage: Usage; readonly cost: number | undefined };
  /** Adds the usage of a side question. */
  side(usage: Partial<Usage>): void;
  /** Adds the usage of side questions before a resume, which the meter receives elsewhere. */
  resume(sides: UsageTotals): void;
  /** Resets the totals of the step. */
  nextStep(): void;
}

/** Creates totals that add up the usage of a turn and report it to the meter. */
export const createRunTotals = (turn: () => string, { costOf, meter, sideModel }: RunSettings): RunTotals => {
  let calls = 0;
  const price = (usage: Usage, provider: string | undefined, model: string | undefined): number | undefined =>
    costOf && priceOf(costOf, usage, model === undefined ? undefined : qualifiedName(provider, model));
  const add = (totals: UsageTotals): void => {
    sums.run = addTotals(sums.run, totals);
    sums.step = addTotals(sums.step, totals);
  };
  const sums: Writable<RunTotals> = {
    run: noTotals,
    step: noTotals,
    sides: noTotals,
    call: (given, asked, answered, failed) => {
      const usage = cleanUsage(given);
      const totals = totalsOfCall(
        usage,
        price(usage, asked.provider, asked.model) ?? price(usage, asked.provider, answered),
        failed,
      );
      calls += 1;
      add(totals);
      meter?.record({ turn: turn(), usage, cost: totals.cost, failed, ordinal: calls });
      return { usage, cost: totals.cost };
    },
    side: (given) => {
      const usage = cleanUsage(given);
      const cost = sideModel === undefined ? undefined : price(usage, undefined, sideModel);
      const totals = totalsOfCall(usage, cost, false);
      sums.sides = addTotals(sums.sides, totals);
      add(totals);
      meter?.record({ turn: turn(), usage, cost, ordinal: sums.sides.calls, series: 'side' });
    },
    resume: (given) => {
      sums.sides = given;
      add(given);
    },
    nextStep: () => {
      sums.step = noTotals;
    },
  };
  return sums;
};
