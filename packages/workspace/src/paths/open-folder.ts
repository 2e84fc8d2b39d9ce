import type { Dirent } from 'node:fs';
import { mkdir, readdir, type FileHandle } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { errorCodeOf } from './canonical.js';
import { openVerified } from './descriptor.js';

/** A folder that is held open, so that what is done in it is done in it and nowhere else. Close it. */
export interface OpenFolder {
  /** Its canonical path. */
  readonly path: string;
  /**
   * A path for one system call that means `name` in this very folder, even if the folder's own path has meanwhile been
   * given to a link. (On systems without `/proc` it is the plain path.)
   */
  at(name: string): string;
  /** What the folder holds; links are not followed. */
  entries(): Promise<Dirent[]>;
  close(): Promise<void>;
}

/** What {@link openFolder} needs to know about the workspace. */
export interface OpenFolderOptions {
  readonly descriptors: string | undefined;
  /** Makes folders that are missing, below one of `roots` only. */
  readonly create: boolean;
  /** Folders that are never made anew. */
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
      // Somebody else was faster; whether it is a folder shows when it is opened.
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
