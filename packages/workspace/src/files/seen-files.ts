import type { BigIntStats } from 'node:fs';

/** Identifies a version of a file. */
export interface FileVersion {
  readonly size: bigint;
  readonly modified: bigint;
  readonly inode: bigint;
  /**
   * Hash of the content, if it was read completely. It takes precedence, because touching a file does not change it.
   */
  readonly hash?: string | undefined;
}

/** Returns the version that the system reports. */
export const versionOf = (stats: BigIntStats, hash?: string): FileVersion => ({
  size: stats.size,
  modified: stats.mtimeNs,
  inode: stats.ino,
  hash,
});

/** Returns whether two versions have the same content, as far as known. */
export const isSameVersion = (left: FileVersion, right: FileVersion): boolean =>
  left.hash !== undefined && right.hash !== undefined
    ? left.hash === right.hash
    : left.size === right.size && left.modified === right.modified && left.inode === right.inode;

const maxSessions = 200;
const maxFiles = 2_000;

/**
 * The file versions that each session has read last.
 *
 * The least recently used sessions and files are evicted; evicted files count as unread.
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

/** Maps keep the order of insertion: the first key is the oldest. */
const setNewest = <Value>(map: Map<string, Value>, key: string, value: Value, limit: number): void => {
  map.delete(key);
  map.set(key, value);
  if (map.size > limit) map.delete(map.keys().next().value as string);
};
