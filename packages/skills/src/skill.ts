import { parseFrontmatter } from './frontmatter.js';
import type { SkillProblem } from './problem.js';
import { isForPlatform, platformNames } from './platform.js';
import { oneLine } from './text.js';

/** A skill that was found. */
export interface Skill {
  /** Up to 64 lower-case letters, digits and single hyphens. */
  readonly name: string;
  /** When to use the skill, on one line. */
  readonly description: string;
  /** Canonical path of the folder. */
  readonly folder: string;
  /** Canonical path of SKILL.md. */
  readonly file: string;
  /** Whether the skill comes from a trusted folder. */
  readonly trusted: boolean;
  /** Supported platforms (`darwin`, `linux`, `win32` …); all if absent. */
  readonly platforms?: readonly string[] | undefined;
  /** Whether the model can load the skill. */
  readonly forModel: boolean;
  /** Whether a user can call the skill by name. */
  readonly forUser: boolean;
  /** Environment variables that the skill declares for its commands, unchecked. */
  readonly env: Readonly<Record<string, string>>;
}

/** Result of reading a SKILL.md. */
export interface ReadSkill {
  readonly skill?: Skill | undefined;
  readonly problems: readonly SkillProblem[];
}

/** Location of a SKILL.md. */
export interface SkillPlace {
  readonly folder: string;
  readonly file: string;
  /** Name of the folder before links are resolved. */
  readonly folderName: string;
  readonly trusted: boolean;
}

/** The longest description that the standard allows. */
const maxDescription = 1024;

const namePattern = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;

const isSkillName = (name: string): boolean => name.length <= 64 && namePattern.test(name);

/**
 * Parses a SKILL.md.
 *
 * Rejects a file without frontmatter or description. Replaces a name that violates the standard with the name of the
 * folder. Ignores unknown keys.
 */
export const readSkill = (text: string, place: SkillPlace): ReadSkill => {
  const { file: path } = place;
  const refuse = (code: string, message: string): ReadSkill => ({ problems: [{ code, message, path }] });
  const parsed = parseFrontmatter(text);
  if (!parsed) {
    return refuse(
      /^\uFEFF?---/.test(text) ? 'invalid-frontmatter' : 'no-frontmatter',
      'The frontmatter is missing or cannot be read.',
    );
  }
  const { fields } = parsed;
  const problems: SkillProblem[] = [];
  if (parsed.isRepaired) {
    problems.push({ code: 'repaired', message: 'The frontmatter is invalid YAML and was parsed line by line.', path });
  }

  const description = oneLine(textField(fields, 'description') ?? '')
    .slice(0, maxDescription)
    .toWellFormed();
  if (description === '') {
    return refuse('no-description', 'The description is missing. Describe when to use the skill.');
  }
  const name = nameOf(textField(fields, 'name'), place, problems);
  if (name === undefined) {
    return refuse(
      'invalid-name',
      'Neither the name nor the folder name consists of lower-case letters, digits and hyphens.',
    );
  }
  const platforms = platformsOf(fields);
  const skill: Skill = {
    name,
    description,
    folder: place.folder,
    file: place.file,
    trusted: place.trusted,
    ...(platforms && { platforms }),
    forModel: !flag(fields.get('disable-model-invocation'), false),
    forUser: flag(fields.get('user-invocable'), true),
    env: envOf(fields),
  };
  return { skill, problems };
};

/** Whether a skill works on this platform. */
export const worksOn = ({ platforms }: Skill, platform: string): boolean =>
  platforms === undefined || isForPlatform(platforms, platform);

const nameOf = (
  given: string | undefined,
  { folderName, file: path }: SkillPlace,
  problems: SkillProblem[],
): string | undefined => {
  const name = given?.trim() ?? folderName;
  if (!isSkillName(name)) {
    if (!isSkillName(folderName)) return undefined;
    problems.push({
      code: 'name-mismatch',
      message: `The name ${JSON.stringify(name.slice(0, 80))} is invalid; the folder name is used.`,
      path,
    });
    return folderName;
  }
  if (name !== folderName) {
    problems.push({
      code: 'name-mismatch',
      message: `The name ${name} differs from the folder name ${folderName}.`,
      path,
    });
  }
  return name;
};

const textField = (fields: ReadonlyMap<string, unknown>, key: string): string | undefined => {
  const value = fields.get(key);
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  return typeof value === 'string' ? value : undefined;
};

const flag = (value: unknown, otherwise: boolean): boolean => {
  if (typeof value === 'boolean') return value;
  if (typeof value !== 'string') return otherwise;
  const word = value.trim().toLowerCase();
  return word === 'true' || word === 'yes' ? true : word === 'false' || word === 'no' ? false : otherwise;
};

const platformsOf = (fields: ReadonlyMap<string, unknown>): readonly string[] | undefined => {
  const value = fields.get('platforms') ?? fields.get('os');
  const list =
    typeof value === 'string'
      ? value.replaceAll(/[[\]"']/g, '').split(',')
      : Array.isArray(value)
        ? (value as readonly unknown[])
        : undefined;
  return list && platformNames(list.filter((item): item is string => typeof item === 'string'));
};

const envOf = (fields: ReadonlyMap<string, unknown>): Readonly<Record<string, string>> => {
  const value = fields.get('env') ?? fields.get('envVars');
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return {};
  return Object.fromEntries(
    Object.entries(value).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );
};
