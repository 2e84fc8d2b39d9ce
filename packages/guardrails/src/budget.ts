import { anyValue, checkOptions, nonEmptyString } from '@h/options';
import type { JSONObject } from '@h/turn';
import { Account } from './account.js';
import {
  addTo,
  type Amounts,
  type Counters,
  difference,
  type MutableCounters,
  noCounters,
  storedCounters,
} from './counters.js';
import { type Allowance, allowanceChecks, checkExtension, type LimitState } from './limits.js';

/** Options of {@link createBudget}. */
export interface BudgetOptions extends Allowance {
  /**
   * What the budget is called in reasons and notices.
   *
   * @defaultValue `'budget'`
   */
  readonly name?: string | undefined;
  /** What `toJSON()` gave: the budget goes on where that one stood. */
  readonly restore?: unknown;
}

/** Something set aside, so that nobody else takes it. It ends with `settle`, once. */
export interface Reservation {
  /** Sets more aside; `false` when there is no more. */
  grow(amounts: Amounts): boolean;
  /** Ends the reservation; what was really used counts from now on. */
  settle(used?: Amounts): void;
}

/**
 * An allowance that turns, sessions and sub-agents share. The caller creates it and passes it to `guardrails()`.
 *
 * Everything is synchronous, and what is under way is set aside before it begins, so that two turns at a time cannot
 * both take the last unit. What is spent of a share is spent of the budget that it is a share of, too.
 */
export class Budget {
  readonly name: string;
  readonly #account: Account;
  readonly #parent: Budget | undefined;
  /** Turns under way, by id, with what each has had. */
  readonly #tabs = new Map<string, ReturnType<typeof noCounters>>();
  /** Turns under way that are charged to this budget or to a share of it. */
  readonly #charged = new Set<string>();
  readonly #watchers = new Set<() => void>();
  #reason: string | undefined;

  /** Use {@link createBudget}. */
  constructor({ name = 'budget', restore, ...allowance }: BudgetOptions, parent?: Budget) {
    this.name = name;
    this.#parent = parent;
    const stored = (restore ?? {}) as { counters?: unknown; tabs?: unknown; cutOff?: unknown };
    this.#account = new Account(name, allowance, stored.counters);
    for (const [turn, counters] of Object.entries(stored.tabs ?? {})) this.#tabs.set(turn, storedCounters(counters));
    if (typeof stored.cutOff === 'string') this.#reason = stored.cutOff;
  }

  /** The accounts that are charged, this one first, then those that it is a share of. */
  get accounts(): readonly Account[] {
    return this.#line().map((budget) => budget.#account);
  }

  /** What was used, by this budget and its shares. Give the time to have that of running turns in it. */
  used(now?: number): Counters {
    return this.#account.used(now);
  }

  /**
   * The limits of this budget and of those that it is a share of, and what was used of each.
   *
   * @param now the time as milliseconds since 1970, where there is a limit on it
   */
  limits(now = 0): readonly LimitState[] {
    return this.accounts.flatMap((account) => account.states(now));
  }

  /** Counts what was used outside of turns: a summary, a judge, an image. */
  spend(amounts: Amounts): void {
    for (const account of this.accounts) account.add(amounts);
  }

  /**
   * Sets amounts aside; nothing when there is not so much left here or in a budget that this is a share of.
   *
   * @example
   * ```ts
   * const reservation = budget.reserve({ cost: 0.05 });
   * if (!reservation) throw new Error('There is no money left for an image.');
   * try {
   *   await paint();
   *   reservation.settle({ cost: 0.04 });
   * } catch {
   *   reservation.settle();
   * }
   * ```
   */
  reserve(amounts: Amounts, now = 0): Reservation | undefined {
    const { accounts } = this;
    if (this.cutOffReason !== undefined || accounts.some((account) => account.lacks(amounts, now))) return undefined;
    for (const account of accounts) account.setAside(amounts);
    return this.#reservationOf({ ...amounts });
  }

  /**
   * A budget of its own that is also spent from this one: for a sub-agent, a user, a job. It may have limits of its own;
   * those of this one hold as well.
   *
   * @throws InvalidOptionError `invalid-option`
   */
  share(options: Omit<BudgetOptions, 'restore'> = {}): Budget {
    checkOptions('share()', options, { ...allowanceChecks, name: nonEmptyString });
    checkExtension('share()', options);
    return new Budget({ name: this.name, ...options }, this);
  }

  /** Ends all turns that use this budget or a share of it, and lets none begin any more. */
  cutOff(reason: string): void {
    if (this.#reason !== undefined) return;
    this.#reason = reason;
    this.#changed();
  }

  /** Why the budget was cut off, here or where it is a share of. */
  get cutOffReason(): string | undefined {
    return this.#reason ?? this.#parent?.cutOffReason;
  }

  /**
   * Calls back when room was freed, or the budget was cut off.
   *
   * @returns how to hear no more of it
   */
  watch(listener: () => void): () => void {
    const parents = this.#parent?.watch(listener);
    this.#watchers.add(listener);
    return () => {
      this.#watchers.delete(listener);
      parents?.();
    };
  }

  /** Opens the tab of a turn. One that is resumed finds what it had, unless its tab was closed. */
  open(turn: string, at: number): BudgetTab {
    const known = this.#tabs.get(turn);
    const charged = known ?? noCounters();
    const line = this.#line();
    this.#tabs.set(turn, charged);
    for (const budget of line) budget.#charged.add(turn);
    return openTab(this.accounts, charged, known === undefined, at, () => {
      this.#tabs.delete(turn);
      for (const budget of line) budget.#charged.delete(turn);
    });
  }

  /**
   * Whether what a turn uses is counted here: its pipe has `guardrails()` with this budget, or a share of it, and it is under way.
   *
   * @example
   * ```ts
   * const share = createBudget().share({ name: 'researcher' });
   * if (!share.charges('turn-1')) throw new Error('Nothing would keep this turn within its share.');
   * ```
   */
  charges(turn: string): boolean {
    return this.#charged.has(turn);
  }

  /** What `createBudget({ restore })` takes. */
  toJSON(): JSONObject {
    const tabs = Object.fromEntries([...this.#tabs].map(([turn, charged]) => [turn, { ...charged }]));
    return {
      version: 1,
      counters: { ...this.#account.used() },
      tabs,
      ...(this.#reason !== undefined && { cutOff: this.#reason }),
    };
  }

  /** This budget, then those that it is a share of. */
  #line(): readonly Budget[] {
    return this.#parent ? [this, ...this.#parent.#line()] : [this];
  }

  #reservationOf(amounts: Amounts): Reservation {
    const { accounts } = this;
    const parts = [amounts];
    let isSettled = false;
    return {
      grow: (more) => {
        if (isSettled || accounts.some((account) => account.lacks(more, 0))) return false;
        for (const account of accounts) account.setAside(more);
        parts.push({ ...more });
        return true;
      },
      settle: (used) => {
        if (isSettled) return;
        isSettled = true;
        for (const account of accounts) for (const part of parts) account.free(part);
        if (used) this.spend(used);
        this.#changed();
      },
    };
  }

  /** Tells those who watch this budget or a share of it; each watches the whole line. */
  #changed(): void {
    // A listener may stop listening while it is called.
    for (const listener of Array.from(this.#watchers)) listener();
    if (this.#parent) this.#parent.#changed();
  }
}

/**
 * Makes a budget that turns, sessions and sub-agents share.
 *
 * @throws InvalidOptionError `invalid-option` for an unknown option or a value that it does not take
 *
 * @example
 * ```ts
 * const budget = createBudget({ maxTokens: 2_000_000, maxDurationMs: 3_600_000 });
 * const parent = harness({ model }).pipe(guardrails({ budget }));
 * const child = harness({ model }).pipe(guardrails({ budget: budget.share({ name: 'researcher', maxTokens: 200_000 }) }));
 * setTimeout(() => budget.cutOff('The operator pulled the plug.'), 60_000);
 * ```
 */
export const createBudget = (options: BudgetOptions = {}): Budget => {
  checkOptions('createBudget()', options, { ...allowanceChecks, name: nonEmptyString, restore: anyValue });
  checkExtension('createBudget()', options);
  return new Budget(options);
};

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
