import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode, ifExists } from '@h/files';
import { damagedHead } from './damaged-head.js';
import { filesIn, isSessionFolder, type SessionFolder } from './folder.js';
import { currentHead, type Head } from './head.js';
import type { SessionProblem } from './options.js';

/** A session and its folder. */
export interface Found {
  readonly head: Head;
  readonly folder: SessionFolder;
  /** Whether no turn can be read, because the journal is damaged from its first record. */
  readonly isDamaged: boolean;
}

/** Options of {@link findAll}. */
export interface Search {
  readonly directory: string;
  readonly onProblem: (problem: SessionProblem) => void;
  /** Called with the folder of a session without turns. */
  readonly onEmpty?: ((folder: SessionFolder) => Promise<void>) | undefined;
}

const concurrency = 16;

/**
 * Visits all sessions that have a turn, several at a time, and yields the results of `look`.
 *
 * A session whose journal is damaged from its first record had a turn. Sessions of a later release are skipped. A session
 * that cannot be read is reported and skipped.
 */
export async function* findAll<Result>(
  search: Search,
  look: (found: Found) => Promise<Result | undefined>,
): AsyncGenerator<Result> {
  const folders = ((await ifExists(readdir(search.directory))) ?? []).filter(isSessionFolder);
  for (let from = 0; from < folders.length; from += concurrency) {
    const results = await Promise.all(
      folders.slice(from, from + concurrency).map((name) => lookAt(name, search, look)),
    );
    for (const result of results) if (result !== undefined) yield result;
  }
}

const lookAt = async <Result>(
  name: string,
  { directory, onProblem, onEmpty }: Search,
  look: (found: Found) => Promise<Result | undefined>,
): Promise<Result | undefined> => {
  const folder = filesIn(join(directory, name), '');
  const skip = (error: unknown): void => {
    const message = `A session cannot be read and is skipped: ${String(error)}`;
    onProblem({ kind: 'unreadable', session: '', path: folder.path, backup: undefined, bytes: 0, message });
  };
  try {
    const head = await currentHead(folder);
    if (head.turns > 0) return await look({ head, folder, isDamaged: false });
    const damaged = await damagedHead(folder);
    if (damaged?.session) return await look({ head: damaged, folder, isDamaged: true });
    if (damaged) {
      skip('Its journal is damaged from the first record, and no file contains its name.');
      return undefined;
    }
    // It contains no turn, so the others are listed even if the disk is full or read-only.
    await ifExists(onEmpty?.(folder) ?? Promise.resolve()).catch(skip);
  } catch (error) {
    const code = errorCode(error) ?? '';
    // ENOENT: the session was deleted in the meantime.
    if (code === 'unsupported-version' || code === 'ENOENT') return undefined;
    if (!ofOneFolder.includes(code)) throw error;
    skip(error);
  }
  return undefined;
};

/** Codes of errors that concern one folder, not the process or the disk. */
const ofOneFolder: readonly string[] = ['EACCES', 'EPERM', 'EIO', 'ENOTDIR', 'EISDIR', 'ELOOP', 'unsafe-file'];
