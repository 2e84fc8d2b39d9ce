import { createBudget, type Amounts, type Budget } from '@h/guardrails';

/** Limits of a tenant for a day. */
interface DailyLimits {
  readonly max_cost?: number;
  readonly max_tokens?: number;
}

/** Budgets of tenants. A new day in UTC begins with new ones. */
export class TenantBudgets {
  readonly #limits: DailyLimits;
  #day = '';
  #budgets = new Map<string, Budget>();

  constructor(limits: DailyLimits) {
    this.#limits = limits;
  }

  /**
   * Returns the budget of a tenant; `undefined` if tenants have no limits.
   *
   * @param at milliseconds since 1970
   * @param usedToday what the tenant has used before this process began to count
   */
  budgetOf(tenant: string, at: number, usedToday?: (tenant: string) => Amounts): Budget | undefined {
    const { max_cost: maxCost, max_tokens: maxTokens } = this.#limits;
    if (maxCost === undefined && maxTokens === undefined) return undefined;
    const day = new Date(at).toISOString().slice(0, 10);
    if (day > this.#day) {
      this.#day = day;
      this.#budgets = new Map();
    }
    let budget = this.#budgets.get(tenant);
    if (budget === undefined) {
      budget = createBudget({ name: `tenant ${tenant}`, maxCost, maxTokens });
      if (usedToday !== undefined) budget.spend(usedToday(tenant));
      this.#budgets.set(tenant, budget);
    }
    return budget;
  }
}
