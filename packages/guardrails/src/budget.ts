import {
  anyString,
  checkOptions,
  nonEmptyString,
  objectOf,
  oneOf,
  recordOf,
  required,
  type OptionCheck,
} from '@h/options';
import type { JSONObject } from '@h/turn';
import { Account } from './account.js';
import {
  addTo,
  amountChecks,
  type Amounts,
  completeCounters,
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
   * The name of the budget in reasons and notices.
   *
   * @defaultValue `'budget'`
   */
  readonly name?: string | undefined;
  /** The result of `toJSON()`: the budget continues from there; any other value throws an `InvalidOptionError`. */
  readonly restore?: unknown;
}

/** Amounts that are reserved for one use. `settle` ends the reservation; further calls have no effect. */
export interface Reservation {
  /** Reserves more; returns `false` if there is not enough left. */
  grow(amounts: Amounts): boolean;
  /** Ends the reservation and counts what was used. */
  settle(used?: Amounts): void;
}

/**
 * An allowance that turns, sessions and sub-agents share. The caller creates it and passes it to `guardrails()`.
 *
 * Everything is synchronous, and amounts are reserved before a call begins, so that two concurrent turns cannot both
 * use the last unit. Spending from a share also spends from its parent.
 */
export class Budget {
  readonly name: string;
  readonly #account: Account;
  readonly #parent: Budget | undefined;
  /** Running turns by id, with what each has used. */
  readonly #tabs = new Map<string, ReturnType<typeof noCounters>>();
  /** Running turns that are charged to this budget or to a share of it. */
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

  /** The accounts that are charged: this one, then its parents. */
  get accounts(): readonly Account[] {
    return this.#line().map((budget) => budget.#account);
  }

  /** What this budget and its shares have used. With a time, the duration of running turns is included. */
  used(now?: number): Counters {
    return this.#account.used(now);
  }

  /**
   * The limits of this budget and its parents, and what was used of each.
   *
   * @param now - the time in milliseconds since 1970, for limits on duration
   */
  limits(now = 0): readonly LimitState[] {
    return this.accounts.flatMap((account) => account.states(now));
  }

  /**
   * Counts use outside of turns, such as a summary, a judge or an image.
   *
   * @throws InvalidOptionError `invalid-option` for an unknown, negative or infinite amount
   */
  spend(amounts: Amounts): void {
    checkOptions('spend()', amounts, amountChecks);
    for (const account of this.accounts) account.add(amounts);
  }

  /**
   * Reserves amounts; returns `undefined` if this budget or a parent does not have enough left.
   *
   * @example
   * ```ts
   * const reservation = budget.reserve({ cost: 0.05 });
   * if (!reservation) throw new Error('The budget does not cover an image.');
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
    for (const account of accounts) account.reserve(amounts);
    return this.#reservationOf({ ...amounts });
  }

  /**
   * Creates a budget that is also spent from this one, for a sub-agent, a user or a job. It may have further limits;
   * those of this budget apply as well.
   *
   * @throws InvalidOptionError `invalid-option`
   */
  share(options: Omit<BudgetOptions, 'restore'> = {}): Budget {
    checkOptions('share()', options, { ...allowanceChecks, name: nonEmptyString });
    checkExtension('share()', options);
    return new Budget({ name: this.name, ...options }, this);
  }

  /** Ends all turns that use this budget or a share of it, and refuses new ones. */
  cutOff(reason: string): void {
    if (this.#reason !== undefined) return;
    this.#reason = reason;
    this.#changed();
  }

  /** The reason for which this budget or a parent was cut off. */
  get cutOffReason(): string | undefined {
    return this.#reason ?? this.#parent?.cutOffReason;
  }

  /**
   * Notifies the listener when amounts were released or the budget was cut off.
   *
   * @returns the function that unsubscribes
   */
  watch(listener: () => void): () => void {
    const parents = this.#parent?.watch(listener);
    this.#watchers.add(listener);
    return () => {
      this.#watchers.delete(listener);
      parents?.();
    };
  }

  /** Opens the tab of a turn. A resumed turn continues its tab unless that was closed. */
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
   * Whether the use of a turn is counted here: the turn is running, and its pipe has `guardrails()` with this budget or
   * a share.
   *
   * @example
   * ```ts
   * const share = createBudget().share({ name: 'researcher' });
   * if (!share.charges('turn-1')) throw new Error('No operator limits this turn to its share.');
   * ```
   */
  charges(turn: string): boolean {
    return this.#charged.has(turn);
  }

  /** The state that `createBudget({ restore })` accepts. */
  toJSON(): JSONObject {
    // A sum of costs that was partly subtracted can be slightly negative.
    const tabs = Object.fromEntries([...this.#tabs].map(([turn, charged]) => [turn, storedCounters(charged)]));
    return {
      version: 1,
      counters: storedCounters(this.#account.used()),
      tabs,
      ...(this.#reason !== undefined && { cutOff: this.#reason }),
    };
  }

  /** This budget, then its parents. */
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
        for (const account of accounts) account.reserve(more);
        parts.push({ ...more });
        return true;
      },
      settle: (used) => {
        if (isSettled) return;
        if (used) checkOptions('settle()', used, amountChecks);
        isSettled = true;
        for (const account of accounts) for (const part of parts) account.release(part);
        if (used) this.spend(used);
        this.#changed();
      },
    };
  }

  /** Notifies the watchers of this budget and its shares; each watches all parents. */
  #changed(): void {
    // A listener may unsubscribe while it is called.
    for (const listener of Array.from(this.#watchers)) listener();
    if (this.#parent) this.#parent.#changed();
  }
}

/**
 * Creates a budget that turns, sessions and sub-agents share.
 *
 * @throws InvalidOptionError `invalid-option` for an unknown option or an invalid value
 *
 * @example
 * ```ts
 * const budget = createBudget({ maxTokens: 2_000_000, maxDurationMs: 3_600_000 });
 * const parent = harness({ model }).pipe(guardrails({ budget }));
 * const share = budget.share({ name: 'researcher', maxTokens: 200_000 });
 * const child = harness({ model }).pipe(guardrails({ budget: share }));
 * setTimeout(() => budget.cutOff('Stopped by the operator.'), 60_000);
 * ```
 */
export const createBudget = (options: BudgetOptions = {}): Budget => {
  checkOptions('createBudget()', options, { ...allowanceChecks, name: nonEmptyString, restore: storedBudget });
  checkExtension('createBudget()', options);
  return new Budget(options);
};

/** A damaged state must not become a budget of which nothing is spent. */
const storedBudget: OptionCheck = objectOf({
  version: required(oneOf(1)),
  counters: required(completeCounters),
  tabs: recordOf(completeCounters),
  cutOff: anyString,
});

/** The use of a budget by one turn. */
export interface BudgetTab {
  spend(amounts: Amounts): void;
  endStep(hasFailed: boolean): void;
  /** Counts what the turn had used before its process died, unless it is counted already. */
  catchUp(used: Counters): void;
  /** Ends the use when the turn has ended or lost its subscriber. */
  close(at: number): void;
}

/** Opens a tab on these accounts; `charged` accumulates what the turn uses. */
const openTab = (
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
