import { constants } from 'node:fs';
import { mkdir, realpath } from 'node:fs/promises';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { errorCode, openRegularFile, replaceFile } from '@h/files';
import { CodedError } from '@h/options';

/** Files of the workspace of another session. */
export interface HandedOver {
  readonly session: string;
  /** Relative to the workspace. */
  readonly paths: readonly string[];
}

/** Size limit of a file, in bytes. */
const maxBytes = 100_000_000;

/**
 * Copies files from one workspace into another. Agents have written both, so neither side follows a link to another
 * folder.
 *
 * @throws CodedError `unsafe-path` if a path leaves a workspace or is not a file, `missing-file` and `large-file`
 */
export const copyFiles = async (from: string, to: string, paths: readonly string[]): Promise<void> => {
  for (const path of paths) {
    const content = await readWithin(from, path);
    const target = await folderWithin(to, path);
    await replaceFile(target, content, { mode: 'keep', sync: false });
  }
};

const readWithin = async (root: string, path: string): Promise<Buffer> => {
  const missing = new CodedError('missing-file', `The file ${JSON.stringify(path)} of an earlier step does not exist.`);
  try {
    const real = await realpath(inside(root, path));
    if (!isWithin(await realpath(root), real)) throw unsafe(path);
    const handle = await openRegularFile(real, constants.O_RDONLY);
    try {
      const { size } = await handle.stat();
      if (size > maxBytes) {
        throw new CodedError(
          'large-file',
          `The file ${JSON.stringify(path)} has ${size} bytes; ${maxBytes} are allowed.`,
        );
      }
      return await handle.readFile();
    } finally {
      await handle.close();
    }
  } catch (error) {
    throw errorCode(error) === 'ENOENT' ? missing : error;
  }
};

/** Creates the folder of a path, and returns where the file belongs. */
const folderWithin = async (root: string, path: string): Promise<string> => {
  const top = await realpath(root);
  let folder = top;
  for (const part of relative(root, dirname(inside(root, path)))
    .split(sep)
    .filter(Boolean)) {
    folder = join(folder, part);
    try {
      await mkdir(folder);
    } catch (error) {
      if (errorCode(error) !== 'EEXIST') throw error;
    }
    folder = await realpath(folder);
    if (!isWithin(top, folder)) throw unsafe(path);
  }
  return join(folder, path.split(/[/\\]/).at(-1) ?? '');
};

const inside = (root: string, path: string): string => {
  const full = resolve(root, path);
  if (full === resolve(root) || !isWithin(resolve(root), full)) throw unsafe(path);
  return full;
};

const isWithin = (root: string, path: string): boolean => path === root || path.startsWith(`${root}${sep}`);

const unsafe = (path: string): CodedError =>
  new CodedError('unsafe-path', `The path ${JSON.stringify(path)} leaves its workspace. Name a file inside of it.`);
