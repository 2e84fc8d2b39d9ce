import { createHash } from 'node:crypto';
import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { ensureFolder, replaceFile } from '@h/files';
import { ContinuityError } from '../errors.js';
import { readWhole } from '../files/bounded-read.js';
import { ifThere } from '../files/errors.js';
import type { StateFolder, StateWriter } from '../files/state-folder.js';
import { isGone, isThisProcess } from '../files/process.js';
import { claimsOf, releaseGone } from './changes.js';
import { issuesText, parseProgress } from './parse.js';
import { progressFileName, progressSchema, progressVersion, type Progress } from './schema.js';

/** The state of a progress file. */
export type ProgressFile =
  /** No session has run. */
  | { readonly state: 'missing' }
  | { readonly state: 'ready'; readonly progress: Progress }
  /** The file is left unchanged; `backup` is the path of its copy, if one could be made. */
  | { readonly state: 'corrupt'; readonly problem: string; readonly backup: string | undefined }
  | { readonly state: 'newer'; readonly version: number };

/** The progress file of a project. */
export interface ProgressStore {
  readonly path: string;
  /**
   * Reads the file, without the claims of processes that have died. A corrupt file is backed up, once for each content.
   */
  read(): Promise<ProgressFile>;
  /**
   * Reads, changes and replaces the file under the lock, and increases its revision. A change that returns its argument
   * writes nothing. If a person saves the file at the same moment, the change is applied to the new content.
   *
   * @param expectedRevision - the change fails with `progress-conflict` if the file has another revision
   * @throws ContinuityError `progress-missing`, `progress-corrupt`, `progress-newer`, `progress-conflict`,
   * `progress-invalid`, `locked`, and the errors of the change
   */
  update(change: (progress: Progress) => Progress, expectedRevision?: number): Promise<Progress>;
  /**
   * Releases the claims of an owner with a change. If the file cannot be changed, this process reads it without the
   * claims, and its next change removes them from the file.
   *
   * @throws as {@link ProgressStore.update}
   */
  release(owner: string, change: (progress: Progress) => Progress): Promise<Progress>;
  /** Creates the file, or changes it if it exists. @throws as {@link ProgressStore.update} */
  initialize(initial: Progress, change: (progress: Progress) => Progress): Promise<Progress>;
  /**
   * Replaces a corrupt file by the last valid content. The backup of the corrupt file remains.
   *
   * @throws ContinuityError `progress-conflict` if the file is not corrupt, `progress-missing` if no valid content is
   * stored
   */
  restore(): Promise<Progress>;
}

/** Larger files are not read. */
const maxBytes = 32 * 1024 * 1024;
/** Attempts to write while a person saves the file. */
const maxAttempts = 5;
const maxBackups = 50;
const lastGoodName = 'last-good-progress.json';
/** The number and the length of the waits for a file that an editor is writing. */
const maxLooks = 5;
const lookMs = 40;

/** A file that was read; `text` is present if a corrupt one can be backed up. */
type Found =
  | Exclude<ProgressFile, { readonly state: 'corrupt' }>
  | { readonly state: 'corrupt'; readonly problem: string; readonly text?: string };

export const createProgressStore = (project: string, folder: StateFolder): ProgressStore => {
  const path = join(project, progressFileName);
  /** Releases of claims of this process that could not be written, by owner. */
  const unwritten = new Map<string, (progress: Progress) => Progress>();

  const withoutReleased = (progress: Progress): Progress => {
    let current = progress;
    for (const [owner, release] of unwritten) {
      // Another process may have resumed the session.
      const isHeldHere = claimsOf(current, owner).some((claim) => claim.process && isThisProcess(claim.process));
      if (isHeldHere) current = release(current);
      else unwritten.delete(owner);
    }
    return current;
  };

  const backUp = async (text: string): Promise<string> => {
    await folder.ensure();
    await ensureFolder(folder.at('corrupt'));
    const name = `agent-progress.${createHash('sha256').update(text).digest('hex').slice(0, 12)}.json`;
    const backup = folder.at('corrupt', name);
    const names = await readdir(folder.at('corrupt'));
    if (names.includes(name)) return backup;
    if (names.length >= maxBackups) {
      throw new Error(`There are ${maxBackups} copies of corrupt progress files; delete some.`);
    }
    // A copy that a full disk cuts off must not count as one.
    await replaceFile(backup, text);
    return backup;
  };

  const readOnce = async (): Promise<Found> => {
    const found = await readWhole(path, maxBytes);
    if (found === undefined) return { state: 'missing' };
    if ('tooLarge' in found) return { state: 'corrupt', problem: `it has ${found.tooLarge} bytes` };
    const parsed = parseProgress(found.text);
    if (parsed.state === 'ready') {
      return { state: 'ready', progress: withoutReleased(releaseGone(parsed.progress, isGone)) };
    }
    return parsed.state === 'corrupt' ? { ...parsed, text: found.text } : parsed;
  };

  /** Editors write a file in parts, or remove it before they create the new one. */
  const mayBeIncomplete = async ({ state }: Found): Promise<boolean> =>
    state === 'corrupt' || (state === 'missing' && (await ifThere(lstat(folder.at(lastGoodName)))) !== undefined);

  const read = async (): Promise<ProgressFile> => {
    let found = await readOnce();
    for (let look = 1; look <= maxLooks && (await mayBeIncomplete(found)); look += 1) {
      const mark = await markOf();
      await wait(lookMs);
      const isSettled = (await markOf()) === mark;
      if (isSettled && found.state === 'corrupt') break;
      found = await readOnce();
    }
    if (found.state !== 'corrupt') return found;
    const { problem, text } = found;
    return {
      state: 'corrupt',
      problem,
      backup: text === undefined ? undefined : await backUp(text).catch(() => undefined),
    };
  };

  /** Identifies a version of the file: editors do not use the lock. */
  const markOf = async (): Promise<string> => {
    const found = await ifThere(lstat(path, { bigint: true }));
    return found === undefined ? 'missing' : `${found.ino} ${found.mtimeNs} ${found.size}`;
  };

  const write = async (writer: StateWriter, mark: string, before: Progress, changed: Progress): Promise<Progress> => {
    const checked = progressSchema.safeParse({ ...changed, revision: before.revision + 1 });
    if (!checked.success) {
      throw new ContinuityError(
        'progress-invalid',
        `The change would make the progress file invalid: ${issuesText(checked.error)}.`,
      );
    }
    const text = `${JSON.stringify(checked.data, undefined, 2)}\n`;
    await writer.replace(path, text, {
      confirm: async () => {
        if ((await markOf()) !== mark) {
          throw new ContinuityError(
            'progress-conflict',
            `${path} was changed by hand at the same moment; nothing was written. Try again.`,
          );
        }
      },
    });
    unwritten.clear();
    // The change has taken effect; the copy only serves `restore`.
    await writer.replace(folder.at(lastGoodName), text).catch(() => undefined);
    return checked.data;
  };

  /** Reads, changes and writes the file; starts again if it was changed by hand in between. */
  const transact = (
    beforeOf: (found: ProgressFile) => Progress,
    change: (progress: Progress) => Progress,
    isNew: (found: ProgressFile) => boolean = () => false,
  ): Promise<Progress> =>
    folder.exclusive(async (writer) => {
      for (let attempt = 1; ; attempt += 1) {
        const mark = await markOf();
        const found = await read();
        const before = beforeOf(found);
        const changed = change(before);
        if (changed === before && !isNew(found) && unwritten.size === 0) return before;
        try {
          return await write(writer, mark, before, changed);
        } catch (error) {
          if (attempt === maxAttempts || !(error instanceof ContinuityError) || error.code !== 'progress-conflict') {
            throw error;
          }
        }
      }
    });

  const update: ProgressStore['update'] = (change, expectedRevision) =>
    transact((found) => {
      const before = readyOrThrow(found, path);
      if (expectedRevision === undefined || before.revision === expectedRevision) return before;
      throw new ContinuityError(
        'progress-conflict',
        `The progress file is at revision ${before.revision}, not ${expectedRevision}. Read it again.`,
      );
    }, change);

  return {
    path,
    read,
    update,
    release: async (owner, change) => {
      try {
        return await update(change);
      } catch (error) {
        const isMissing = error instanceof ContinuityError && error.code === 'progress-missing';
        if (!isMissing) unwritten.set(owner, change);
        throw error;
      }
    },
    initialize: (initial, change) =>
      transact(
        (found) => (found.state === 'missing' ? initial : readyOrThrow(found, path)),
        change,
        ({ state }) => state === 'missing',
      ),
    restore: () =>
      folder.exclusive(async (writer) => {
        const mark = await markOf();
        const found = await read();
        if (found.state !== 'corrupt') {
          throw new ContinuityError(
            'progress-conflict',
            `The progress file is ${found.state}, not corrupt; nothing was restored.`,
          );
        }
        const kept = await readWhole(folder.at(lastGoodName), maxBytes);
        const good = kept !== undefined && 'text' in kept ? parseProgress(kept.text) : undefined;
        if (good?.state !== 'ready') {
          throw new ContinuityError(
            'progress-missing',
            `No valid copy of the progress file is stored. Repair ${path}.${copyText(found)}`,
          );
        }
        return write(writer, mark, good.progress, good.progress);
      }),
  };
};

const copyText = ({ backup }: { readonly backup: string | undefined }): string =>
  backup === undefined ? '' : ` A copy is in ${backup}.`;

/** @throws ContinuityError `progress-missing`, `progress-corrupt`, `progress-newer` */
export const readyOrThrow = (found: ProgressFile, path: string): Progress => {
  switch (found.state) {
    case 'ready':
      return found.progress;
    case 'missing':
      throw new ContinuityError(
        'progress-missing',
        `${path} does not exist; the initializer must plan the tasks first.`,
      );
    case 'newer':
      throw new ContinuityError(
        'progress-newer',
        `${path} has version ${found.version}, and this package supports ${progressVersion}. Update the package.`,
      );
    default:
      throw new ContinuityError(
        'progress-corrupt',
        `${path} is invalid: ${found.problem}. Repair it, or restore the last valid content.${copyText(found)}`,
      );
  }
};
