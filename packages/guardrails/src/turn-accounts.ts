import { keep, type JSONValue, type NewEventOf, type TurnEventOf } from '@h/turn';
import { Account } from './account.js';
import { addTo, type Amounts, noCounters } from './counters.js';
import type { Budget, BudgetTab } from './budget.js';
import type { LimitName, LimitState } from './limits.js';
import type { GuardrailsSettings } from './options.js';

/** The key of the session's counters and of annotations. */
export const ownName = 'guardrails';

interface Pending {
  readonly amounts: Amounts;
  readonly accounts: readonly Account[];
}

/** Limits that a model call can exceed while it runs. */
const meteredLimits = [
  'maxTokens',
  'maxInputTokens',
  'maxOutputTokens',
  'maxCost',
  'maxOutputChars',
] as const satisfies readonly LimitName[];

/** The accounts that a turn uses: its own, the session's, and those of a shared budget and its parents. */
export class TurnAccounts {
  readonly #settings: GuardrailsSettings;
  readonly #turn: Account;
  #session: Account | undefined;
  #budget: Budget | undefined;
  #tab: BudgetTab | undefined;
  /** The accounts of the turn and of the session. */
  #own: readonly Account[] = [];
  #all: readonly Account[] = [];
  #timed: readonly Account[] = [];
  #isStarted = false;
  #isRunning = false;
  #isMetered = false;
  /** Amounts of events that were decided and not yet observed, by the key of the event. */
  #pending: Map<string, Pending> | undefined;
  /** The clock of the turn at the latest request. */
  #clock: { readonly at: number; readonly elapsedMs: number } | undefined;
  #lastAt = 0;

  constructor(settings: GuardrailsSettings) {
    this.#settings = settings;
    this.#turn = new Account('turn', settings.turn, undefined, settings.turnLimits);
    this.#list();
  }

  /** All accounts, the turn's own first. */
  get all(): readonly Account[] {
    return this.#all;
  }

  /**
   * Whether the tokens of a model call matter before the provider reports them: for a limit on them, or for an account
   * that outlives the turn.
   */
  get isMetered(): boolean {
    return this.#isMetered;
  }

  /** Whether a model call can exceed a limit while it runs. */
  get isWatched(): boolean {
    return this.#isMetered || this.#timed.length > 0;
  }

  /** Whether any account has this limit. */
  has(limit: LimitName): boolean {
    for (const account of this.#all) if (account.limits(limit)) return true;
    return false;
  }

  /** Whether what a limit measures is counted: for that limit, or for an account that outlives the turn. */
  counts(limit: LimitName): boolean {
    return this.#settings.outlivesTurn || this.#turn.limits(limit);
  }

  /** Whether amounts of any event are pending. */
  get hasPending(): boolean {
    return this.#pending !== undefined && this.#pending.size > 0;
  }

  /** The first limit that does not allow another step. */
  refuses(now: number): LimitState | undefined {
    for (const account of this.#all) {
      const limit = account.refuses(now);
      if (limit) return limit;
    }
    return undefined;
  }

  /** The first limit that was exceeded. */
  overrun(now: number): LimitState | undefined {
    for (const account of this.#all) {
      const limit = account.overrun(now);
      if (limit) return limit;
    }
    return undefined;
  }

  /** The limit on duration that is used up. Called for every delta. */
  late(now: number): LimitState | undefined {
    for (const account of this.#timed) {
      if (account.left('maxDurationMs', now) <= 0) return account.state('maxDurationMs', now);
    }
    return undefined;
  }

  /** The current state of a limit. */
  current({ scope, limit }: LimitState, now: number): LimitState {
    const account = this.#all.find((candidate) => candidate.scope === scope && candidate.limits(limit)) ?? this.#turn;
    return account.state(limit, now);
  }

  get budget(): Budget | undefined {
    return this.#budget;
  }

  /** The running time of the turn, in milliseconds. */
  elapsedMs(now: number): number {
    return this.#turn.used(now).durationMs;
  }

  /** Finds the budget for the turn, once. */
  start(event?: TurnEventOf<'turn.start'>): void {
    if (this.#isStarted) return;
    this.#isStarted = true;
    this.#budget = this.#settings.budgetOf(event);
    this.#list();
  }

  /** Loads what the session had used before the turn. */
  load(state: Readonly<Record<string, JSONValue>>, now: number): void {
    this.clocked(now, 0);
    if (this.#settings.session === undefined) return;
    const kept = state[ownName] as { readonly used?: unknown } | null | undefined;
    this.#session = new Account('session', this.#settings.session, kept?.used);
    this.#session.add({ ...this.#turn.used(now), durationMs: 0 });
    if (this.#isRunning) this.#session.enter(now);
    this.#list();
  }

  /** Records the time of an event. */
  passed(at: number): void {
    this.#lastAt = at;
  }

  /** Records how long the turn had been running at this time. */
  clocked(at: number, elapsedMs: number): void {
    this.#clock = { at, elapsedMs };
  }

  /** Starts the clock and charges the budget, including what the turn had used before its process died. */
  run(turn: string, at: number): void {
    if (this.#isRunning) return;
    this.start();
    this.#isRunning = true;
    const before = this.#clock === undefined ? 0 : this.#clock.elapsedMs + Math.max(0, this.#lastAt - this.#clock.at);
    for (const account of this.#own) {
      account.add({ durationMs: before });
      account.enter(at);
    }
    this.#tab = this.#budget?.open(turn, at);
    this.#tab?.catchUp(this.#turn.used());
  }

  /** Counts the amounts of a decided event as pending until {@link settle}; replaces earlier amounts of the key. */
  expect(key: string, amounts: Amounts): void {
    this.settle(key);
    (this.#pending ??= new Map()).set(key, { amounts, accounts: this.#all });
    for (const account of this.#all) account.expect(amounts);
  }

  /** Ends the pending state of an event, if it has one. */
  settle(key: string): void {
    const pending = this.#pending?.get(key);
    if (pending === undefined) return;
    this.#pending?.delete(key);
    for (const account of pending.accounts) account.settle(pending.amounts);
  }

  spend(amounts: Amounts): void {
    for (const account of this.#own) account.add(amounts);
    this.#tab?.spend(amounts);
  }

  endStep(hasFailed: boolean): void {
    for (const account of this.#own) account.endStep(hasFailed);
    this.#tab?.endStep(hasFailed);
  }

  /** The session's counters to store, including what is under way. */
  kept(now: number, underWay: () => Amounts): NewEventOf<'session.state'> | undefined {
    if (this.#session === undefined) return undefined;
    const used = { ...noCounters(), ...this.#session.used(now) };
    addTo(used, underWay());
    return keep(ownName, { version: 1, used });
  }

  close(at: number): void {
    for (const key of this.#pending?.keys() ?? []) this.settle(key);
    this.#tab?.close(at);
  }

  #list(): void {
    this.#own = this.#session === undefined ? [this.#turn] : [this.#turn, this.#session];
    this.#all = this.#budget === undefined ? this.#own : [...this.#own, ...this.#budget.accounts];
    this.#timed = this.#all.filter((account) => account.limits('maxDurationMs'));
    this.#isMetered =
      this.#settings.session !== undefined ||
      this.#budget !== undefined ||
      meteredLimits.some((limit) => this.has(limit));
  }
}
