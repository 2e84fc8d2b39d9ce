import type { Dirent } from 'node:fs';
import { readdir, realpath, stat } from 'node:fs/promises';
import { basename, isAbsolute, join, relative, sep } from 'node:path';
import type { SkillFolder } from './folders.js';
import type { SkillProblem } from './problem.js';
import type { SkillPlace } from './skill.js';

/** How deep skills may lie below their folder: collections nest them once or twice. */
const maxDepth = 4;

/** How many folders are looked into, so that a folder given by mistake does not take for ever. */
const maxFolders = 5000;

/** The SKILL.md files that were found, in a fixed order. */
export interface Discovered {
  readonly places: readonly SkillPlace[];
  readonly problems: readonly SkillProblem[];
}

/**
 * Finds the SKILL.md files below folders.
 *
 * A folder with a SKILL.md is one skill; what lies below it belongs to it. Folders come in the order in which they are
 * given, and below them by name. Hidden folders and `node_modules` are passed over, what is found twice by way of links
 * counts once, and a folder that is not there holds nothing.
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
    const root = await realpath(path).catch(() => undefined);
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
    if (this.#seen.has(folder) || !this.#mayLookInto(folder)) return;
    this.#seen.add(folder);
    const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
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
    const file = await realpath(join(folder, entry.name)).catch(() => undefined);
    if (file === undefined || this.#isOutside(file, bound, join(folder, entry.name))) return;
    this.places.push({ folder, file, folderName, trusted });
  }

  /** The folder that an entry is or leads to. */
  async #folderOf(path: string, entry: Dirent, bound: string | undefined): Promise<string | undefined> {
    if (entry.isDirectory()) return path;
    if (!entry.isSymbolicLink()) return undefined;
    const target = await realpath(path).catch(() => undefined);
    if (target === undefined || (await stat(target).catch(() => undefined))?.isDirectory() !== true) return undefined;
    return this.#isOutside(target, bound, path) ? undefined : target;
  }

  #isOutside(target: string, bound: string | undefined, path: string): boolean {
    if (bound === undefined) return false;
    const way = relative(bound, target);
    const isOutside = way === '..' || way.startsWith(`..${sep}`) || isAbsolute(way);
    if (isOutside) {
      this.problems.push({
        code: 'outside',
        message: 'It is a link that leads out of a folder that is not trusted.',
        path,
      });
    }
    return isOutside;
  }

  #mayLookInto(folder: string): boolean {
    this.#folders += 1;
    if (this.#folders === maxFolders + 1) {
      this.problems.push({
        code: 'too-many',
        message: `Only ${maxFolders} folders are looked into; the rest is left out.`,
        path: folder,
      });
    }
    return this.#folders <= maxFolders;
  }
}
