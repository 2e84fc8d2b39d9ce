import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { TurnError } from '@h/turn';
import { filesIn, isSessionFolder, type SessionFolder } from './folder.js';
import { currentHead, type Head } from './head.js';
import type { SessionProblem } from './problem.js';

/** A session that was found in its folder. */
export interface Found {
  readonly head: Head;
  readonly folder: SessionFolder;
}

/** Where sessions are looked for, and who is told of those that cannot be read. */
export interface Search {
  readonly directory: string;
  readonly onProblem: (problem: SessionProblem) => void;
}

const lookedAtTogether = 16;

/**
 * Looks at all sessions with a turn, several at a time, and hands out what it makes of them.
 *
 * Those that a later release has written are not for us to see. One that cannot be read is reported and left out, so that
 * it keeps nobody from the others.
 */
export async function* findAll<Result>(
  search: Search,
  look: (found: Found) => Promise<Result | undefined>,
): AsyncGenerator<Result> {
  const folders = (await namesIn(search.directory)).filter(isSessionFolder);
  for (let from = 0; from < folders.length; from += lookedAtTogether) {
    const results = await Promise.all(
      folders.slice(from, from + lookedAtTogether).map((name) => lookAt(name, search, look)),
    );
    for (const result of results) if (result !== undefined) yield result;
  }
}

/** What a folder has in it; nothing when it is not there. */
export const namesIn = async (directory: string): Promise<readonly string[]> => {
  try {
    return await readdir(directory);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return [];
    throw error;
  }
};

const lookAt = async <Result>(
  name: string,
  { directory, onProblem }: Search,
  look: (found: Found) => Promise<Result | undefined>,
): Promise<Result | undefined> => {
  const folder = filesIn(join(directory, name), '');
  try {
    const head = await currentHead(folder);
    return head.turns > 0 ? await look({ head, folder }) : undefined;
  } catch (error) {
    if (error instanceof TurnError && error.code === 'unsupported-version') return undefined;
    // It was deleted meanwhile.
    if (codeOf(error) === 'ENOENT') return undefined;
    if (!ofOneFolder.includes(codeOf(error))) throw error;
    onProblem({
      kind: 'unreadable',
      session: '',
      path: folder.path,
      backup: undefined,
      bytes: 0,
      message: `A session cannot be read and is left out: ${String(error)}`,
    });
    return undefined;
  }
};

/** What is wrong with one folder, and not with the process or the disk. */
const ofOneFolder: readonly unknown[] = ['EACCES', 'EPERM', 'EIO', 'ENOTDIR', 'EISDIR', 'ELOOP'];

const codeOf = (error: unknown): unknown => (error as NodeJS.ErrnoException).code;
