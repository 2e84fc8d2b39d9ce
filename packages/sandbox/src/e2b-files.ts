import { chmod, lstat, readdir, readFile, unlink } from 'node:fs/promises';
import { basename, dirname, join, posix, relative, sep } from 'node:path';
import ignore from 'ignore';
import { createWorkspacePaths, sensitivePaths, writeAtomically, type WorkspacePaths } from '@h/paths';
import { SandboxError } from './sandbox-error.js';

/** What copying needs from a machine. */
export interface RemoteFiles {
  /** Runs a shell line in the folder of the workspace there, and returns its output. */
  shell(line: string): Promise<string>;
  write(files: readonly { readonly path: string; readonly data: ArrayBuffer }[]): Promise<void>;
  read(path: string): Promise<Uint8Array>;
}

/** Synchronizes the workspace with its copy on the machine. Links are not copied. */
export interface FileMirror {
  /** Copies files there that have changed here since the last copy. */
  push(): Promise<void>;
  /** Copies files back that have changed there. A file that has also changed here keeps its content here. */
  pull(): Promise<void>;
}

/** A version of a file: equal for equal versions. */
type Stamp = string;

const maxFiles = 20_000;
const maxTotalBytes = 256 * 1024 ** 2;

/** The number of files copied at the same time. */
const batchSize = 16;

/** Prints size, time, mode and name of every file, each entry ended by NUL; large generated folders are skipped. */
const listCommand = String.raw`find . \( -name .git -o -name node_modules \) -prune -o -type f -printf '%s %T@ %m %P\0'`;

/**
 * @param mountPath the folder on the machine
 * @param exclude patterns of files that are copied in neither direction
 */
export const mirrorFiles = (
  root: string,
  mountPath: string,
  exclude: readonly string[],
  remote: RemoteFiles,
): FileMirror => {
  const paths = createWorkspacePaths(root);
  const excluded = ignore().add([...sensitivePaths, ...exclude]);
  const here = new Map<string, Stamp>();
  let there = new Map<string, Stamp>();

  const listThere = async (): Promise<Map<string, Stamp>> => {
    const listed = (await remote.shell(listCommand)).split('\0').flatMap((line) => {
      const [, stamp, path] = /^(\d+ \S+ \d+) ([^]+)$/.exec(line) ?? [];
      return stamp === undefined || path === undefined || excluded.ignores(path) ? [] : [[path, stamp] as const];
    });
    return new Map(listed);
  };

  const push = async (): Promise<void> => {
    const found = await listHere(root, excluded);
    const changed = [...found].filter(([path, { stamp }]) => here.get(path) !== stamp);
    const gone = [...here.keys()].filter((path) => !found.has(path));
    if (changed.length === 0 && gone.length === 0) return;
    for (const batch of batches(changed)) {
      await remote.write(
        await Promise.all(
          batch.map(async ([path]) => ({ path: posix.join(mountPath, path), data: await contentOf(join(root, path)) })),
        ),
      );
    }
    await forEachBatch(
      changed.filter(([, { isExecutable }]) => isExecutable).map(([path]) => path),
      (list) => remote.shell(`chmod +x -- ${list}`),
    );
    await forEachBatch(gone, (list) => remote.shell(`rm -f -- ${list}`));
    for (const path of gone) here.delete(path);
    for (const [path, { stamp }] of changed) here.set(path, stamp);
    there = await listThere();
  };

  const pull = async (): Promise<void> => {
    const found = await listThere();
    const changed = [...found].filter(([path, stamp]) => there.get(path) !== stamp);
    const gone = [...there.keys()].filter((path) => !found.has(path) && here.has(path));
    for (const batch of batches(changed)) {
      await Promise.all(
        batch.map(async ([path, stamp]) => {
          const isExecutable = (Number.parseInt(stamp.split(' ')[2] ?? '0', 8) & 0o100) !== 0;
          const written = await save(paths, path, {
            known: here.get(path),
            isExecutable,
            read: () => remote.read(posix.join(mountPath, path)),
          });
          if (written !== undefined) here.set(path, written);
        }),
      );
    }
    for (const path of gone) if (await removeUnchanged(paths, path, here.get(path))) here.delete(path);
    there = found;
  };
  return { push, pull };
};

interface FileHere {
  readonly stamp: Stamp;
  readonly size: number;
  readonly isExecutable: boolean;
}

const listHere = async (root: string, excluded: ReturnType<typeof ignore>): Promise<ReadonlyMap<string, FileHere>> => {
  const files = new Map<string, FileHere>();
  let total = 0;
  const visit = async (folder: string): Promise<void> => {
    for (const entry of await readdir(folder, { withFileTypes: true })) {
      const absolute = join(folder, entry.name);
      const path = relative(root, absolute).replaceAll(sep, '/');
      if (excluded.ignores(entry.isDirectory() ? `${path}/` : path)) continue;
      if (entry.isDirectory()) await visit(absolute);
      if (!entry.isFile()) continue;
      const file = await fileHere(absolute);
      if (file === undefined) continue;
      files.set(path, file);
      total += file.size;
      if (files.size > maxFiles || total > maxTotalBytes) {
        throw new SandboxError(
          'sandbox-start',
          'e2b',
          `The workspace has more than ${maxFiles} files or ${maxTotalBytes} bytes; use "exclude" to copy fewer.`,
        );
      }
    }
  };
  await visit(root);
  return files;
};

/** `undefined` if it does not exist or is not a regular file. */
const fileHere = async (path: string): Promise<FileHere | undefined> => {
  const stats = await lstat(path, { bigint: true }).catch(() => undefined);
  if (stats?.isFile() !== true) return undefined;
  return {
    stamp: `${stats.size} ${stats.mtimeNs} ${stats.ino}`,
    size: Number(stats.size),
    isExecutable: (stats.mode & 0o100n) !== 0n,
  };
};

const contentOf = async (path: string): Promise<ArrayBuffer> => new Uint8Array(await readFile(path)).buffer;

interface Incoming {
  /** The version here that was last copied there. */
  readonly known: Stamp | undefined;
  readonly isExecutable: boolean;
  readonly read: () => Promise<Uint8Array>;
}

/** Writes a file that was changed there; returns its new version, or `undefined` if it was not written. */
const save = async (
  paths: WorkspacePaths,
  name: string,
  { known, isExecutable, read }: Incoming,
): Promise<Stamp | undefined> => {
  try {
    const path = paths.resolve(name, { for: 'write' });
    if ((await fileHere(path))?.stamp !== known) return undefined;
    const data = Buffer.from(await read());
    const folder = await paths.openFolder(dirname(path), { create: true });
    try {
      const target = folder.at(basename(path));
      const replaces = await lstat(target, { bigint: true }).catch(() => undefined);
      await writeAtomically({ folder, name: basename(path), data, replaces });
      if (isExecutable) await chmod(target, 0o755);
      return (await fileHere(target))?.stamp;
    } finally {
      await folder.close();
    }
  } catch {
    return undefined; // The file may not be written, or was removed there: the other files are still copied.
  }
};

const removeUnchanged = async (paths: WorkspacePaths, name: string, known: Stamp | undefined): Promise<boolean> => {
  try {
    const path = paths.resolve(name, { for: 'write' });
    if ((await fileHere(path))?.stamp !== known) return false;
    await unlink(path);
    return true;
  } catch {
    return false;
  }
};

const batches = <Item>(items: readonly Item[]): readonly (readonly Item[])[] => {
  const result: Item[][] = [];
  for (let index = 0; index < items.length; index += batchSize) result.push(items.slice(index, index + batchSize));
  return result;
};

const forEachBatch = async (paths: readonly string[], run: (list: string) => Promise<unknown>): Promise<void> => {
  for (const batch of batches(paths)) await run(batch.map((path) => quoted(`./${path}`)).join(' '));
};

/** Quotes a word for any shell. */
export const quoted = (word: string): string => `'${word.replaceAll("'", String.raw`'\''`)}'`;
