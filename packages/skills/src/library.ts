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
import { discoverSkills } from './discover.js';
import type { SkillFolder } from './folders.js';
import { expandHome } from './home.js';
import { limited } from './limited.js';
import type { SkillProblem } from './problem.js';
import { readText, UnreadableError, type FileContent } from './read-file.js';
import { readSkillFile, type SkillText, type SkillTextRequest } from './read-skill-file.js';
import { scanSkill, type SkillScan } from './scan.js';
import { readSkill, worksOn, type ReadSkill, type Skill, type SkillPlace } from './skill.js';

/** Options of {@link skillLibrary}. */
export interface SkillLibraryOptions {
  /**
   * Where the skills lie; `~` stands for the home folder. Of two skills of one name the one in the earlier folder is kept. A
   * path alone is not trusted.
   */
  readonly folders: readonly (string | SkillFolder)[];
  /**
   * Skills for other platforms are left out.
   *
   * @defaultValue `process.platform`
   */
  readonly platform?: string | undefined;
  /** Which skills may be used at all. */
  readonly include?: ((skill: Skill) => boolean) | undefined;
  /** Looks at each file before anyValue of it is used. */
  readonly scan?: SkillScan | undefined;
  /**
   * How many skills are used; later ones are left out.
   *
   * @defaultValue `1000`
   */
  readonly maxSkills?: number | undefined;
  /**
   * The home folder, which is shown as `~`.
   *
   * @defaultValue that of the process
   */
  readonly home?: string | undefined;
}

/** The skills that there are. */
export interface SkillList {
  /** Sorted by name. */
  readonly skills: readonly Skill[];
  /** What is wrong with others. */
  readonly problems: readonly SkillProblem[];
}

/** Skills on disk. It belongs to the caller; reading again what has not changed costs next to nothing. */
export interface SkillLibrary {
  readonly home: string;
  readonly platform: string;
  /** All skills. Looks at the disk each time, and reads only what has changed. */
  list(): Promise<SkillList>;
  /**
   * The text of a skill, or of a file that belongs to it.
   *
   * @throws TurnError `unknown-skill` with the nearest names, `unknown-skill-file`, `unreadable-skill`
   */
  read(request: SkillTextRequest): Promise<SkillText>;
}

/** Larger files are no texts for a model. */
const maxBytes = 1024 * 1024;

/** How many files are open at a time. */
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
 * The skills in some folders, as the Agent Skills standard has them: a folder each, with a SKILL.md.
 *
 * @throws InvalidOptionError `invalid-option`
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
      if (!(error instanceof UnreadableError)) throw error;
      return { place, result: { problems: [{ code: 'unreadable', message: error.message, path: place.file }] } };
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
    read: async (request) => readSkillFile(await list(), request, { scan, home, platform, maxBytes }),
  };
};

interface ReadFile {
  readonly place: SkillPlace;
  readonly content?: FileContent | undefined;
  readonly result: ReadSkill;
}

/** Keeps the first of each name, as many as may be. */
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
        message: `There is a skill ${skill.name} already, ${first.file}; this one is left out.`,
        path: skill.file,
      });
    } else byName.set(skill.name, skill);
  }
  const all = [...byName.values()];
  for (const skill of all.slice(maxSkills)) {
    problems.push({
      code: 'too-many',
      message: `Only ${maxSkills} skills are used; this one is left out.`,
      path: skill.file,
    });
  }
  return { skills: all.slice(0, maxSkills).toSorted((left, right) => (left.name < right.name ? -1 : 1)), problems };
};
