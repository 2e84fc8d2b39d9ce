import { createBudget, type Amounts, type Budget } from '@h/guardrails';

/** Limits of a tenant for a day. */
interface DailyLimits {
  readonly max_cost?: number;
  readonly max_tokens?: number;
}

/** Amounts that limits of tenants count. */
export type UsedToday = Pick<Amounts, 'inputTokens' | 'outputTokens' | 'cost'>;

/** What the service knows about tenants. */
export interface TenantUse {
  /** The tenant of a session; `undefined` for sessions that the service does not know. */
  readonly tenantOf: (session: string) => Promise<string | undefined>;
  /** What a tenant has used since midnight UTC in turns that have ended, in all processes. */
  readonly usedToday: (tenant: string) => Promise<UsedToday>;
}

interface DailyBudget {
  readonly budget: Budget;
  readAt: number;
  reading: Promise<void> | undefined;
}

/** Stored use is read again after this time, in milliseconds, to learn of turns of other processes. */
const readEveryMs = 5_000;

/** Budgets of tenants. A new day in UTC begins with new ones. */
export class TenantBudgets {
  readonly #limits: DailyLimits;
  readonly #isLimited: boolean;
  #day = '';
  #budgets = new Map<string, DailyBudget>();

  constructor(limits: DailyLimits) {
    this.#limits = limits;
    this.#isLimited = limits.max_cost !== undefined || limits.max_tokens !== undefined;
  }

  /**
   * Returns the budget of a tenant; `undefined` if tenants have no limits.
   *
   * @param at milliseconds since 1970
   */
  budgetOf(tenant: string, at: number): Budget | undefined {
    return this.#today(tenant, at)?.budget;
  }

  /** Counts what earlier and other processes have used, before a turn of a session. */
  async refresh(session: string, at: number, { tenantOf, usedToday }: TenantUse): Promise<void> {
    if (!this.#isLimited) return;
    const tenant = await tenantOf(session);
    const today = tenant === undefined ? undefined : this.#today(tenant, at);
    if (tenant === undefined || today === undefined || at < today.readAt + readEveryMs) return;
    today.reading ??= usedToday(tenant)
      .then((stored) => {
        const own = today.budget.used();
        const more = (counter: keyof UsedToday): number => Math.max(0, (stored[counter] ?? 0) - own[counter]);
        today.budget.spend({
          inputTokens: more('inputTokens'),
          outputTokens: more('outputTokens'),
          cost: more('cost'),
        });
        today.readAt = at;
      })
      .finally(() => {
        today.reading = undefined;
      });
    await today.reading;
  }

  #today(tenant: string, at: number): DailyBudget | undefined {
    const { max_cost: maxCost, max_tokens: maxTokens } = this.#limits;
    if (!this.#isLimited) return undefined;
    const day = new Date(at).toISOString().slice(0, 10);
    if (day !== this.#day) {
      this.#day = day;
      this.#budgets = new Map();
    }
    let found = this.#budgets.get(tenant);
    if (found === undefined) {
      const budget = createBudget({ name: `tenant ${tenant}`, maxCost, maxTokens });
      found = { budget, readAt: -Infinity, reading: undefined };
      this.#budgets.set(tenant, found);
    }
    return found;
  }
}
