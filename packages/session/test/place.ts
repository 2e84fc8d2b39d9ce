import { open, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { temporaryFolder } from '../../../tooling/vitest/temporary-folder.js';
import { folderOf, type SessionFolder } from '../src/files/folder.js';
import { fileSessions, type FileSessions, type SessionProblem } from '../src/index.js';
import { inSession, wholeTurn, write } from '../src/testing/records.js';

/** A store in a new folder, with the files of the session `alice`. */
export interface Place {
  readonly store: FileSessions;
  readonly directory: string;
  readonly files: SessionFolder;
  readonly problems: SessionProblem[];
}

export const place = async (): Promise<Place> => {
  const directory = temporaryFolder();
  const problems: SessionProblem[] = [];
  const store = fileSessions({ directory, fsync: 'never', onProblem: (problem) => problems.push(problem) });
  return { store, directory, files: folderOf(directory, 'alice'), problems };
};

/** Writes turns to the session `alice`. */
export const turns = async (store: FileSessions, ...texts: readonly string[]): Promise<void> => {
  for (const text of texts) {
    await inSession(store, 'alice', (opened) => write(opened, wholeTurn(`turn-${text.slice(0, 9)}`, text)));
  }
};

/** The prototype of all file handles, to spy on. */
export const fileHandles = async (): Promise<FileHandle> => {
  const handle = await open(join(temporaryFolder(), 'any'), 'w');
  await handle.close();
  return Object.getPrototypeOf(handle) as FileHandle;
};
