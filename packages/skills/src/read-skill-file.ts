import { readdir, realpath } from 'node:fs/promises';
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { characterStart } from '@h/bounded';
import { toErrorInfo, TurnError } from '@h/turn';
import { parseFrontmatter } from './frontmatter.js';
import { nearestNames } from './nearest.js';
import type { SkillProblem } from './problem.js';
import { readText } from './read-file.js';
import { scanSkill, type SkillScan } from './scan.js';
import type { Skill } from './skill.js';

/** Arguments of `SkillLibrary.read`. */
export interface SkillTextRequest {
  readonly name: string;
  /** Path of a file, relative to the skill's folder. @defaultValue SKILL.md, without frontmatter */
  readonly file?: string | undefined;
  /** First character to read. @defaultValue `0` */
  readonly offset?: number | undefined;
  /**
   * Maximum number of characters.
   *
   * @defaultValue `20000`, about 5,000 tokens, the maximum that the standard recommends
   */
  readonly maxChars?: number | undefined;
  /** The caller; a skill can be hidden from the model or from users. @defaultValue `'model'` */
  readonly by?: 'model' | 'user' | undefined;
}

/** A text of a skill, or a part of it. */
export interface SkillText {
  readonly skill: Skill;
  readonly text: string;
  /** Start and end of the part in the whole text. */
  readonly offset: number;
  readonly end: number;
  /** Length of the whole text. */
  readonly total: number;
  /** Paths of up to 30 other files of the skill, relative to its folder. */
  readonly files: readonly string[];
  readonly problems: readonly SkillProblem[];
}

/** Settings of {@link readSkillFile}. */
export interface ReadSettings {
  readonly scan: SkillScan | undefined;
  readonly home: string;
  readonly platform: string;
  readonly maxBytes: number;
}

/** Maximum number of listed files. */
const maxFiles = 30;

/** Maximum depth of listed files. */
const maxDepth = 3;

/** Reads the text of a skill or of one of its files. */
export const readSkillFile = async (
  skills: readonly Skill[],
  request: SkillTextRequest,
  settings: ReadSettings,
): Promise<SkillText> => {
  const { name, file, offset = 0, maxChars = 20_000, by = 'model' } = request;
  const open = skills.filter((skill) => (by === 'model' ? skill.forModel : skill.forUser));
  const skill = open.find((known) => known.name === name);
  if (!skill) throw unknownSkill(name, open);
  const path = file === undefined ? skill.file : await fileOf(skill, file);
  const root = file === undefined ? dirname(skill.file) : skill.folder;
  const { text, problem } = await scanSkill(await contentOf(path, root, settings.maxBytes), path, settings.scan);
  if (text === undefined) {
    throw new TurnError('unreadable-skill', `Skill ${name} cannot be read. ${problem?.message ?? ''}`);
  }
  const whole = file === undefined ? (parseFrontmatter(text)?.body ?? text.trim()) : text;
  const begin = Math.min(Math.max(0, Math.trunc(offset)), whole.length);
  const end = endOf(whole, begin, maxChars);
  return {
    skill,
    text: whole.slice(begin, end),
    offset: begin,
    end,
    total: whole.length,
    files: file === undefined ? await filesOf(skill) : [],
    problems: problem ? [problem] : [],
  };
};

const unknownSkill = (name: string, open: readonly Skill[]): TurnError => {
  const near = nearestNames(
    name,
    open.map((known) => known.name),
  );
  const hint = near.length === 0 ? '' : ` Did you mean ${near.join(', ')}?`;
  return new TurnError('unknown-skill', `Skill ${JSON.stringify(name.slice(0, 80))} does not exist.${hint}`);
};

const contentOf = async (path: string, root: string, maxBytes: number): Promise<string> => {
  try {
    return (await readText(path, root, maxBytes)).text;
  } catch (error) {
    throw new TurnError('unreadable-skill', `The file cannot be read. ${toErrorInfo(error).message}`, { cause: error });
  }
};

/** Resolves a path inside the skill's folder. Links that lead out of it are rejected. */
const fileOf = async (skill: Skill, file: string): Promise<string> => {
  const refuse = (why: string): never => {
    throw new TurnError(
      'unknown-skill-file',
      `Skill ${skill.name} has no file ${JSON.stringify(file.slice(0, 200))}: ${why}`,
    );
  };
  const target = await realpath(resolve(skill.folder, file)).catch(() => refuse('the path does not exist.'));
  const way = relative(skill.folder, target);
  if (way === '..' || way.startsWith(`..${sep}`) || isAbsolute(way)) {
    refuse('the path is outside the folder of the skill.');
  }
  return target;
};

/** End of a part: at a nearby line end, never inside a surrogate pair. */
const endOf = (text: string, begin: number, maxChars: number): number => {
  const limit = begin + maxChars;
  if (limit >= text.length) return text.length;
  const lineEnd = text.lastIndexOf('\n', limit);
  if (lineEnd > begin + maxChars * 0.8) return lineEnd;
  return Math.max(characterStart(text, limit), begin + 1);
};

const filesOf = async ({ folder, file }: Skill): Promise<readonly string[]> => {
  const found: string[] = [];
  const visit = async (place: string, depth: number): Promise<void> => {
    const entries = await readdir(place, { withFileTypes: true }).catch(() => []);
    entries.sort((left, right) => (left.name < right.name ? -1 : 1));
    for (const entry of entries) {
      if (found.length >= maxFiles) return;
      if (entry.name.startsWith('.') || entry.name === 'node_modules') continue;
      const path = join(place, entry.name);
      if (entry.isDirectory() && depth < maxDepth) await visit(path, depth + 1);
      else if (entry.isFile() && path !== file) found.push(relative(folder, path).split(sep).join('/'));
    }
  };
  await visit(folder, 1);
  return found;
};
