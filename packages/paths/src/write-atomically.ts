import { randomUUID } from 'node:crypto'; // oxlint-disable-line h/no-clock -- names of temporary files must be unique; no decision depends on them
import { constants, type BigIntStats } from 'node:fs';
import { lstat, open, rename, unlink, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { CodedError } from '@h/options';
import { errorCodeOf } from './canonical.js';
import type { OpenFolder } from './open-folder.js';
import { printable } from './printable.js';

const { O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = constants;
const permissionBits = 0o7777n;

/** One file to write. */
export interface AtomicWrite {
  readonly folder: OpenFolder;
  readonly name: string;
  readonly data: Buffer;
  /** The state of the file to replace when it was last read; `undefined` if it did not exist. */
  readonly replaces: BigIntStats | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** The file to replace was created, removed or changed by another process. */
export class FileChangedError extends CodedError {
  constructor(path: string) {
    super('file-changed', `"${printable(path)}" was changed by another process; read it again.`);
  }
}

/**
 * Writes a file so that a crash leaves the old content or the new one, never a part: into a temporary file in the same
 * folder, flushed to disk, and renamed over the old one.
 *
 * The mode is preserved, the owner too if the system permits it; extended attributes and other hard links are not. If the
 * write fails or is aborted, nothing has changed.
 *
 * @returns the state of the new file
 * @throws FileChangedError if the file is not the one that `replaces` describes
 */
export const writeAtomically = async ({ folder, name, data, replaces, signal }: AtomicWrite): Promise<BigIntStats> => {
  signal?.throwIfAborted();
  const temporary = folder.at(`.h-${randomUUID()}.tmp`);
  const handle = await open(
    temporary,
    O_CREAT | O_EXCL | O_NOFOLLOW | O_WRONLY,
    replaces === undefined ? 0o666 : 0o600,
  );
  try {
    const stats = await fill(handle, data, replaces);
    signal?.throwIfAborted();
    await checkUnchanged(folder, name, replaces);
    await rename(temporary, folder.at(name));
    return stats;
  } catch (error) {
    await unlink(temporary).catch(() => undefined);
    throw error;
  }
};

const fill = async (handle: FileHandle, data: Buffer, replaces: BigIntStats | undefined): Promise<BigIntStats> => {
  try {
    await handle.writeFile(data);
    if (replaces !== undefined) await keepOwnerAndMode(handle, replaces);
    await handle.sync();
    return await handle.stat({ bigint: true });
  } finally {
    await handle.close();
  }
};

const keepOwnerAndMode = async (handle: FileHandle, { uid, gid, mode }: BigIntStats): Promise<void> => {
  // Only root may give files away. Changing the owner clears the setuid bit, so the mode comes last.
  await handle.chown(Number(uid), Number(gid)).catch(() => undefined);
  await handle.chmod(Number(mode & permissionBits));
};

/** Looks again right before the rename, so that a change by another program is not lost. */
const checkUnchanged = async (folder: OpenFolder, name: string, expected: BigIntStats | undefined): Promise<void> => {
  const found = await lstat(folder.at(name), { bigint: true }).catch((error: unknown) => {
    if (errorCodeOf(error) === 'ENOENT') return undefined;
    throw error;
  });
  const isSame =
    found === undefined || expected === undefined
      ? found === expected
      : found.ino === expected.ino && found.size === expected.size && found.mtimeNs === expected.mtimeNs;
  if (!isSame) throw new FileChangedError(join(folder.path, name));
};
