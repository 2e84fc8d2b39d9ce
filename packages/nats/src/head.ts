import type { PastTurn } from '@h/turn';

/** What the bucket contains about a session. */
export interface Head {
  readonly session: string;
  /** The process that holds the session. */
  readonly owner: string | null;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly turns: number;
  readonly latest: PastTurn | null;
  readonly firstInput: string;
  readonly bytes: number;
}

/** A head with the revision of its key, by which the next write of it is checked. */
export interface StoredHead extends Head {
  readonly revision: number;
}

/** The head of a session without turns. */
export const emptyHead: StoredHead = {
  session: '',
  owner: null,
  createdAt: 0,
  updatedAt: 0,
  turns: 0,
  latest: null,
  firstInput: '',
  bytes: 0,
  revision: 0,
};

/** Returns the JSON of an entry; `undefined` if it has none. */
export const parse = (text: string): unknown => {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
};

export const isHead = (found: unknown): found is Head => {
  const { session, owner, latest, turns } = (found ?? {}) as Partial<Record<keyof Head, unknown>>;
  const isTurn = typeof latest === 'object' && (latest === null || typeof (latest as PastTurn).turn === 'string');
  return (
    typeof session === 'string' && (owner === null || typeof owner === 'string') && isTurn && Number.isInteger(turns)
  );
};
