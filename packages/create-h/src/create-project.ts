import { copyFile, readdir, readFile, rm, rmdir, writeFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ensureFolder } from '@h/files';
import { checkOptions, CodedError, nonEmptyString, objectWithMethods, recordOf } from '@h/options';

/** Options of {@link createProject}. */
export interface CreateProjectOptions {
  /** The folder of the project. It is created if it does not exist, and must be empty apart from `.git`. */
  readonly folder: string;
  /**
   * Versions of libraries, instead of those that this release was tested with.
   *
   * @defaultValue the versions in the package.json of this package
   */
  readonly versions?: Readonly<Record<string, string>> | undefined;
  /** Stops the creation: the folder stays as it was, and the promise is rejected with the reason. */
  readonly signal?: AbortSignal | undefined;
}

/** A created project. */
export interface CreatedProject {
  /** The absolute path of the project. */
  readonly folder: string;
  /** The name in its package.json. */
  readonly name: string;
  /** The files that were written, relative to the folder. */
  readonly files: readonly string[];
}

/** The project cannot be created. `code` is `'folder-not-empty'` or `'not-written'`. */
export class CreateProjectError extends CodedError {}

/** Folder of the template, beside `src` and `dist`. */
const template = new URL('../template/', import.meta.url);

/** Names of template files whose real names npm does not publish. */
const publishedNames: Readonly<Record<string, string>> = { _gitignore: '.gitignore' };

/**
 * Creates a project with an agent that runs without a key, and with a real model if one is set. It installs nothing.
 *
 * @throws InvalidOptionError if an option is invalid
 * @throws CreateProjectError if the folder has content or cannot be written to; what was written is removed
 *
 * @example
 * ```ts
 * const { files } = await createProject({ folder: 'my-agent' });
 * ```
 */
export const createProject = async (options: CreateProjectOptions): Promise<CreatedProject> => {
  checkOptions('createProject()', options, {
    folder: nonEmptyString,
    versions: recordOf(nonEmptyString),
    signal: objectWithMethods('throwIfAborted'),
  });
  const { signal } = options;
  const folder = resolve(options.folder);
  await requireEmpty(folder);
  const name = packageName(folder);
  const versions = { ...(await testedVersions()), ...options.versions };
  const sources = new Map((await readdir(template)).map((file) => [publishedNames[file] ?? file, file]));
  const files = [...sources.keys(), 'package.json'].toSorted();
  signal?.throwIfAborted();
  let made: string | undefined;
  try {
    made = await ensureFolder(folder, 0o777);
    for (const [target, file] of sources) {
      signal?.throwIfAborted();
      await copyFile(new URL(file, template), join(folder, target));
    }
    signal?.throwIfAborted();
    await writeFile(join(folder, 'package.json'), manifestOf(name, versions));
  } catch (error) {
    // The next attempt needs an empty folder.
    await Promise.allSettled(files.map((file) => rm(join(folder, file), { force: true })));
    if (made !== undefined) await removeEmpty(folder, made).catch(() => undefined);
    if (signal?.aborted === true && error === signal.reason) throw error;
    throw notWritten(folder, error);
  }
  return { folder, name, files };
};

/** Removes folders that were made, from the inner one to the outer one, unless another process has used them. */
const removeEmpty = async (folder: string, outer: string): Promise<void> => {
  await rmdir(folder);
  if (folder !== outer) await removeEmpty(dirname(folder), outer);
};

const notWritten = (folder: string, cause: unknown): CreateProjectError => {
  const reason = cause instanceof Error ? cause.message : String(cause);
  const message = `Cannot write to the folder ${folder}: ${reason}. Name a folder that can be written to.`;
  return new CreateProjectError('not-written', message, { cause });
};

const requireEmpty = async (folder: string): Promise<void> => {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw notWritten(folder, error);
  });
  const others = names.filter((name) => name !== '.git');
  if (others.length === 0) return;
  throw new CreateProjectError(
    'folder-not-empty',
    `The folder ${folder} contains ${others.slice(0, 3).join(', ')}${others.length > 3 ? ' and more' : ''}. ` +
      'Name an empty or a new folder.',
  );
};

/** Longest name that npm accepts. */
const maxNameLength = 214;
/** Names that npm rejects, as they mean something else in a folder of packages. */
const reservedNames: ReadonlySet<string> = new Set(['', 'node_modules', 'favicon.ico']);

/** Returns a valid package name for a folder. */
const packageName = (folder: string): string => {
  const name = basename(folder)
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll(/[^a-z0-9._-]+/g, '-')
    .replaceAll(/^[._-]+/g, '')
    .slice(0, maxNameLength)
    .replaceAll(/[._-]+$/g, '');
  return reservedNames.has(name) ? 'agent' : name;
};

/** Returns the versions that this release was tested with: its optional peer dependencies. */
const testedVersions = async (): Promise<Readonly<Record<string, string>>> => {
  const manifest = JSON.parse(await readFile(fileURLToPath(new URL('../package.json', import.meta.url)), 'utf8')) as {
    readonly peerDependencies: Readonly<Record<string, string>>;
  };
  return manifest.peerDependencies;
};

const manifestOf = (name: string, versions: Readonly<Record<string, string>>): string =>
  `${JSON.stringify(
    {
      name,
      version: '0.1.0',
      private: true,
      type: 'module',
      engines: { node: '>=20.19' },
      scripts: { start: 'node main.js', test: 'node --test' },
      dependencies: Object.fromEntries(Object.entries(versions).toSorted(([one], [other]) => (one < other ? -1 : 1))),
    },
    undefined,
    2,
  )}\n`;
