import { stat } from 'node:fs/promises';
import { ifExists, type FileLock } from '@h/files';
import type { RecentSessions } from '../recent-sessions.js';
import type { Checkpoint } from './checkpoint.js';
import type { SessionFolder } from './folder.js';

/** A session before its latest turns, in memory. */
export interface MemoryCheckpoint extends Checkpoint {
  /** Offset of the journal that the checkpoint on disk covers. `bytes` is the size of that checkpoint. */
  readonly savedSize: number;
}

/** A checkpoint and the files to which it belongs. */
interface Recent {
  readonly checkpoint: MemoryCheckpoint;
  readonly generation: number;
  readonly files: string;
}

/** The checkpoints of the sessions that this process closed last, by folder. */
export type RecentCheckpoints = RecentSessions<Recent>;

/** Stores the checkpoint of a session that is about to be closed, unless its lock was lost. Never rejects. */
export const remember = async (
  recent: RecentCheckpoints,
  folder: SessionFolder,
  lock: FileLock,
  checkpoint: MemoryCheckpoint,
): Promise<void> => {
  try {
    const files = await stateOf(folder);
    await lock.check();
    const bytes = checkpoint.bytes + checkpoint.head.size - checkpoint.savedSize;
    recent.put(folder.path, { checkpoint, generation: lock.generation, files }, bytes);
  } catch {
    // The session is read from its files when it is opened again.
  }
};

/** Returns the checkpoint of a session that no other holder has opened and nothing has changed since it was closed. */
export const recall = async (
  recent: RecentCheckpoints,
  folder: SessionFolder,
  lock: FileLock,
): Promise<MemoryCheckpoint | undefined> => {
  const latest = recent.take(folder.path);
  const isNext = latest !== undefined && !lock.isTakeover && lock.generation === latest.generation + 1;
  return isNext && (await stateOf(folder)) === latest.files ? latest.checkpoint : undefined;
};

/** Identifies the journal and the snapshot, and changes with every change of them. */
const stateOf = async ({ journal, snapshot }: SessionFolder): Promise<string> => {
  const stats = await Promise.all([journal, snapshot].map((path) => ifExists(stat(path, { bigint: true }))));
  return stats.map((each) => each && [each.dev, each.ino, each.size, each.mtimeNs, each.ctimeNs].join(' ')).join('\n');
};
