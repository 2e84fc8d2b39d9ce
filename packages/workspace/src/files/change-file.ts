import { basename, dirname } from 'node:path';
import type { ToolContext } from '@h/tools';
import { errorCodeOf, FileChangedError, writeAtomically } from '@h/paths';
import type { Workspace } from '../workspace.js';
import { asFileFailure, fileFailure } from './failures.js';
import { hashOf, loadFile, type LoadedFile } from './load-file.js';
import { isSameVersion, versionOf } from './seen-files.js';

/** A change of one file. */
export interface FileChange<Result> {
  /** Canonical path. */
  readonly path: string;
  readonly context: Pick<ToolContext, 'session' | 'signal'>;
  /** Whether the file may be created, with the folders above it. */
  readonly create: boolean;
  /** Computes the new content; `undefined` data keeps the file. Throws to refuse. */
  readonly compute: (current: LoadedFile | undefined) => { readonly data: Buffer | undefined; readonly result: Result };
}

/**
 * Changes a file atomically: one change at a time, and only if the session has read its current content.
 *
 * @throws ToolError, for example with the codes `stale` and `not-read`
 */
export const changeFile = <Result>(workspace: Workspace, change: FileChange<Result>): Promise<Result> =>
  workspace.locks.run(change.path, async () => {
    const { path, context } = change;
    const current = await loadIfPresent(workspace, change);
    if (current !== undefined) checkSeen(workspace, path, context.session, current);
    const { data, result } = change.compute(current);
    if (data === undefined) return result;
    const stats = await save(workspace, change, data, current);
    workspace.seen.remember(context.session, path, versionOf(stats, hashOf(data)));
    return result;
  });

const loadIfPresent = async <Result>(
  workspace: Workspace,
  { path, create }: FileChange<Result>,
): Promise<LoadedFile | undefined> => {
  try {
    return await loadFile(workspace, path);
  } catch (error) {
    if (create && errorCodeOf(error) === 'not-found') return undefined;
    throw error;
  }
};

const checkSeen = (workspace: Workspace, path: string, session: string, current: LoadedFile): void => {
  const shown = workspace.paths.display(path);
  const seen = workspace.seen.get(session, path);
  if (seen === undefined && workspace.requireRead === 'always') {
    throw fileFailure('not-read', `${shown} exists and was not read yet: read it first.`);
  }
  if (seen !== undefined && !isSameVersion(seen, current.version)) {
    throw fileFailure('stale', `${shown} has changed since it was last read: read it again before you change it.`);
  }
};

const save = async <Result>(
  workspace: Workspace,
  { path, context }: FileChange<Result>,
  data: Buffer,
  current: LoadedFile | undefined,
) => {
  const shown = workspace.paths.display(path);
  try {
    const folder = await workspace.paths.openFolder(dirname(path), { create: true });
    try {
      return await writeAtomically({
        folder,
        name: basename(path),
        data,
        replaces: current?.stats,
        signal: context.signal,
      });
    } finally {
      await folder.close();
    }
  } catch (error) {
    if (error instanceof FileChangedError) {
      throw fileFailure(
        'stale',
        `${shown} was changed by another process during the write, so nothing was written: read it again.`,
        { cause: error },
      );
    }
    throw asFileFailure(error, shown);
  }
};
