import type { BigIntStats } from 'node:fs';
import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { replaceFile } from '@h/files';
import { CodedError } from '@h/options';
import { errorCodeOf } from './canonical.js';
import type { OpenFolder } from './open-folder.js';
import { printable } from './printable.js';

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
 * Replaces a file in an open folder as `replaceFile` of `@h/files` does, if nothing else changed the file since it was
 * read.
 *
 * Mode and owner are kept. If the write fails or is aborted, nothing has changed.
 *
 * @returns the state of the new file
 * @throws FileChangedError if the file is not the one that `replaces` describes
 */
export const writeAtomically = async ({ folder, name, data, replaces, signal }: AtomicWrite): Promise<BigIntStats> => {
  signal?.throwIfAborted();
  return replaceFile(folder.at(name), data, {
    mode: 'keep',
    confirm: async () => {
      signal?.throwIfAborted();
      await checkUnchanged(folder, name, replaces);
    },
  });
};

/** Checks the file again immediately before the rename, so that a change by another process is not lost. */
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
