import { createHash } from 'node:crypto';
import type { BigIntStats } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { errorCodeOf } from '@h/paths';
import type { Workspace } from '../workspace.js';
import { asFileFailure, fileFailure } from './failures.js';
import { folderFailure, missingFailure } from './helpful-failures.js';
import { versionOf, type FileVersion } from './seen-files.js';

/** A regular file that is open for reading. */
export interface OpenedFile {
  readonly handle: FileHandle;
  readonly stats: BigIntStats;
}

/** The current state of a file. */
export interface LoadedFile {
  readonly stats: BigIntStats;
  readonly version: FileVersion;
  /** `undefined` if it is larger than `maxFileBytes`. */
  readonly bytes: Buffer | undefined;
}

/** Returns the hash that identifies a version of a file. */
export const hashOf = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('base64');

/**
 * Opens a canonical path during a task.
 *
 * @throws ToolError if it is missing, a folder, or not a regular file; the first two suggest where to look
 */
export const withFile = async <Result>(
  workspace: Workspace,
  path: string,
  task: (file: OpenedFile) => Promise<Result>,
): Promise<Result> => {
  const shown = workspace.paths.display(path);
  try {
    const handle = await workspace.paths.openFile(path);
    try {
      const stats = await handle.stat({ bigint: true });
      if (stats.isDirectory()) throw await folderFailure(workspace, path);
      if (!stats.isFile())
        throw fileFailure('not-a-file', `${shown} is a device, pipe or socket, not a file; use a regular file.`);
      return await task({ handle, stats });
    } finally {
      await handle.close();
    }
  } catch (error) {
    throw errorCodeOf(error) === 'ENOENT' ? await missingFailure(workspace, path) : asFileFailure(error, shown);
  }
};

/** Reads a whole file. */
export const loadFile = async (workspace: Workspace, path: string): Promise<LoadedFile> =>
  withFile(workspace, path, async ({ handle, stats }) => {
    if (stats.size > BigInt(workspace.limits.maxFileBytes)) {
      return { stats, version: versionOf(stats), bytes: undefined };
    }
    const bytes = await handle.readFile();
    return { stats, version: versionOf(stats, hashOf(bytes)), bytes };
  });

/** Returns whether a canonical path is a file or a folder. @throws ToolError if it is missing or neither */
export const kindOfPath = async (workspace: Workspace, path: string): Promise<'file' | 'folder'> => {
  const shown = workspace.paths.display(path);
  try {
    const handle = await workspace.paths.openFile(path);
    try {
      const stats = await handle.stat();
      if (stats.isDirectory()) return 'folder';
      if (stats.isFile()) return 'file';
      throw fileFailure('not-a-file', `${shown} is a device, pipe or socket, not a file; use a regular file.`);
    } finally {
      await handle.close();
    }
  } catch (error) {
    throw errorCodeOf(error) === 'ENOENT' ? await missingFailure(workspace, path) : asFileFailure(error, shown);
  }
};
