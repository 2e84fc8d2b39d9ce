import { constants } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { fileSize, ifExists, openRegularFile, type FileLock } from '@h/files';
import { backUp, backUpBytes } from './backup.js';
import { noCheckpoint, readCheckpoint, writeCheckpoint, type Checkpoint } from './checkpoint.js';
import type { SessionFolder } from './folder.js';
import { emptyHead, encodeHead, readHead, type Head } from './head.js';
import { load, loadedFrom, type Damage, type Loaded } from './load.js';
import type { FileSettings, SessionProblem } from './options.js';
import type { MemoryCheckpoint } from './recent.js';
import { emptySession } from './remove-session.js';

/** Reading this number of bytes again is as fast as writing and syncing a checkpoint. */
const minUnsavedBytes = 1 << 17;

/**
 * Reads a session and repairs its files. Removed bytes are copied to a backup first. Only the holder of the lock may
 * call it.
 *
 * A writer past its lease may resume at any moment, even within a write. It keeps the file that it has open, and the
 * session continues in a copy.
 *
 * After a long read a new checkpoint is written. Its size is limited to a share of the journal since the last one.
 *
 * @param recent - a checkpoint in memory, which saves reading the one on disk
 */
export const loadAndRepair = async (
  folder: SessionFolder,
  settings: FileSettings,
  lock: FileLock,
  recent?: MemoryCheckpoint,
): Promise<{ readonly loaded: Loaded; readonly before: MemoryCheckpoint }> => {
  const report: Report = (problem) => settings.onProblem({ session: folder.session, ...problem });
  const repair: Repair = { folder, lock, report, sync: settings.fsync !== 'never' };
  if (lock.isTakeover) {
    await ifExists(lock.replaceFile(folder.journal, { copyOf: folder.journal }));
    await lock.settle();
  }
  const head = lock.wasEmpty ? undefined : await repairHead(repair);
  const { savedSize, bytes, loaded, isShort, isRecent } =
    (recent && (await readRecent(folder, recent))) ?? (await read(repair));
  if (loaded.damage) await cut(repair, loaded.damage);
  const lost = (head?.size ?? 0) - loaded.head.size;
  if (lost > 0 && !loaded.damage && !isShort) {
    const message = `The journal ends ${lost} bytes before the last known record. Turns in the missing part are lost.`;
    report({ kind: 'lost-records', path: folder.journal, backup: undefined, bytes: lost, message });
  }
  // A new session gets its head later.
  if ((!head && !lock.wasEmpty) || lost > 0) {
    await lock.replaceFile(folder.head, encodeHead(loaded.head), { sync: repair.sync });
  }
  const turns = loaded.turns.without(loaded.journal[0]?.event.turn);
  const before = { head: loaded.headBefore, snapshot: loaded.snapshot, turns, bytes, savedSize };
  if (isRecent || !mustSave(before)) return { loaded, before };
  try {
    await writeCheckpoint(folder, before, lock, repair.sync);
  } catch {
    // A checkpoint only saves time, so a full disk does not prevent opening the session.
    return { loaded, before };
  }
  return { loaded, before: { ...before, bytes: await fileSize(folder.snapshot), savedSize: before.head.size } };
};

/** Whether so much follows the checkpoint on disk that a new one is written. */
const mustSave = ({ head, savedSize, bytes }: MemoryCheckpoint): boolean =>
  head.size - savedSize > Math.max(minUnsavedBytes, bytes);

type Report = (problem: Omit<SessionProblem, 'session'>) => void;

interface Repair {
  readonly folder: SessionFolder;
  readonly lock: FileLock;
  readonly report: Report;
  readonly sync: boolean;
}

/** Reads the head, rebuilds a damaged one, and completes an interrupted deletion. */
const repairHead = async (repair: Repair): Promise<Head | undefined> => {
  const { folder, lock } = repair;
  try {
    const head = await readHead(folder);
    if (!head?.isDeleted) return head;
    await emptySession(folder, lock);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    const message = 'The summary for lists is damaged. It is rebuilt from the journal.';
    await replaceDamaged(repair, folder.head, [encodeHead(emptyHead(folder.session))], 'corrupt-head', message);
  }
  return undefined;
};

interface Read extends Pick<MemoryCheckpoint, 'savedSize' | 'bytes'> {
  readonly loaded: Loaded;
  readonly isShort: boolean;
  readonly isRecent: boolean;
}

/** Reads the records after a checkpoint in memory. Checkpoints on disk are written from what was read from the disk. */
const readRecent = async (folder: SessionFolder, recent: MemoryCheckpoint): Promise<Read | undefined> => {
  const loaded = await load(folder.journal, recent);
  return loaded.damage || mustSave({ ...recent, head: loaded.headBefore })
    ? undefined
    : { ...recent, loaded, isShort: false, isRecent: true };
};

const readFrom = ({ head, bytes }: Checkpoint, loaded: Loaded, isShort = false): Read => ({
  savedSize: head.size,
  bytes,
  loaded,
  isShort,
  isRecent: false,
});

const read = async (repair: Repair): Promise<Read> => {
  const { folder, lock } = repair;
  const empty = noCheckpoint(folder.session);
  if (lock.wasEmpty) return readFrom(empty, loadedFrom(empty));
  const fromStart = async (): Promise<Read> => readFrom(empty, await load(folder.journal, empty));
  let checkpoint: Checkpoint | undefined;
  try {
    checkpoint = await readCheckpoint(folder);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    const message = 'The snapshot is damaged. It is rebuilt from the journal.';
    await replaceDamaged(repair, folder.snapshot, [], 'corrupt-snapshot', message);
  }
  if (!checkpoint) return fromStart();
  const size = await fileSize(folder.journal);
  if (size < checkpoint.head.size) return restartJournal(repair, checkpoint, size);
  const loaded = await load(folder.journal, checkpoint);
  const isMisplaced = loaded.damage?.at === checkpoint.head.size && !loaded.damage.isTorn;
  if (!isMisplaced) return readFrom(checkpoint, loaded);
  const message = 'The snapshot does not match the journal. It is rebuilt from the journal.';
  await replaceDamaged(repair, folder.snapshot, [], 'corrupt-snapshot', message);
  return fromStart();
};

/** Starts a new journal after the snapshot, because at least a part of the old one is lost. */
const restartJournal = async (repair: Repair, checkpoint: Checkpoint, size: number): Promise<Read> => {
  const { folder, lock } = repair;
  const message = 'The journal ends before the snapshot does. It is restarted after the snapshot.';
  if (size > 0) await replaceDamaged(repair, folder.journal, [], 'short-journal', message);
  else repair.report({ kind: 'short-journal', path: folder.journal, backup: undefined, bytes: 0, message });
  const restarted = { ...checkpoint, head: { ...checkpoint.head, size: 0 } };
  await writeCheckpoint(folder, restarted, lock, true);
  return readFrom(restarted, await load(folder.journal, restarted), true);
};

/** Truncates a journal before its damage. */
const cut = async ({ folder, lock, report }: Repair, { at, isTorn, reason }: Damage): Promise<void> => {
  const path = folder.journal;
  const handle = await openRegularFile(path, constants.O_RDWR);
  try {
    const bytes = (await handle.stat()).size - at;
    const backup = isTorn
      ? await backUpBytes(path, 'torn', await bytesFrom(handle, at, bytes))
      : await backUp(path, 'corrupt');
    // The lock is checked after the file was opened: a process that takes over later continues in a copy.
    await lock.check();
    await handle.truncate(at);
    report({ kind: isTorn ? 'torn-record' : 'corrupt-journal', path, backup, bytes, message: reason });
  } finally {
    await handle.close();
  }
};

const bytesFrom = async (handle: FileHandle, at: number, bytes: number): Promise<Buffer> => {
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(bytes), { position: at });
  return buffer.subarray(0, bytesRead);
};

/** Replaces a damaged file and keeps a copy. */
const replaceDamaged = async (
  { lock, report }: Repair,
  path: string,
  lines: readonly string[],
  kind: SessionProblem['kind'],
  message: string,
): Promise<void> => {
  const bytes = await fileSize(path);
  const backup = await backUp(path, kind === 'short-journal' ? 'short' : 'corrupt');
  await lock.replaceFile(path, lines);
  report({ kind, message, path, backup, bytes });
};
