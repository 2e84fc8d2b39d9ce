import type { Dirent } from 'node:fs';
import { mkdir, readdir, type FileHandle } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { errorCodeOf } from './canonical.js';
import { openVerified } from './descriptor.js';

/** An open folder: work in it cannot be redirected by replacing the folder with a link. Close it after use. */
export interface OpenFolder {
  /** Its canonical path. */
  readonly path: string;
  /**
   * Returns a path to `name` in this folder for one system call, valid even after the folder's own path became a link.
   * On systems without `/proc` it is the plain path.
   */
  at(name: string): string;
  /** Lists the folder; links are not followed. */
  entries(): Promise<Dirent[]>;
  close(): Promise<void>;
}

/** What {@link openFolder} must know about the workspace. */
export interface OpenFolderOptions {
  readonly descriptors: string | undefined;
  /** Creates missing folders, but only below one of `roots`. */
  readonly create: boolean;
  /** Folders that are never created. */
  readonly roots: readonly string[];
}

/** Opens the folder at a canonical path. */
export const openFolder = async (path: string, options: OpenFolderOptions): Promise<OpenFolder> => {
  try {
    return wrap(path, await openVerified(path, 'folder', options.descriptors), options.descriptors);
  } catch (error) {
    const missing = errorCodeOf(error) === 'ENOENT' && options.create;
    if (!missing || options.roots.includes(path) || dirname(path) === path) throw error;
    return createFolder(path, options);
  }
};

const createFolder = async (path: string, options: OpenFolderOptions): Promise<OpenFolder> => {
  const parent = await openFolder(dirname(path), options);
  try {
    const name = parent.at(basename(path));
    await mkdir(name).catch((error: unknown) => {
      // Another process created it first; opening it shows whether it is a folder.
      if (errorCodeOf(error) !== 'EEXIST') throw error;
    });
    return wrap(path, await openVerified(path, 'folder', options.descriptors, name), options.descriptors);
  } finally {
    await parent.close();
  }
};

const wrap = (path: string, handle: FileHandle, descriptors: string | undefined): OpenFolder => {
  const here = descriptors === undefined ? path : `${descriptors}/${handle.fd}`;
  return {
    path,
    at: (name) => join(here, name),
    entries: () => readdir(here, { withFileTypes: true }),
    close: () => handle.close(),
  };
};
