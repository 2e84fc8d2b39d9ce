import { LruMap } from '@h/bounded';
import { cleanUsage, type CostOf } from '@h/prices';
import type { JSONValue, Usage } from '@h/turn';
import { anyFunction, checkOptions, integerFrom } from '@h/options';
import { readTotals, writeTotals } from './stored-totals.js';
import { addTotals, noTotals, totalsOfCall, type UsageTotals } from './totals.js';

/** A model call to be counted. */
export interface UsageEntry {
  readonly turn: string;
  readonly usage: Partial<Usage> | undefined;
  /** As `costOf` takes it. */
  readonly model?: string | undefined;
  /** In US dollars, if already known. */
  readonly cost?: number | undefined;
  /** The call has failed. What it used counts all the same. */
  readonly failed?: boolean | undefined;
  /** Identifies this call within its turn. Ordinals increase; a call that was counted is not counted again. */
  readonly ordinal?: number | undefined;
  /** Counts the ordinals of this kind apart, such as those of side questions. */
  readonly series?: string | undefined;
}

/** A turn that is metered. */
export interface MeteredTurn {
  readonly turn: string;
  readonly session: string;
  /** The parent turn; usage of the child counts for it as well. */
  readonly parent?: string | undefined;
}

/** Options of {@link createUsageMeter}. */
export interface UsageMeterOptions {
  /**
   * What calls cost: `priceTable(…)`, or `await loadPrices()` of `@h/observe/prices`.
   *
   * @defaultValue no price is known, so no cost
   */
  readonly costOf?: CostOf | undefined;
  /**
   * Maximum number of sessions in memory. Totals of others are restored from the state of the session.
   *
   * @defaultValue `10_000`
   */
  readonly maxSessions?: number | undefined;
  /**
   * Maximum number of turns in memory.
   *
   * @defaultValue `10_000`
   */
  readonly maxTurns?: number | undefined;
}

/** Adds up what model calls use and cost: by turn, with its children, by session and in all. */
export interface UsageMeter {
  readonly costOf: CostOf;
  /** Begins a turn. Entries of turns that were not begun count in `total` only. */
  begin(turn: MeteredTurn): void;
  record(entry: UsageEntry): void;
  /** Returns the usage of a turn, including its children. */
  turn(turn: string): UsageTotals;
  /** Returns the usage of a session, including children of its turns. */
  session(session: string): UsageTotals;
  /** Usage of all turns since the meter was created. */
  readonly total: UsageTotals;
  /** Returns the totals of a session as JSON, to be stored. */
  snapshot(session: string): JSONValue;
  /** Restores stored totals of a session, unless it is in memory. An unreadable snapshot is ignored. */
  restore(session: string, snapshot: JSONValue | undefined): void;
}

interface TurnEntry extends MeteredTurn {
  totals: UsageTotals;
  /** The highest ordinal that was counted, by series. */
  readonly counted: Map<string, number>;
}

/** Children of children are rolled up this far. */
const maxDepth = 20;

/**
 * A meter for tokens and dollars. It belongs to the caller: one serves all turns of a process.
 *
 * Nothing is counted twice (`input` includes the cache, `output` includes reasoning), failed attempts count, children
 * count for their parents, and a call without a known price makes the cost unknown, never 0.
 *
 * @throws InvalidOptionError `invalid-option`
 *
 * @example
 * ```ts
 * const meter = createUsageMeter({ costOf: await loadPrices() });
 * const agent = harness(drivers).pipe(observe({ meter }));
 * console.log(formatTotals(meter.session('alice')));
 * ```
 */
export const createUsageMeter = (options: UsageMeterOptions = {}): UsageMeter => {
  checkOptions('createUsageMeter()', options, {
    costOf: anyFunction,
    maxSessions: integerFrom(1, Infinity),
    maxTurns: integerFrom(1, Infinity),
  });
  const { costOf = () => undefined, maxSessions = 10_000, maxTurns = 10_000 } = options;
  const turns = new LruMap<string, TurnEntry>(maxTurns);
  const sessions = new LruMap<string, UsageTotals>(maxSessions);
  let total = noTotals;

  const roll = (first: TurnEntry, totals: UsageTotals): void => {
    const seen = new Set<string>();
    const seenSessions = new Set<string>();
    for (
      let entry: TurnEntry | undefined = first, depth = 0;
      entry !== undefined && depth < maxDepth && !seen.has(entry.turn);
      depth += 1
    ) {
      seen.add(entry.turn);
      entry.totals = addTotals(entry.totals, totals);
      if (!seenSessions.has(entry.session)) {
        sessions.set(entry.session, addTotals(sessions.get(entry.session) ?? noTotals, totals));
      }
      seenSessions.add(entry.session);
      entry = entry.parent === undefined ? undefined : turns.get(entry.parent);
    }
  };
  return {
    costOf,
    begin: (turn) => {
      if (turns.get(turn.turn) === undefined) turns.set(turn.turn, { ...turn, totals: noTotals, counted: new Map() });
    },
    record: ({ turn, usage: given, model, cost, failed = false, ordinal, series = '' }) => {
      const entry = turns.get(turn);
      if (entry !== undefined && ordinal !== undefined) {
        if (ordinal <= (entry.counted.get(series) ?? 0)) return;
        entry.counted.set(series, ordinal);
      }
      const usage = cleanUsage(given);
      const totals = totalsOfCall(usage, cost ?? costOf(usage, model), failed);
      total = addTotals(total, totals);
      if (entry !== undefined) roll(entry, totals);
    },
    turn: (turn) => turns.get(turn)?.totals ?? noTotals,
    session: (session) => sessions.get(session) ?? noTotals,
    get total() {
      return total;
    },
    snapshot: (session) => writeTotals(sessions.get(session) ?? noTotals),
    restore: (session, snapshot) => {
      const totals = readTotals(snapshot);
      if (totals !== undefined && sessions.get(session) === undefined) sessions.set(session, totals);
    },
  };
};
