import { createHash } from 'node:crypto';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ContinuityError } from '../errors.js';
import { readWhole } from '../files/bounded-read.js';
import { fileErrorCode } from '../files/errors.js';
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
   * back what it was given writes nothing.
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
/** Then nobody looks at them. */
const maxBackups = 50;
const lastGoodName = 'last-good-progress.json';

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

  const read = async (): Promise<ProgressFile> => {
    const found = await readWhole(path, maxBytes);
    if (found === undefined) return { state: 'missing' };
    if ('tooLarge' in found) return { state: 'corrupt', problem: `it has ${found.tooLarge} bytes`, backup: undefined };
    const parsed = parseProgress(found.text);
    if (parsed.state === 'ready') return { state: 'ready', progress: releaseGone(parsed.progress, isGone) };
    return parsed.state === 'corrupt' ? { ...parsed, backup: await backUp(found.text).catch(() => undefined) } : parsed;
  };

  const write = async (writer: StateWriter, before: Progress, changed: Progress): Promise<Progress> => {
    const checked = progressSchema.safeParse({ ...changed, revision: before.revision + 1 });
    if (!checked.success) throw new ContinuityError('progress-invalid', `The change would leave the progress file in disorder: ${issuesText(checked.error)}.`);
    const text = `${JSON.stringify(checked.data, undefined, 2)}\n`;
    await writer.replace(path, text);
    await writer.replace(folder.at(lastGoodName), text);
    return checked.data;
  };

  const changeWith = async (writer: StateWriter, before: Progress, change: (progress: Progress) => Progress): Promise<Progress> => {
    const changed = change(before);
    return changed === before ? before : write(writer, before, changed);
  };

  return {
    path,
    read,
    update: (change, expectedRevision) =>
      folder.exclusive(async (writer) => {
        const before = readyOrThrow(await read(), path);
        if (expectedRevision !== undefined && before.revision !== expectedRevision) {
          throw new ContinuityError('progress-conflict', `The progress file is at revision ${before.revision}, not ${expectedRevision}: somebody changed it. Read it again.`);
        }
        return changeWith(writer, before, change);
      }),
    initialize: (initial, change) =>
      folder.exclusive(async (writer) => {
        const found = await read();
        return found.state === 'missing' ? write(writer, initial, change(initial)) : changeWith(writer, readyOrThrow(found, path), change);
      }),
    restore: () =>
      folder.exclusive(async (writer) => {
        const found = await read();
        if (found.state !== 'corrupt') throw new ContinuityError('progress-conflict', `The progress file is ${found.state}, not corrupt; nothing was put back.`);
        const kept = await readWhole(folder.at(lastGoodName), maxBytes);
        const good = kept !== undefined && 'text' in kept ? parseProgress(kept.text) : undefined;
        if (good?.state !== 'ready') throw new ContinuityError('progress-missing', `No good copy of the progress file is kept; mend ${path}.${copyText(found)}`);
        return write(writer, good.progress, good.progress);
      }),
  };
};

const copyText = ({ backup }: { readonly backup: string | undefined }): string => (backup === undefined ? '' : ` A copy is in ${backup}.`);

/** @throws ContinuityError `progress-missing`, `progress-corrupt`, `progress-newer` */
export const readyOrThrow = (found: ProgressFile, path: string): Progress => {
  switch (found.state) {
    case 'ready':
      return found.progress;
    case 'missing':
      throw new ContinuityError('progress-missing', `There is no ${path} yet; the initializer plans the tasks first.`);
    case 'newer':
      throw new ContinuityError('progress-newer', `${path} has version ${found.version}, this package knows ${progressVersion}; update it.`);
    default:
      throw new ContinuityError('progress-corrupt', `${path} is not in order: ${found.problem}. It is left as it is; mend it, or restore the last good one.${copyText(found)}`);
  }
};
