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
  /**
   * What a tenant has used since midnight UTC in turns that have ended: in those of this process, and in all others.
   *
   * @param isOwn - whether this process has run a turn
   */
  readonly usedToday: (
    tenant: string,
    isOwn: (turn: string) => boolean,
  ) => Promise<{ readonly own: UsedToday; readonly others: UsedToday }>;
}

interface DailyBudget {
  readonly budget: Budget;
  /** Turns that this process charges to the budget while they run. */
  readonly turns: Set<string>;
  /** What was charged for turns of other processes. */
  others: Required<UsedToday>;
  readAt: number;
  reading: Promise<void> | undefined;
}

const noUse = { inputTokens: 0, outputTokens: 0, cost: 0 };

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
   * @param turn a turn that begins here and is charged to it
   */
  budgetOf(tenant: string, at: number, turn?: string): Budget | undefined {
    const today = this.#today(tenant, at);
    if (turn !== undefined) today?.turns.add(turn);
    return today?.budget;
  }

  /** Counts what earlier and other processes have used, before a turn of a session. */
  async refresh(session: string, at: number, { tenantOf, usedToday }: TenantUse): Promise<void> {
    if (!this.#isLimited) return;
    const tenant = await tenantOf(session);
    const today = tenant === undefined ? undefined : this.#today(tenant, at);
    if (tenant === undefined || today === undefined || at < today.readAt + readEveryMs) return;
    today.reading ??= usedToday(tenant, (turn) => today.turns.has(turn))
      .then(({ own, others }) => {
        const used = today.budget.used();
        // Turns of this process are charged while they run; their records also contain what no limit has counted.
        const more = (counter: keyof UsedToday): number => {
          const charged = used[counter] - today.others[counter];
          return Math.max(0, Math.max(charged, own[counter] ?? 0) + (others[counter] ?? 0) - used[counter]);
        };
        const added = { inputTokens: more('inputTokens'), outputTokens: more('outputTokens'), cost: more('cost') };
        today.budget.spend(added);
        today.others = { ...noUse, ...others };
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
      found = { budget, turns: new Set(), others: noUse, readAt: -Infinity, reading: undefined };
      this.#budgets.set(tenant, found);
    }
    return found;
  }
}
