import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { chmod, lstat, readdir, rm, stat, utimes } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { createFolder, ensureFolder, fileSize, openRegularFile, sweepTemporaryFiles } from '@h/files';
import type { ArtifactReference } from '@h/turn';
import { anyValue, InvalidOptionError } from '@h/options';
import { artifactSettings, isArtifactId, mediaTypeOf, newArtifactId, type ArtifactSettings } from './settings.js';
import {
  ArtifactNotFoundError,
  checkQuota,
  type ArtifactInput,
  type ArtifactRange,
  type ArtifactSlice,
  type ArtifactStore,
  type ArtifactStoreOptions,
} from './store.js';

/** Options of {@link fileArtifacts}. */
export interface FileArtifactsOptions extends ArtifactStoreOptions {
  /** An absolute path outside of any git work tree. A missing folder is created for its owner only (0700). */
  readonly directory: string;
}

/** The metadata stored beside the content of an artifact. */
interface Description {
  readonly mediaType: string;
  readonly isText: boolean;
  readonly size: number;
  readonly bytes: number;
  readonly external: boolean;
}

/**
 * Stores artifacts as files (0600), in one folder per session (0700) whose name does not reveal the session.
 *
 * A folder inside a git work tree is rejected, so that no commit can include the files. Folders of sessions that were
 * not used for `ttlMs` are removed when the store is opened, and occasionally when an artifact is stored.
 *
 * @throws InvalidOptionError `invalid-option` if the directory is relative, a link, or in a git work tree
 *
 * @example
 * ```ts
 * const artifacts = await fileArtifacts({ directory: join(homedir(), '.local/state/my-agent/artifacts') });
 * ```
 */
export const fileArtifacts = async (options: FileArtifactsOptions): Promise<ArtifactStore> => {
  const settings = artifactSettings('fileArtifacts', options, 1024 * 1024 * 1024, { directory: anyValue });
  const directory = await preparedDirectory(options.directory);
  const store = new FileArtifacts(directory, settings);
  await store.sweep();
  return store;
};

const contentFile = 'content';
const descriptionFile = 'description.json';

class FileArtifacts implements ArtifactStore {
  readonly #directory: string;
  readonly #settings: ArtifactSettings;
  readonly #bytes = new Map<string, number>();
  #sweptAt = 0;

  constructor(directory: string, settings: ArtifactSettings) {
    this.#directory = directory;
    this.#settings = settings;
  }

  async put(artifact: ArtifactInput): Promise<ArtifactReference> {
    const { now, ttlMs } = this.#settings;
    if (now() - this.#sweptAt > ttlMs / 8) await this.sweep();
    const folder = this.#folder(artifact.session);
    const isText = typeof artifact.content === 'string';
    const content = typeof artifact.content === 'string' ? Buffer.from(artifact.content) : artifact.content;
    const used = { total: sum(this.#bytes.values()), session: this.#bytes.get(folder) ?? 0 };
    checkQuota(content.byteLength, used, this.#settings);
    this.#bytes.set(folder, used.session + content.byteLength);
    const size = artifact.content.length;
    const mediaType = mediaTypeOf(artifact);
    const description: Description = {
      mediaType,
      isText,
      size,
      bytes: content.byteLength,
      external: artifact.external === true,
    };
    const id = newArtifactId();
    try {
      await ensureFolder(folder);
      // Both files appear in one step. Files that a killed process has prepared are removed at the next start.
      const files = { [contentFile]: content, [descriptionFile]: JSON.stringify(description) };
      await createFolder(join(folder, id), files, { sync: false });
      await this.#touch(folder);
    } catch (error) {
      this.#bytes.set(folder, (this.#bytes.get(folder) ?? content.byteLength) - content.byteLength);
      throw error;
    }
    return { id, size, mediaType };
  }

  async read(
    session: string,
    id: string,
    { offset = 0, length = Infinity }: ArtifactRange = {},
  ): Promise<ArtifactSlice> {
    if (!isArtifactId(id)) throw new ArtifactNotFoundError(id);
    const folder = this.#folder(session);
    try {
      if (await this.#isExpired(folder)) throw new ArtifactNotFoundError(id);
      const description = await readDescription(join(folder, id));
      if (description === undefined) throw new ArtifactNotFoundError(id);
      const { mediaType, isText, size, bytes, external } = description;
      // If every character is one byte, only the requested range is read.
      const isDirect = !isText || size === bytes;
      const raw = await readRange(
        join(folder, id, contentFile),
        isDirect ? { offset, length: Math.min(length, bytes) } : {},
      );
      // A power failure may have cut off the content.
      if ((await fileSize(join(folder, id, contentFile))) !== bytes) throw new ArtifactNotFoundError(id);
      const content = isText ? (isDirect ? raw.toString() : raw.toString().slice(offset, offset + length)) : raw;
      await this.#touch(folder);
      return { content, offset, size, mediaType, external };
    } catch (error) {
      if (isMissing(error)) throw new ArtifactNotFoundError(id, { cause: error });
      throw error;
    }
  }

  async list(session: string): Promise<readonly ArtifactReference[]> {
    const folder = this.#folder(session);
    if (await this.#isExpired(folder)) return [];
    const names = await readdir(folder).catch(ifMissing([]));
    const found = names.filter(isArtifactId).map(async (id) => {
      const description = await readDescription(join(folder, id)).catch(ifMissing(undefined));
      return description === undefined ? [] : [{ id, size: description.size, mediaType: description.mediaType }];
    });
    return (await Promise.all(found)).flat();
  }

  async delete(session: string, id: string): Promise<void> {
    if (!isArtifactId(id)) return;
    const folder = this.#folder(session);
    await rm(join(folder, id), { recursive: true, force: true });
    if (this.#bytes.has(folder)) this.#bytes.set(folder, await bytesIn(folder).catch(ifMissing(0)));
  }

  async deleteSession(session: string): Promise<void> {
    const folder = this.#folder(session);
    this.#bytes.delete(folder);
    await rm(folder, { recursive: true, force: true });
  }

  /** Removes expired artifacts and counts the remaining ones. */
  async sweep(): Promise<void> {
    this.#sweptAt = this.#settings.now();
    const names = (await readdir(this.#directory)).filter((name) => /^[0-9a-f]{32}$/.test(name));
    for (const name of names) {
      const folder = join(this.#directory, name);
      if (await this.#isExpired(folder)) {
        this.#bytes.delete(folder);
        await rm(folder, { recursive: true, force: true });
      } else {
        await sweepTemporaryFiles(folder);
        // Another process may have removed it.
        this.#bytes.set(folder, await bytesIn(folder).catch(ifMissing(0)));
      }
    }
  }

  async #isExpired(folder: string): Promise<boolean> {
    const { mtimeMs } = await stat(folder).catch(ifMissing({ mtimeMs: Infinity }));
    return this.#settings.now() - mtimeMs > this.#settings.ttlMs;
  }

  async #touch(folder: string): Promise<void> {
    const seconds = this.#settings.now() / 1_000;
    await utimes(folder, seconds, seconds);
  }

  /** Returns a safe folder name: a session name may contain any characters, including path separators. */
  #folder(session: string): string {
    return join(this.#directory, createHash('sha256').update(session).digest('hex').slice(0, 32));
  }
}

const preparedDirectory = async (directory: string): Promise<string> => {
  const refuse = (what: string): never => {
    const message = `fileArtifacts(): "directory" ${what}; received ${JSON.stringify(directory)}.`;
    throw new InvalidOptionError({ owner: 'fileArtifacts()', option: 'directory', message });
  };
  if (typeof directory !== 'string' || !isAbsolute(directory)) refuse('must be an absolute path');
  const path = resolve(directory);
  const workTree = await workTreeOf(path);
  if (workTree !== undefined) refuse(`must not be in the git work tree ${workTree}, where a commit could include it`);
  await ensureFolder(path);
  const made = await lstat(path);
  if (made.isSymbolicLink() || !made.isDirectory()) refuse('must be a folder, not a link or a file');
  // Another user may have created the folder with any permissions.
  await chmod(path, 0o700);
  return path;
};

/** Returns the git work tree that contains a path. A home directory that is a work tree (dotfiles) does not count. */
const workTreeOf = async (path: string): Promise<string | undefined> => {
  for (let folder = path; folder !== homedir() && folder !== dirname(folder); folder = dirname(folder)) {
    const isWorkTree = await lstat(join(folder, '.git')).then(
      () => true,
      () => false,
    );
    if (isWorkTree) return folder;
  }
  return undefined;
};

/** Reads bytes of a file, which must not be a link. */
const readRange = async (path: string, { offset = 0, length }: ArtifactRange = {}): Promise<Buffer> => {
  const file = await openRegularFile(path, constants.O_RDONLY);
  try {
    if (length === undefined) return await file.readFile();
    const buffer = Buffer.alloc(Math.max(0, Math.min(length, (await file.stat()).size - offset)));
    const { bytesRead } = await file.read(buffer, 0, buffer.length, offset);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
};

/** Returns `undefined` if a power failure has damaged the description. */
const readDescription = async (folder: string): Promise<Description | undefined> => {
  const text = (await readRange(join(folder, descriptionFile))).toString();
  try {
    return JSON.parse(text) as Description;
  } catch {
    return undefined;
  }
};

const bytesIn = async (folder: string): Promise<number> => {
  let bytes = 0;
  for (const name of await readdir(folder)) {
    if (isArtifactId(name)) bytes += await fileSize(join(folder, name, contentFile));
  }
  return bytes;
};

const sum = (values: Iterable<number>): number => {
  let total = 0;
  for (const value of values) total += value;
  return total;
};

const isMissing = (error: unknown): boolean => error instanceof Error && 'code' in error && error.code === 'ENOENT';

/** Replaces the error of a missing file by a value. */
const ifMissing =
  <Value>(value: Value) =>
  (error: unknown): Value => {
    if (isMissing(error)) return value;
    throw error;
  };
