import { constants } from 'node:fs';
import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { ifExists, openRegularFile } from '@h/files';
import { folderOf, type SessionFolder } from './folder.js';
import { currentHead, emptyHead, type Head } from './head.js';
import { readLines } from './lines.js';

/**
 * Returns a head without turns for a session whose journal is damaged from its first record; `undefined` for any other
 * one, such as one whose first record is being written. Its name is empty if no file contains it.
 */
export const damagedHead = async (folder: SessionFolder): Promise<Head | undefined> => {
  if (!(await hasWholeLine(folder.journal))) return undefined;
  // The first record may have been written since the head was read.
  const head = await currentHead(folder);
  if (head.turns > 0 || head.isDeleted) return undefined;
  const at = (await stat(folder.journal)).mtimeMs;
  return { ...emptyHead(await nameIn(folder)), createdAt: at, updatedAt: at };
};

const hasWholeLine = async (journal: string): Promise<boolean> => {
  for await (const lines of readLines(journal)) if (lines.some(({ isTorn }) => !isTorn)) return true;
  return false;
};

const quotedName = /"session":("(?:[^"\\]|\\.)*")/g;
const searchedBytes = 1 << 20;

/** Searches the damaged files for a name. The folder contains the hash of the right one. */
const nameIn = async (folder: SessionFolder): Promise<string> => {
  for (const path of [folder.head, folder.snapshot, folder.journal]) {
    for (const [, quoted = ''] of (await beginningOf(path)).matchAll(quotedName)) {
      const name = parsed(quoted);
      if (name !== undefined && folderOf(dirname(folder.path), name).path === folder.path) return name;
    }
  }
  return '';
};

const beginningOf = async (path: string): Promise<string> => {
  const handle = await ifExists(openRegularFile(path, constants.O_RDONLY));
  if (!handle) return '';
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(searchedBytes), { position: 0 });
    return buffer.toString('utf8', 0, bytesRead);
  } finally {
    await handle.close();
  }
};

const parsed = (json: string): string | undefined => {
  try {
    return JSON.parse(json) as string;
  } catch {
    return undefined;
  }
};
