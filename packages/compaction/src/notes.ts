import type { JSONObject, JSONValue } from '@h/turn';

/** What compaction stores in a session between turns. Small, plain JSON. */
export interface Notes {
  readonly v: 1;
  /** The latest model. */
  readonly model?: string | undefined;
  /** The number of consecutive compactions that failed or saved almost nothing. */
  readonly ineffective: number;
  /** The size at which the latest of them was tried, and the size for the next attempt. */
  readonly triedAt: number;
  readonly retryAt: number;
  /** Windows that providers named in overflow errors, by model. */
  readonly windows: Readonly<Record<string, number>>;
  /** Ratios of reported to estimated tokens, by model. */
  readonly factors: Readonly<Record<string, number>>;
}

export const noNotes: Notes = Object.freeze({ v: 1, ineffective: 0, triedAt: 0, retryAt: 0, windows: {}, factors: {} });

/** Reads stored notes; other versions count as absent. */
export const readNotes = (value: JSONValue | undefined): Notes => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return noNotes;
  const { v, model, ineffective, triedAt, retryAt, windows, factors } = value as JSONObject;
  if (v !== 1) return noNotes;
  return {
    v,
    ...(typeof model === 'string' && { model }),
    ineffective: numberOr0(ineffective),
    triedAt: numberOr0(triedAt),
    retryAt: numberOr0(retryAt),
    windows: numbersOf(windows),
    factors: numbersOf(factors),
  };
};

export const notesToJson = ({ v, model, ineffective, triedAt, retryAt, windows, factors }: Notes): JSONValue => ({
  v,
  ...(model !== undefined && { model }),
  ineffective,
  triedAt,
  retryAt,
  windows,
  factors,
});

const numberOr0 = (value: JSONValue | undefined): number => (typeof value === 'number' && value > 0 ? value : 0);

const numbersOf = (value: JSONValue | undefined): Readonly<Record<string, number>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(
        Object.entries(value).filter(
          (entry): entry is [string, number] => typeof entry[1] === 'number' && entry[1] > 0,
        ),
      )
    : {};

/** A compaction that saves less than this share of a request is ineffective. */
export const leastSaving = 0.05;

/**
 * The growth of a request before the next attempt, after N ineffective compactions, as a share of the usable window.
 */
const growth = [0, 0.02, 0.04, 0.08, 0.16] as const;

/**
 * The notes after a compaction, given the resulting size of the request.
 *
 * An ineffective compaction, or one that stayed above the threshold, is repeated only after the request has grown: each
 * time by twice as much.
 */
export const afterCompaction = (
  notes: Notes,
  before: number,
  after: number,
  limits: { readonly usable: number; readonly limit: number },
): Notes => {
  const isEffective = after <= before * (1 - leastSaving);
  if (isEffective && after <= limits.limit) return notes.retryAt === 0 ? notes : { ...notes, triedAt: 0, retryAt: 0 };
  const ineffective = notes.ineffective + 1;
  const share = growth[Math.min(ineffective, growth.length - 1)] as number;
  return { ...notes, ineffective, triedAt: before, retryAt: after + limits.usable * share };
};

/** Whether a compaction at this size would repeat an ineffective one. A full window is tried once more. */
export const isBackingOff = ({ triedAt, retryAt }: Notes, tokens: number, usable: number): boolean =>
  tokens < retryAt && !(tokens > usable && triedAt <= usable);
