import { constants, type BigIntStats } from 'node:fs';
import { lstat, open, rename, unlink, type FileHandle } from 'node:fs/promises';
import { errorCodeOf } from '../paths/canonical.js';
import type { OpenFolder } from '../paths/open-folder.js';
import { freshId } from '../process/machine.js';
import { versionOf, type FileVersion } from './seen-files.js';

const { O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = constants;
const permissionBits = 0o7777n;

/** One file to write. */
export interface AtomicWrite {
  readonly folder: OpenFolder;
  readonly name: string;
  readonly data: Buffer;
  /** The file that is to be replaced, as it was when it was looked at; `undefined` if there was none. */
  readonly replaces: BigIntStats | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Something stands where a file is to be written that was not there when it was looked at, or changed since. */
export class FileChangedError extends Error {
  override readonly name = 'FileChangedError';
}

/**
 * Writes a file so that there is the old one or the new one and never half of it: into a new file in the same folder, onto
 * the disk, and then by its name into the place of the old one.
 *
 * Mode and owner stay (the owner only where the system permits it); extended attributes and other hard links do not. When
 * it fails or is aborted, everything is as before.
 */
export const writeAtomically = async ({ folder, name, data, replaces, signal }: AtomicWrite): Promise<FileVersion> => {
  signal?.throwIfAborted();
  const temporary = folder.at(`.h-${freshId()}.tmp`);
  const handle = await open(
    temporary,
    O_CREAT | O_EXCL | O_NOFOLLOW | O_WRONLY,
    replaces === undefined ? 0o666 : 0o600,
  );
  try {
    const stats = await fill(handle, data, replaces);
    signal?.throwIfAborted();
    await checkUnchanged(folder.at(name), replaces);
    await rename(temporary, folder.at(name));
    return versionOf(stats);
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

/** A short look right before the renaming: what another program wrote meanwhile is not to be lost. */
const checkUnchanged = async (path: string, expected: BigIntStats | undefined): Promise<void> => {
  const found = await lstat(path, { bigint: true }).catch((error: unknown) => {
    if (errorCodeOf(error) === 'ENOENT') return undefined;
    throw error;
  });
  const isSame =
    found === undefined || expected === undefined
      ? found === expected
      : found.ino === expected.ino && found.size === expected.size && found.mtimeNs === expected.mtimeNs;
  if (!isSame) throw new FileChangedError('The file changed while it was being written.');
};
