import type { Dirent } from 'node:fs';
import { readdir, realpath, stat } from 'node:fs/promises';
import { basename, isAbsolute, join, relative, sep } from 'node:path';
import { errorCodeOf } from '@h/paths/open';
import type { SkillFolder } from './folders.js';
import type { SkillProblem } from './problem.js';
import type { SkillPlace } from './skill.js';

/** Maximum depth of a skill below its folder. Collections nest skills once or twice. */
const maxDepth = 4;

/** Maximum number of visited folders, in case a large folder is given by mistake. */
const maxFolders = 5000;

/** The SKILL.md files found, in a fixed order. */
export interface Discovered {
  readonly places: readonly SkillPlace[];
  readonly problems: readonly SkillProblem[];
}

/**
 * Finds the SKILL.md files below folders.
 *
 * A folder with a SKILL.md is one skill, including everything below it. Results follow the order of `folders`, then
 * names. Skips hidden folders and `node_modules`, counts a folder once if links lead to it, and ignores missing
 * folders.
 */
export const discoverSkills = async (folders: readonly SkillFolder[]): Promise<Discovered> => {
  const search = new Search();
  for (const folder of folders) await search.begin(folder);
  return search;
};

/** One search through all folders. */
class Search implements Discovered {
  readonly places: SkillPlace[] = [];
  readonly problems: SkillProblem[] = [];
  readonly #seen = new Set<string>();
  #folders = 0;

  async begin({ path, trusted = false, within }: SkillFolder): Promise<void> {
    const root = await realpath(path).catch((error: unknown) => this.#unreadable(path, error));
    if (root === undefined) return;
    const bound = trusted ? undefined : await realpath(within ?? path).catch(() => root);
    if (this.#isOutside(root, bound, path)) return;
    await this.#visit(root, basename(path), 0, trusted, bound);
  }

  async #visit(
    folder: string,
    folderName: string,
    depth: number,
    trusted: boolean,
    bound: string | undefined,
  ): Promise<void> {
    if (this.#seen.has(folder) || !this.#canVisit(folder)) return;
    this.#seen.add(folder);
    const found = await readdir(folder, { withFileTypes: true }).catch((error: unknown) =>
      this.#unreadable(folder, error),
    );
    const entries = found ?? [];
    entries.sort((left, right) => (left.name < right.name ? -1 : left.name > right.name ? 1 : 0));
    const own =
      entries.find(({ name }) => name === 'SKILL.md') ?? entries.find(({ name }) => name.toLowerCase() === 'skill.md');
    if (own) {
      await this.#take(folder, folderName, own, trusted, bound);
      return;
    }
    if (depth === maxDepth) return;
    for (const entry of entries) {
      if (entry.name.startsWith('.') || entry.name === 'node_modules') continue;
      const inner = await this.#folderOf(join(folder, entry.name), entry, bound);
      if (inner !== undefined) await this.#visit(inner, entry.name, depth + 1, trusted, bound);
    }
  }

  async #take(
    folder: string,
    folderName: string,
    entry: Dirent,
    trusted: boolean,
    bound: string | undefined,
  ): Promise<void> {
    const path = join(folder, entry.name);
    const file = await realpath(path).catch((error: unknown) => this.#unreadable(path, error));
    if (file === undefined || this.#isOutside(file, bound, path)) return;
    this.places.push({ folder, file, folderName, trusted });
  }

  /** Resolves an entry to the folder that it is or links to. */
  async #folderOf(path: string, entry: Dirent, bound: string | undefined): Promise<string | undefined> {
    if (entry.isDirectory()) return path;
    if (!entry.isSymbolicLink()) return undefined;
    const target = await realpath(path).catch((error: unknown) => this.#unreadable(path, error));
    if (target === undefined || (await stat(target).catch(() => undefined))?.isDirectory() !== true) return undefined;
    return this.#isOutside(target, bound, path) ? undefined : target;
  }

  /** Reports a folder or a file that exists and cannot be read: its skills would vanish without a reason. */
  #unreadable(path: string, error: unknown): undefined {
    const code = errorCodeOf(error) ?? 'unknown error';
    if (code === 'ENOENT' || code === 'ENOTDIR') return;
    this.problems.push({ code: 'unreadable', message: `The path cannot be read (${code}).`, path });
  }

  #isOutside(target: string, bound: string | undefined, path: string): boolean {
    if (bound === undefined) return false;
    const way = relative(bound, target);
    const isOutside = way === '..' || way.startsWith(`..${sep}`) || isAbsolute(way);
    if (isOutside) {
      this.problems.push({
        code: 'outside',
        message: 'The link leads out of an untrusted folder.',
        path,
      });
    }
    return isOutside;
  }

  #canVisit(folder: string): boolean {
    this.#folders += 1;
    if (this.#folders === maxFolders + 1) {
      this.problems.push({
        code: 'too-many',
        message: `The search stopped after ${maxFolders} folders.`,
        path: folder,
      });
    }
    return this.#folders <= maxFolders;
  }
}
