import { readdir, realpath } from 'node:fs/promises';
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { toErrorInfo, TurnError } from '@h/turn';
import { parseFrontmatter } from './frontmatter.js';
import type { SkillList } from './library.js';
import { nearestNames } from './nearest.js';
import type { SkillProblem } from './problem.js';
import { readText } from './read-file.js';
import { scanSkill, type SkillScan } from './scan.js';
import type { Skill } from './skill.js';

/** What is to be read of a skill. */
export interface SkillTextRequest {
  readonly name: string;
  /** A file of the skill, by its path from the skill's folder. @defaultValue its SKILL.md, without frontmatter */
  readonly file?: string | undefined;
  /** Where to begin, in characters. @defaultValue `0` */
  readonly offset?: number | undefined;
  /** How much to read, in characters. @defaultValue `20000`, about the 5,000 tokens that the standard recommends as the most */
  readonly maxChars?: number | undefined;
  /** Who asks: skills can be closed to the model or to people. @defaultValue `'model'` */
  readonly by?: 'model' | 'user' | undefined;
}

/** A text of a skill, or a piece of it. */
export interface SkillText {
  readonly skill: Skill;
  readonly text: string;
  /** Where the piece begins and ends in the whole text. */
  readonly offset: number;
  readonly end: number;
  /** Length of the whole text. */
  readonly total: number;
  /** Other files that belong to the skill, by their paths from its folder; some of them, where there are many. */
  readonly files: readonly string[];
  readonly problems: readonly SkillProblem[];
}

/** What reading needs to know. */
export interface ReadSettings {
  readonly scan: SkillScan | undefined;
  readonly home: string;
  readonly platform: string;
  readonly maxBytes: number;
}

/** How many files of a skill are named. */
const maxFiles = 30;

/** How deep they may lie. */
const maxDepth = 3;

/** The text of a skill, or of a file that belongs to it. */
export const readSkillFile = async (
  list: SkillList,
  request: SkillTextRequest,
  settings: ReadSettings,
): Promise<SkillText> => {
  const { name, file, offset = 0, maxChars = 20_000, by = 'model' } = request;
  const open = list.skills.filter((skill) => (by === 'model' ? skill.forModel : skill.forUser));
  const skill = open.find((known) => known.name === name);
  if (!skill) throw unknownSkill(name, open);
  const path = file === undefined ? skill.file : await fileOf(skill, file);
  const root = file === undefined ? dirname(skill.file) : skill.folder;
  const { text, problem } = await scanSkill(await contentOf(path, root, settings.maxBytes), path, settings.scan);
  if (text === undefined) {
    throw new TurnError('unreadable-skill', `The skill ${name} cannot be read: ${problem?.message ?? ''}`);
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
  return new TurnError('unknown-skill', `There is no skill called ${JSON.stringify(name.slice(0, 80))}.${hint}`);
};

const contentOf = async (path: string, root: string, maxBytes: number): Promise<string> => {
  try {
    return (await readText(path, root, maxBytes)).text;
  } catch (error) {
    throw new TurnError('unreadable-skill', `The file cannot be read. ${toErrorInfo(error).message}`, { cause: error });
  }
};

/** The place of a file that belongs to a skill; nothing outside of its folder does, by whatever way. */
const fileOf = async (skill: Skill, file: string): Promise<string> => {
  const refuse = (why: string): never => {
    throw new TurnError(
      'unknown-skill-file',
      `The skill ${skill.name} has no file ${JSON.stringify(file.slice(0, 200))}: ${why}`,
    );
  };
  if (file.includes('\0') || isAbsolute(file)) refuse('give its path from the folder of the skill.');
  const target = await realpath(resolve(skill.folder, file)).catch(() => refuse('nothing is there.'));
  const way = relative(skill.folder, target);
  if (way === '..' || way.startsWith(`..${sep}`) || isAbsolute(way)) {
    refuse('it lies outside of the folder of the skill.');
  }
  return target;
};

/** Where a piece ends: after a line where one ends near, and never inside a character. */
const endOf = (text: string, begin: number, maxChars: number): number => {
  const limit = begin + maxChars;
  if (limit >= text.length) return text.length;
  const lineEnd = text.lastIndexOf('\n', limit);
  if (lineEnd > begin + maxChars * 0.8) return lineEnd;
  const code = text.charCodeAt(limit - 1);
  return code >= 0xd800 && code <= 0xdbff && limit - 1 > begin ? limit - 1 : limit;
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
