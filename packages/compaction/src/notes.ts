import type { JSONObject, JSONValue } from '@h/turn';

/** What compaction remembers of a session from turn to turn: small, and made of JSON. */
export interface Notes {
  readonly v: 1;
  /** The model that was asked last. */
  readonly model?: string | undefined;
  /** How many compactions in a row have saved next to nothing or failed. */
  readonly ineffective: number;
  /** The size at which the last of them was tried, and the one from which on the next is. */
  readonly triedAt: number;
  readonly retryAt: number;
  /** Windows that providers have named in overflow errors, by model. */
  readonly windows: Readonly<Record<string, number>>;
  /** How far estimates are from what providers report, by model. */
  readonly factors: Readonly<Record<string, number>>;
}

export const noNotes: Notes = Object.freeze({ v: 1, ineffective: 0, triedAt: 0, retryAt: 0, windows: {}, factors: {} });

/** Reads notes back; what is not of this version counts as none. */
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

/** A compaction that saves less than this share of a request was for nothing. */
export const leastSaving = 0.05;

/** By how much a request has to grow after so many compactions for nothing, as a share of what is usable. */
const growth = [0, 0.02, 0.04, 0.08, 0.16] as const;

/**
 * Notes after a compaction that left a request with so many tokens.
 *
 * One for nothing, and one that did not get below the threshold, is not tried again before the request has grown: from one to the
 * next by twice as much.
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

/** Whether a compaction at this size would only repeat one for nothing. A window that is full is tried once more. */
export const isBackingOff = ({ triedAt, retryAt }: Notes, tokens: number, usable: number): boolean =>
  tokens < retryAt && !(tokens > usable && triedAt <= usable);
