import type { BigIntStats } from 'node:fs';

/** What tells one version of a file from another. */
export interface FileVersion {
  readonly size: bigint;
  readonly modified: bigint;
  readonly inode: bigint;
  /** Hash of the content, where all of it was read. It outweighs the rest: touching a file does not change it. */
  readonly hash?: string | undefined;
}

/** The version that the system describes. */
export const versionOf = (stats: BigIntStats, hash?: string): FileVersion => ({
  size: stats.size,
  modified: stats.mtimeNs,
  inode: stats.ino,
  hash,
});

/** Whether two descriptions are of the same content, as far as they can tell. */
export const isSameVersion = (left: FileVersion, right: FileVersion): boolean =>
  left.hash !== undefined && right.hash !== undefined
    ? left.hash === right.hash
    : left.size === right.size && left.modified === right.modified && left.inode === right.inode;

const maxSessions = 200;
const maxFiles = 2_000;

/**
 * Which version of which file each session has seen last.
 *
 * It forgets the sessions and files that were not used for longest; what is forgotten counts as never read.
 */
export class SeenFiles {
  readonly #sessions = new Map<string, Map<string, FileVersion>>();

  get(session: string, path: string): FileVersion | undefined {
    return this.#sessions.get(session)?.get(path);
  }

  remember(session: string, path: string, version: FileVersion): void {
    const files = this.#sessions.get(session) ?? new Map<string, FileVersion>();
    setNewest(files, path, version, maxFiles);
    setNewest(this.#sessions, session, files, maxSessions);
  }
}

/** Maps keep the order in which keys came in: the first one is the oldest. */
const setNewest = <Value>(map: Map<string, Value>, key: string, value: Value, limit: number): void => {
  map.delete(key);
  map.set(key, value);
  if (map.size > limit) map.delete(map.keys().next().value as string);
};
