import { open, type FileHandle } from 'node:fs/promises';
import type { SessionLock } from '../lock/session-lock.js';
import { noCheckpoint, readCheckpoint, writeCheckpoint, type Checkpoint } from './checkpoint.js';
import type { SessionFolder } from './folder.js';
import { emptyHead, encodeHead, readHead } from './head.js';
import { load, type Damage, type Loaded } from './load.js';
import type { FileSettings } from './options.js';
import type { SessionProblem } from './problem.js';
import { sizeOf, statIfThere } from './stat-file.js';
import { backUp, keepPiece, removeLeftOvers, replaceByCopy, replaceFile, type Replacement } from './write-file.js';

/** Reading so much again takes no longer than writing a checkpoint, as it is forced onto the disk. */
const leastUnsaved = 1 << 17;

/**
 * Reads a session and mends what is broken in its files. What is taken out is kept in a file of its own first. Only the
 * holder of the session may.
 *
 * A writer whose lease ran out may wake up at any moment, in the middle of a write too: it gets to keep the file that it has
 * open, and the session goes on in a copy.
 *
 * When much has been read, a new checkpoint is written, so that it is not read again: never more often than a part of
 * what is journaled, so that writing them costs a constant share.
 */
export const loadAndMend = async (
  folder: SessionFolder,
  settings: FileSettings,
  lock: SessionLock,
): Promise<Loaded> => {
  const report: Report = (problem) => settings.onProblem({ session: folder.session, ...problem });
  const replacement: Replacement = { isSynced: settings.fsync !== 'never', lock };
  // In this order: what the holder before puts in place after that is the file that is copied.
  await removeLeftOvers(folder.path, lock.generation);
  if (lock.isBroken) {
    if (await statIfThere(folder.journal)) await replaceByCopy(folder.journal, lock);
    await lock.settle();
  }
  const hasHead = await mendHead(folder, lock, report);
  const { checkpoint, loaded } = await read(folder, replacement, report);
  if (loaded.damage) await cut(folder.journal, loaded.damage, lock, report);
  // The name of the session stands nowhere else.
  if (!hasHead) await replaceFile(folder.head, [encodeHead(loaded.head)], replacement);
  const unsaved = loaded.headBefore.size - checkpoint.head.size;
  if (unsaved > Math.max(leastUnsaved, checkpoint.bytes)) {
    // It saves time and nothing else, so a full disk does not keep anybody from reading on.
    await writeCheckpoint(folder, loaded.headBefore, loaded.snapshot, replacement).catch(() => undefined);
  }
  return loaded;
};

type Report = (problem: Omit<SessionProblem, 'session'>) => void;

const mendHead = async (folder: SessionFolder, lock: SessionLock, report: Report): Promise<boolean> => {
  try {
    return (await readHead(folder)) !== undefined;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    const message = 'The summary for lists cannot be read; it is made again from the journal.';
    await keepAndReplace(
      folder.head,
      [encodeHead(emptyHead(folder.session))],
      { kind: 'corrupt-head', message },
      lock,
      report,
    );
    return false;
  }
};

const read = async (
  folder: SessionFolder,
  replacement: Replacement,
  report: Report,
): Promise<{ checkpoint: Checkpoint; loaded: Loaded }> => {
  const empty = noCheckpoint(folder.session);
  const afresh = async () => ({ checkpoint: empty, loaded: await load(folder.journal, empty) });
  let checkpoint: Checkpoint | undefined;
  try {
    checkpoint = await readCheckpoint(folder);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    const message = 'The snapshot cannot be read; it is made again from the whole journal.';
    await keepAndReplace(folder.snapshot, [], { kind: 'corrupt-snapshot', message }, replacement.lock, report);
  }
  if (!checkpoint) return afresh();
  const size = await sizeOf(folder.journal);
  if (size < checkpoint.head.size) return beginAnew(folder, checkpoint, size, replacement, report);
  const loaded = await load(folder.journal, checkpoint);
  const isMisplaced = loaded.damage?.at === checkpoint.head.size && !loaded.damage.isTorn;
  if (!isMisplaced) return { checkpoint, loaded };
  const message = 'The snapshot does not fit the journal; it is made again from the whole of it.';
  await keepAndReplace(folder.snapshot, [], { kind: 'corrupt-snapshot', message }, replacement.lock, report);
  return afresh();
};

/** The journal is gone, in part at least, but the history up to the snapshot is there. */
const beginAnew = async (
  folder: SessionFolder,
  checkpoint: Checkpoint,
  size: number,
  { lock }: Replacement,
  report: Report,
) => {
  const message = 'The journal ends before the snapshot does; it begins anew after it.';
  if (size > 0) await keepAndReplace(folder.journal, [], { kind: 'short-journal', message }, lock, report);
  const head = { ...checkpoint.head, size: 0 };
  await writeCheckpoint(folder, head, checkpoint.snapshot, { isSynced: true, lock });
  const begun = { ...checkpoint, head };
  return { checkpoint: begun, loaded: await load(folder.journal, begun) };
};

/** Ends a journal before its damage. */
const cut = async (path: string, { at, isTorn, reason }: Damage, lock: SessionLock, report: Report): Promise<void> => {
  // Opened before the lock is looked at, as for every write: see GroupCommit.
  const handle = await open(path, 'r+');
  try {
    const bytes = (await handle.stat()).size - at;
    const backup = isTorn
      ? await keepPiece(path, 'torn', await bytesFrom(handle, at, bytes))
      : await backUp(path, 'corrupt');
    await lock.verify();
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

/** Puts these lines in the place of a broken file, of which a copy is kept. */
const keepAndReplace = async (
  path: string,
  lines: readonly string[],
  problem: Pick<SessionProblem, 'kind' | 'message'>,
  lock: Replacement['lock'],
  report: Report,
): Promise<void> => {
  const bytes = await sizeOf(path);
  const backup = await backUp(path, problem.kind === 'short-journal' ? 'short' : 'corrupt');
  await replaceFile(path, lines, { isSynced: true, lock });
  report({ ...problem, path, backup, bytes });
};
