import { homedir } from 'node:os';
import { dirname } from 'node:path';
import {
  anyBoolean,
  anyFunction,
  anyString,
  nonEmptyString,
  checkOptions,
  anyOf,
  arrayOf,
  objectOf,
  required,
  integerFrom,
  type OptionChecks,
} from '@h/options';
import { toErrorInfo } from '@h/turn';
import { discoverSkills } from './discover.js';
import type { SkillFolder } from './folders.js';
import { expandHome } from './home.js';
import { limited } from './limited.js';
import type { SkillProblem } from './problem.js';
import { readText, type FileContent } from './read-file.js';
import { readSkillFile, type SkillText, type SkillTextRequest } from './read-skill-file.js';
import { scanSkill, type SkillScan } from './scan.js';
import { readSkill, worksOn, type ReadSkill, type Skill, type SkillPlace } from './skill.js';

/** Options of {@link skillLibrary}. */
export interface SkillLibraryOptions {
  /**
   * Folders with skills; a leading `~` is the home folder. If two skills have the same name, the one in the earlier
   * folder is used. A plain path is untrusted.
   */
  readonly folders: readonly (string | SkillFolder)[];
  /**
   * Platform; skills for other platforms are left out.
   *
   * @defaultValue `process.platform`
   */
  readonly platform?: string | undefined;
  /** Returns whether a skill is used. */
  readonly include?: ((skill: Skill) => boolean) | undefined;
  /** Scans each file before it is used. A file is left out if the scanner rejects it or fails. */
  readonly scan?: SkillScan | undefined;
  /**
   * Maximum number of skills; later ones are left out.
   *
   * @defaultValue `1000`, several times what fits into the index
   */
  readonly maxSkills?: number | undefined;
  /**
   * The home folder, displayed as `~`.
   *
   * @defaultValue `homedir()`
   */
  readonly home?: string | undefined;
}

/** The usable skills. */
export interface SkillList {
  /** Sorted by name. */
  readonly skills: readonly Skill[];
  /** Problems with these and with rejected skills. */
  readonly problems: readonly SkillProblem[];
}

/** Skills on disk. Unchanged files are not read again. */
export interface SkillLibrary {
  readonly home: string;
  readonly platform: string;
  /** Lists all skills. Searches the folders on each call and reads changed files only. */
  list(): Promise<SkillList>;
  /**
   * Reads the text of a skill or of one of its files.
   *
   * @throws TurnError `unknown-skill` with similar names, `unknown-skill-file`, `unreadable-skill`
   */
  read(request: SkillTextRequest): Promise<SkillText>;
}

/** Larger files are rejected. */
const maxBytes = 1024 * 1024;

/** Maximum number of concurrently open files. */
const concurrency = 16;

const aFolder = anyOf(
  nonEmptyString,
  objectOf({ path: required(nonEmptyString), trusted: anyBoolean, within: anyString }),
);

const checks: OptionChecks<SkillLibraryOptions> = {
  folders: required({ ...arrayOf(aFolder), expected: 'a list of paths and folders' }),
  platform: anyString,
  include: anyFunction,
  scan: anyFunction,
  maxSkills: integerFrom(1),
  home: anyString,
};

/**
 * Creates a library of the skills in the given folders, in the format of the Agent Skills standard.
 *
 * @throws InvalidOptionError if an option is unknown or has a wrong value
 *
 * @example
 * ```ts
 * const library = skillLibrary({ folders: standardSkillFolders({ home: homedir(), workspace: process.cwd() }) });
 * const { skills, problems } = await library.list();
 * ```
 */
export const skillLibrary = (options: SkillLibraryOptions): SkillLibrary => {
  checkOptions('skillLibrary()', options, checks);
  const { platform = process.platform, include = () => true, scan, maxSkills = 1000, home = homedir() } = options;
  const folders = options.folders.map((folder): SkillFolder => {
    const given = typeof folder === 'string' ? { path: folder } : folder;
    return { ...given, path: expandHome(given.path, home, { platform }) };
  });
  let read = new Map<string, ReadFile>();

  const readPlace = async (place: SkillPlace): Promise<ReadFile> => {
    const before = read.get(place.file);
    try {
      const content = await readText(place.file, dirname(place.file), maxBytes, before?.content);
      if (before !== undefined && before.content === content) return before;
      const { text, problem } = await scanSkill(content.text, place.file, scan);
      const problems = problem ? [problem] : [];
      if (text === undefined) return { place, content, result: { problems } };
      const result = readSkill(text, place);
      return { place, content, result: { ...result, problems: [...problems, ...result.problems] } };
    } catch (error) {
      const { message } = toErrorInfo(error);
      return { place, result: { problems: [{ code: 'unreadable', message, path: place.file }] } };
    }
  };

  const list = async (): Promise<SkillList> => {
    const { places, problems } = await discoverSkills(folders);
    const files = await limited(places, concurrency, readPlace);
    read = new Map(files.map((file) => [file.place.file, file]));
    return select(files, problems, { maxSkills, accepts: (skill) => worksOn(skill, platform) && include(skill) });
  };

  return {
    home,
    platform,
    list,
    read: async (request) => readSkillFile((await list()).skills, request, { scan, home, platform, maxBytes }),
  };
};

interface ReadFile {
  readonly place: SkillPlace;
  readonly content?: FileContent | undefined;
  readonly result: ReadSkill;
}

/** Keeps the first skill of each name, up to `maxSkills`. */
const select = (
  files: readonly ReadFile[],
  before: readonly SkillProblem[],
  { maxSkills, accepts }: { readonly maxSkills: number; readonly accepts: (skill: Skill) => boolean },
): SkillList => {
  const byName = new Map<string, Skill>();
  const problems = [...before];
  for (const { result } of files) {
    const { skill } = result;
    if (skill && !accepts(skill)) continue;
    problems.push(...result.problems);
    if (!skill) continue;
    const first = byName.get(skill.name);
    if (first) {
      problems.push({
        code: 'collision',
        message: `The name ${skill.name} is already used by ${first.file}; this skill was left out.`,
        path: skill.file,
      });
    } else byName.set(skill.name, skill);
  }
  const all = [...byName.values()];
  for (const skill of all.slice(maxSkills)) {
    problems.push({
      code: 'too-many',
      message: `The limit of ${maxSkills} skills was reached; this skill was left out.`,
      path: skill.file,
    });
  }
  return { skills: all.slice(0, maxSkills).toSorted((left, right) => (left.name < right.name ? -1 : 1)), problems };
};
