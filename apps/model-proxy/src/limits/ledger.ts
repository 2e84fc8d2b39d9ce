import { randomUUID } from 'node:crypto';
import { LruMap } from '@h/bounded';
import type { BudgetLimits } from '../config.js';
import type { ThreadLink } from '../calls/conversations.js';
import { arrayOf, numberOf, objectOf, stringOf } from '../wire/json-value.js';
import { Refusal } from '../calls/refusal.js';
import { UsageJournal, type JournalLine } from './usage-journal.js';

/** What a model call uses. */
export interface Amounts {
  readonly tokens: number;
  /** US dollars. */
  readonly cost: number;
}

/** The client and the conversation that a call counts for. */
export interface Party {
  readonly client: string;
  readonly conversation: string;
}

/** The limits that apply to a party. */
export interface PartyLimits {
  readonly client: BudgetLimits;
  readonly conversation: BudgetLimits;
  readonly day: BudgetLimits;
}

/** An admitted model call, which counts with its estimate until it is settled. */
export interface Admission {
  /** Limits of which more than the warning share is used, as text. */
  readonly warnings: readonly string[];
  /** Replaces the estimate by what was used. Later calls change nothing. */
  settle(used: Amounts, link?: ThreadLink): void;
}

interface Account {
  tokens: number;
  cost: number;
  /** Estimates of calls that are running. */
  pendingTokens: number;
  pendingCost: number;
}

/** Maximum numbers of conversations, and of clients of a day, that are counted. The least recently used is evicted first. */
const maxConversations = 100_000;
const maxClients = 20_000;
/** Number of conversations and threads that a new file of the journal begins with. */
const maxInSnapshot = 20_000;
const dayMs = 86_400_000;
/** When a client may try again whose call does not fit beside those that are running, in milliseconds. */
const reservedRetryMs = 5_000;
/** Random times that are added, so that refused clients do not all try again at once, in milliseconds. */
const reservedJitterMs = 5_000;
const dayJitterMs = 60_000;

/** Options of {@link Ledger}. */
export interface LedgerOptions {
  readonly folder: string;
  readonly now: () => number;
  /** Returns a random number from 0 to 1. */
  readonly random: () => number;
  /** Share of a limit from which an admission has a warning. */
  readonly warnAt: number;
}

/**
 * Counts what clients, conversations and days use, and refuses calls beyond a limit.
 *
 * A call is recorded with its estimate before it is sent and with its usage when it has ended, so a process that is
 * killed in between has counted the estimate.
 */
export class Ledger {
  readonly #journal: UsageJournal;
  readonly #now: () => number;
  readonly #random: () => number;
  readonly #warnAt: number;
  readonly #conversations = new LruMap<string, Account>(maxConversations);
  readonly #links = new LruMap<string, ThreadLink>(maxInSnapshot);
  /** The records of running calls. */
  readonly #open = new Map<string, JournalLine>();
  #day = '';
  /** The time at which the day ends. */
  #dayEnd = 0;
  #daily = new LruMap<string, Account>(maxClients);

  private constructor(journal: UsageJournal, { now, random, warnAt }: LedgerOptions) {
    this.#journal = journal;
    this.#now = now;
    this.#random = random;
    this.#warnAt = warnAt;
  }

  /** @throws LockHeldError if another process uses the folder */
  static async open(options: LedgerOptions): Promise<Ledger> {
    const ledger = new Ledger(await UsageJournal.open(options.folder), options);
    try {
      ledger.#restore();
      return ledger;
    } catch (error) {
      await ledger.close();
      throw error;
    }
  }

  /** The threads of earlier processes. */
  get links(): Iterable<ThreadLink> {
    return [...this.#links.entries()].map(([, link]) => link);
  }

  /**
   * Admits a model call.
   *
   * @throws Refusal `over-budget` if a limit is reached; `unavailable` if the admission cannot be recorded
   */
  admit(party: Party, limits: PartyLimits, estimate: Amounts): Admission {
    const day = this.#today();
    const accounts = this.#accountsOf(party);
    const warnings: string[] = [];
    for (const [scope, account] of accounts) {
      const check = checkLimits(scope, account, limits[scope], estimate, this.#warnAt);
      warnings.push(...check.warnings);
      if (check.exceeded === undefined) continue;
      if (check.isReserved) {
        const retryAfterMs = reservedRetryMs + this.#random() * reservedJitterMs;
        throw new Refusal('over-budget', check.exceeded, { retryAfterMs, isTransient: true });
      }
      if (scope === 'conversation') throw new Refusal('over-budget', check.exceeded);
      const retryAfterMs = dayMs - (this.#now() % dayMs) + this.#random() * dayJitterMs;
      throw new Refusal('over-budget', check.exceeded, { retryAfterMs });
    }
    const id = randomUUID();
    const begun = { type: 'begin', id, ...party, day, ...estimate };
    try {
      this.#record(day, begun);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw new Refusal('unavailable', `The usage cannot be recorded (${reason}). Check the folder of the state.`);
    }
    this.#open.set(id, begun);
    for (const [, account] of accounts) reserve(account, estimate, 1);
    let isSettled = false;
    return {
      warnings,
      settle: (used, link) => {
        if (isSettled) return;
        isSettled = true;
        const end = { type: 'end', id, ...used, ...(link && { link }) };
        // First: a snapshot that this record begins contains the call as running, and only there.
        try {
          this.#record(this.#today(), end);
        } catch (error) {
          const reason = error instanceof Error ? error.message : String(error);
          process.emitWarning(`The usage of a call cannot be recorded: ${reason}`, { code: 'usage-not-recorded' });
        }
        this.#open.delete(id);
        for (const [, account] of accounts) {
          reserve(account, estimate, -1);
          spend(account, used);
        }
        if (link) this.#links.set(link.thread, link);
      },
    };
  }

  async close(): Promise<void> {
    await this.#journal.close();
  }

  #accountsOf({ client, conversation }: Party): readonly (readonly [keyof PartyLimits, Account])[] {
    return [
      ['conversation', accountIn(this.#conversations, conversation)],
      ['client', accountIn(this.#daily, client)],
      ['day', accountIn(this.#daily, '')],
    ];
  }

  /** Returns the current day, and begins it if it is new. A clock that goes back does not. */
  #today(): string {
    const now = this.#now();
    if (now >= this.#dayEnd) {
      this.#setDay(now);
      // Calls that are running count for the day on which they began.
      this.#daily = new LruMap(maxClients);
    } else if (now < this.#dayEnd - 2 * dayMs) {
      // The clock was days ahead. What was counted since then stays until the next day begins.
      this.#setDay(now);
    }
    return this.#day;
  }

  #setDay(now: number): void {
    this.#day = dayOf(now);
    this.#dayEnd = now - (now % dayMs) + dayMs;
  }

  #record(day: string, line: JournalLine): void {
    this.#journal.append(day, line, () => this.#snapshot());
  }

  #snapshot(): JournalLine {
    const conversations = [...this.#conversations.entries()].slice(-maxInSnapshot);
    return {
      type: 'snapshot',
      day: this.#day,
      daily: [...this.#daily.entries()].map(flat),
      conversations: conversations.map(flat),
      links: [...this.links],
      open: [...this.#open.values()],
    };
  }

  #restore(): void {
    this.#setDay(this.#now());
    const today = this.#day;
    const open = new Map<string, Begun>();
    for (const line of this.#journal.read()) {
      if (line.type === 'snapshot') {
        this.#restoreSnapshot(line, today);
        open.clear();
        for (const value of arrayOf(line['open'])) open.set(stringOf(objectOf(value)['id']) ?? '', begunOf(value));
      }
      const id = stringOf(line['id']);
      if (id === undefined) continue;
      if (line.type === 'begin') open.set(id, begunOf(line));
      else if (line.type === 'end') {
        const begun = open.get(id);
        open.delete(id);
        if (begun) this.#count(begun, amountsOf(line), today);
        const link = linkOf(line['link']);
        if (link) this.#links.set(link.thread, link);
      }
    }
    // The process that began these calls was killed, so their estimate is what is known.
    for (const begun of open.values()) this.#count(begun, begun, today);
  }

  #restoreSnapshot(line: JournalLine, today: string): void {
    const restore = (accounts: { set(key: string, account: Account): unknown }, values: unknown): void => {
      for (const value of arrayOf(values)) {
        const [key, tokens, cost] = arrayOf(value);
        if (typeof key === 'string') accounts.set(key, accountOf(numberOf(tokens), numberOf(cost)));
      }
    };
    restore(this.#conversations, line['conversations']);
    if (isCounted(stringOf(line['day']), today)) restore(this.#daily, line['daily']);
    for (const value of arrayOf(line['links'])) {
      const link = linkOf(value);
      if (link) this.#links.set(link.thread, link);
    }
  }

  #count(party: Begun, used: Amounts, today: string): void {
    for (const [scope, account] of this.#accountsOf(party)) {
      if (scope === 'conversation' || isCounted(party.day, today)) spend(account, used);
    }
  }
}

/** A call that was admitted on a day. */
interface Begun extends Party, Amounts {
  readonly day: string;
}

const begunOf = (value: unknown): Begun => {
  const { client, conversation, day } = objectOf(value);
  return {
    client: stringOf(client) ?? '',
    conversation: stringOf(conversation) ?? '',
    day: stringOf(day) ?? '',
    ...amountsOf(value),
  };
};

/** Later days count as today: the clock has been set back since. */
const isCounted = (day = '', today: string): boolean => day >= today;

const dayOf = (at: number): string => new Date(at).toISOString().slice(0, 10);

const accountOf = (tokens = 0, cost = 0): Account => ({ tokens, cost, pendingTokens: 0, pendingCost: 0 });

const accountIn = (
  accounts: { get(key: string): Account | undefined; set(key: string, account: Account): unknown },
  key: string,
): Account => {
  let account = accounts.get(key);
  if (!account) accounts.set(key, (account = accountOf()));
  return account;
};

const reserve = (account: Account, { tokens, cost }: Amounts, sign: 1 | -1): void => {
  account.pendingTokens += sign * tokens;
  account.pendingCost += sign * cost;
};

const spend = (account: Account, { tokens, cost }: Amounts): void => {
  account.tokens += tokens;
  account.cost += cost;
};

const amountsOf = (value: unknown): Amounts => {
  const { tokens, cost } = objectOf(value);
  return { tokens: numberOf(tokens) ?? 0, cost: numberOf(cost) ?? 0 };
};

const flat = ([key, { tokens, cost }]: readonly [string, Account]): readonly unknown[] => [key, tokens, cost];

const linkOf = (value: unknown): ThreadLink | undefined => {
  const { thread, keys } = objectOf(value);
  if (typeof thread !== 'string') return undefined;
  return { thread, keys: arrayOf(keys).filter((key) => typeof key === 'string') };
};

const owners: Readonly<Record<keyof PartyLimits, string>> = {
  client: 'This client',
  conversation: 'This conversation',
  day: 'This proxy',
};

const checkLimits = (
  scope: keyof PartyLimits,
  account: Account,
  limits: BudgetLimits,
  estimate: Amounts,
  warnAt: number,
): {
  readonly exceeded: string | undefined;
  /** Whether the call would fit if the estimates of running calls did not count. */
  readonly isReserved: boolean;
  readonly warnings: readonly string[];
} => {
  const warnings: string[] = [];
  for (const unit of ['tokens', 'cost'] as const) {
    const limit = limits[unit];
    if (limit === undefined) continue;
    const used = account[unit];
    const pending = unit === 'tokens' ? account.pendingTokens : account.pendingCost;
    const planned = used + pending + estimate[unit];
    const period = scope === 'conversation' ? '' : ' today';
    const state = `${owners[scope]} has used ${amountText(unit, used)} of ${amountText(unit, limit)}${period}`;
    if (planned > limit) {
      const isReserved = used + estimate[unit] <= limit;
      const running = pending > 0 ? ` beside ${amountText(unit, pending)} of running calls` : '';
      const reason =
        used >= limit ? '' : `, and this request needs about ${amountText(unit, estimate[unit])}${running}`;
      const advice = isReserved
        ? 'Try again when they have ended'
        : `Raise budgets.${scope}.${unit} of the proxy to continue`;
      return { exceeded: `${state}${reason}. ${advice}.`, isReserved, warnings };
    }
    if (planned >= limit * warnAt) warnings.push(state);
  }
  return { exceeded: undefined, isReserved: false, warnings };
};

const amountText = (unit: keyof Amounts, amount: number): string =>
  unit === 'cost' ? `$${amount.toFixed(amount < 1 ? 4 : 2)}` : `${Math.round(amount)} tokens`;
