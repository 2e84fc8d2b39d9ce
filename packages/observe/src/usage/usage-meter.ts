import { LruMap } from '@h/bounded';
import { cleanUsage, type CostOf } from '@h/prices';
import type { JSONValue, Usage } from '@h/turn';
import { anyFunction, checkOptions, integerFrom } from '@h/options';
import { priceOf, soundCost } from './price-of.js';
import { readTotals, writeTotals } from './stored-totals.js';
import { addTotals, noTotals, totalsOfCall, type UsageTotals } from './totals.js';

/** A model call for the meter. */
export interface UsageEntry {
  readonly turn: string;
  readonly usage: Partial<Usage> | undefined;
  /** The model name for `costOf`. */
  readonly model?: string | undefined;
  /** In US dollars, if already known. */
  readonly cost?: number | undefined;
  /** Whether the call failed. Its usage is counted. */
  readonly failed?: boolean | undefined;
  /** Identifies this call within its turn. Ordinals increase; a repeated ordinal is ignored. */
  readonly ordinal?: number | undefined;
  /** Separate sequence of ordinals, such as that of side questions. */
  readonly series?: string | undefined;
}

/** A metered turn. */
export interface MeteredTurn {
  readonly turn: string;
  readonly session: string;
  /** The parent turn; usage of the child counts for it as well. */
  readonly parent?: string | undefined;
}

/** Options of {@link createUsageMeter}. */
export interface UsageMeterOptions {
  /**
   * Computes the cost of a call: `priceTable(…)` or `await loadPrices()` of `@h/prices`.
   *
   * @defaultValue none; costs are unknown
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

/** Adds up usage and cost of model calls: per turn with its children, per session, and in total. */
export interface UsageMeter {
  readonly costOf: CostOf;
  /** Begins a turn. Entries of turns that were not begun count in `total` only. */
  begin(turn: MeteredTurn): void;
  record(entry: UsageEntry): void;
  /** Ends a turn, which is then a part of `extra()` of its parent: a turn that runs is counted again when it is resumed. */
  end(turn: string): void;
  /** Returns the usage of a turn, including its children. */
  turn(turn: string): UsageTotals;
  /** Returns the usage of a session, including children of its turns. */
  session(session: string): UsageTotals;
  /** Returns the usage of a turn that its journal does not contain: that of side questions and of children that ended. */
  extra(turn: string): UsageTotals;
  /** Adds the result of `extra()` to a turn that a new process resumes. It has no effect on a turn that has any. */
  addExtra(turn: string, extra: UsageTotals): void;
  /** Usage of all turns since the creation of the meter. */
  readonly total: UsageTotals;
  /** Returns the totals of a session as JSON, to be stored. */
  snapshot(session: string): JSONValue;
  /** Restores stored totals of a session, unless it is in memory. An unreadable snapshot is ignored. */
  restore(session: string, snapshot: JSONValue | undefined): void;
}

interface TurnEntry extends MeteredTurn {
  totals: UsageTotals;
  extra: UsageTotals;
  /** The highest counted ordinal of each series. */
  readonly counted: Map<string, number>;
  isEnded: boolean;
}

/** Maximum depth of parents to which usage is added. */
const maxDepth = 20;

/**
 * Creates a meter for tokens and dollars. The caller owns the meter; one meter serves all turns of a process.
 *
 * The meter counts each token once (`input` includes the cache, `output` includes reasoning), includes failed attempts
 * and adds children to their parents. A call without a known price makes the cost unknown, not 0.
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
    maxSessions: integerFrom(1),
    maxTurns: integerFrom(1),
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
      const parent: TurnEntry | undefined = entry.parent === undefined ? undefined : turns.get(entry.parent);
      if (entry.isEnded && parent !== undefined) parent.extra = addTotals(parent.extra, totals);
      entry = parent;
    }
  };
  return {
    costOf,
    begin: (turn) => {
      if (turns.get(turn.turn) !== undefined) return;
      turns.set(turn.turn, { ...turn, totals: noTotals, extra: noTotals, counted: new Map(), isEnded: false });
    },
    record: ({ turn, usage: given, model, cost, failed = false, ordinal, series = '' }) => {
      const entry = turns.get(turn);
      if (entry !== undefined && ordinal !== undefined) {
        if (ordinal <= (entry.counted.get(series) ?? 0)) return;
        entry.counted.set(series, ordinal);
      }
      const usage = cleanUsage(given);
      const totals = totalsOfCall(usage, soundCost(cost) ?? priceOf(costOf, usage, model), failed);
      total = addTotals(total, totals);
      if (entry === undefined) return;
      if (ordinal === undefined || series !== '') entry.extra = addTotals(entry.extra, totals);
      roll(entry, totals);
    },
    end: (turn) => {
      const entry = turns.get(turn);
      if (entry === undefined || entry.isEnded) return;
      entry.isEnded = true;
      const parent = entry.parent === undefined ? undefined : turns.get(entry.parent);
      if (parent !== undefined) parent.extra = addTotals(parent.extra, entry.totals);
    },
    extra: (turn) => turns.get(turn)?.extra ?? noTotals,
    addExtra: (turn, extra) => {
      const entry = turns.get(turn);
      if (entry === undefined || entry.extra !== noTotals) return;
      total = addTotals(total, extra);
      entry.extra = extra;
      roll(entry, extra);
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
