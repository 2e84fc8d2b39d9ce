import { createHash } from 'node:crypto';

/** What a format wants to know that messages do not say. */
export interface FormatContext {
  /** The id of the session. */
  readonly session: string;
  /** The folder in which the agent worked. */
  readonly cwd: string;
  /** When it was, as milliseconds since 1970. */
  readonly at: number;
}

/** An id in the shape of a UUID, the same for the same place of the same session. */
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
