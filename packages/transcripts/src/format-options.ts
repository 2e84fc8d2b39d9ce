import { createHash } from 'node:crypto';

/** Session data that a format needs and messages do not contain. */
export interface FormatContext {
  /** The id of the session. */
  readonly session: string;
  /** The folder in which the agent worked. */
  readonly cwd: string;
  /** The time of the session, in milliseconds since 1970. */
  readonly at: number;
}

/** Derives an id in the form of a UUID from a position in a session. */
export const idOf = (session: string, place: number | string): string => {
  const hash = createHash('sha256').update(`${session}/${place}`).digest('hex');
  return [
    hash.slice(0, 8),
    hash.slice(8, 12),
    `4${hash.slice(13, 16)}`,
    `8${hash.slice(17, 20)}`,
    hash.slice(20, 32),
  ].join('-');
};

export const isoTime = (at: number): string => new Date(at).toISOString();

export const toLines = (values: readonly object[]): string =>
  values.map((value) => `${JSON.stringify(value)}\n`).join('');
