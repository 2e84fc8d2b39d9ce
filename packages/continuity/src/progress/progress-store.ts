import { createHash } from 'node:crypto';
import { lstat, mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { ContinuityError } from '../errors.js';
import { readWhole } from '../files/bounded-read.js';
import { fileErrorCode, ifThere } from '../files/errors.js';
import type { StateFolder, StateWriter } from '../files/state-folder.js';
import { isGone } from '../files/process.js';
import { releaseGone } from './changes.js';
import { issuesText, parseProgress } from './parse.js';
import { progressFileName, progressSchema, progressVersion, type Progress } from './schema.js';

/** A progress file as it was found. */
export type ProgressFile =
  /** This is the first session. */
  | { readonly state: 'missing' }
  | { readonly state: 'ready'; readonly progress: Progress }
  /** It is kept as it is, and a copy of it in `backup`, unless it is too large or none could be made. */
  | { readonly state: 'corrupt'; readonly problem: string; readonly backup: string | undefined }
  | { readonly state: 'newer'; readonly version: number };

/** The progress file of a project. */
export interface ProgressStore {
  readonly path: string;
  /** Reads the file anew, without the claims of processes that have died. A corrupt one is backed up, once for each content, and left as it is. */
  read(): Promise<ProgressFile>;
  /**
   * Changes the file: it is read, changed and replaced while no other process can, and its revision grows. A change that gives
   * back what it was given writes nothing. Where a person saves the file at the same moment, it is read and changed anew.
   *
   * @param expectedRevision fails with `progress-conflict` if the file has another one by now
   * @throws ContinuityError `progress-missing`, `progress-corrupt`, `progress-newer`, `progress-conflict`, `progress-invalid`,
   * `locked`, and what the change throws
   */
  update(change: (progress: Progress) => Progress, expectedRevision?: number): Promise<Progress>;
  /** Creates the file, or changes what a first session has left. @throws as {@link ProgressStore.update} */
  initialize(initial: Progress, change: (progress: Progress) => Progress): Promise<Progress>;
  /**
   * Puts back the last good content over a corrupt one, which stays in its backup.
   *
   * @throws ContinuityError `progress-conflict` when the file is not corrupt, `progress-missing` when there is no good content
   */
  restore(): Promise<Progress>;
}

/** Larger files are nobody's list of tasks. */
const maxBytes = 32 * 1024 * 1024;
/** How often it is tried to get in before somebody who edits the file by hand. */
const maxAttempts = 5;
/** Then nobody looks at them. */
const maxBackups = 50;
const lastGoodName = 'last-good-progress.json';
/** How often, and how long, it is waited for a file that somebody else is writing. */
const maxLooks = 5;
const lookMs = 40;

/** A file that was read; `text` where a copy of a damaged one can be kept. */
type Found =
  | Exclude<ProgressFile, { readonly state: 'corrupt' }>
  | { readonly state: 'corrupt'; readonly problem: string; readonly text?: string };

export const createProgressStore = (project: string, folder: StateFolder): ProgressStore => {
  const path = join(project, progressFileName);

  const backUp = async (text: string): Promise<string> => {
    await folder.ensure();
    await mkdir(folder.at('corrupt'), { recursive: true });
    const id = createHash('sha256').update(text).digest('hex').slice(0, 12);
    const backup = folder.at('corrupt', `agent-progress.${id}.json`);
    const others = (await readdir(folder.at('corrupt'))).filter((name) => name !== `agent-progress.${id}.json`);
    if (others.length >= maxBackups) throw new Error('There are too many copies of damaged progress files.');
    try {
      await writeFile(backup, text, { flag: 'wx', mode: 0o600 });
    } catch (error) {
      if (fileErrorCode(error) !== 'EEXIST') throw error;
    }
    return backup;
  };

  const readOnce = async (): Promise<Found> => {
    const found = await readWhole(path, maxBytes);
    if (found === undefined) return { state: 'missing' };
    if ('tooLarge' in found) return { state: 'corrupt', problem: `it has ${found.tooLarge} bytes` };
    const parsed = parseProgress(found.text);
    if (parsed.state === 'ready') return { state: 'ready', progress: releaseGone(parsed.progress, isGone) };
    return parsed.state === 'corrupt' ? { ...parsed, text: found.text } : parsed;
  };

  /** Editors write a file piece by piece, or take it away before they put the new one there. */
  const mayBeOnItsWay = async ({ state }: Found): Promise<boolean> =>
    state === 'corrupt' || (state === 'missing' && (await ifThere(lstat(folder.at(lastGoodName)))) !== undefined);

  const read = async (): Promise<ProgressFile> => {
    let found = await readOnce();
    for (let look = 1; look <= maxLooks && (await mayBeOnItsWay(found)); look += 1) {
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

  /** Tells one state of the file from another: people who edit it know no lock. */
  const markOf = async (): Promise<string> => {
    const found = await ifThere(lstat(path, { bigint: true }));
    return found === undefined ? 'missing' : `${found.ino} ${found.mtimeNs} ${found.size}`;
  };

  const write = async (writer: StateWriter, mark: string, before: Progress, changed: Progress): Promise<Progress> => {
    const checked = progressSchema.safeParse({ ...changed, revision: before.revision + 1 });
    if (!checked.success) {
      throw new ContinuityError(
        'progress-invalid',
        `The change would leave the progress file in disorder: ${issuesText(checked.error)}.`,
      );
    }
    const text = `${JSON.stringify(checked.data, undefined, 2)}\n`;
    await writer.replace(path, text, {
      confirm: async () => {
        if ((await markOf()) !== mark) {
          throw new ContinuityError(
            'progress-conflict',
            `${path} was changed by hand at the same moment; nothing was written.`,
          );
        }
      },
    });
    // It has taken effect; without the copy there is one less to restore.
    await writer.replace(folder.at(lastGoodName), text).catch(() => undefined);
    return checked.data;
  };

  /** Reads, changes and writes; anew if the file was changed by hand in between. */
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
        if (changed === before && !isNew(found)) return before;
        try {
          return await write(writer, mark, before, changed);
        } catch (error) {
          if (attempt === maxAttempts || !(error instanceof ContinuityError) || error.code !== 'progress-conflict') {
            throw error;
          }
        }
      }
    });

  return {
    path,
    read,
    update: (change, expectedRevision) =>
      transact((found) => {
        const before = readyOrThrow(found, path);
        if (expectedRevision === undefined || before.revision === expectedRevision) return before;
        throw new ContinuityError(
          'progress-conflict',
          `The progress file is at revision ${before.revision}, not ${expectedRevision}: somebody changed it. Read it again.`,
        );
      }, change),
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
            `The progress file is ${found.state}, not corrupt; nothing was put back.`,
          );
        }
        const kept = await readWhole(folder.at(lastGoodName), maxBytes);
        const good = kept !== undefined && 'text' in kept ? parseProgress(kept.text) : undefined;
        if (good?.state !== 'ready') {
          throw new ContinuityError(
            'progress-missing',
            `No good copy of the progress file is kept; mend ${path}.${copyText(found)}`,
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
      throw new ContinuityError('progress-missing', `There is no ${path} yet; the initializer plans the tasks first.`);
    case 'newer':
      throw new ContinuityError(
        'progress-newer',
        `${path} has version ${found.version}, this package knows ${progressVersion}; update it.`,
      );
    default:
      throw new ContinuityError(
        'progress-corrupt',
        `${path} is not in order: ${found.problem}. It is left as it is; mend it, or restore the last good one.${copyText(found)}`,
      );
  }
};
