import { parseFrontmatter } from './frontmatter.js';
import type { SkillProblem } from './problem.js';
import { isForPlatform, platformNames } from './platform.js';
import { oneLine } from './text.js';

/** A skill that was found. */
export interface Skill {
  /** Up to 64 small letters, digits and single hyphens. */
  readonly name: string;
  /** When it is of use, on one line. */
  readonly description: string;
  /** Its folder. */
  readonly folder: string;
  /** Its SKILL.md. */
  readonly file: string;
  /** Whether it comes from a folder that the user vouches for. */
  readonly trusted: boolean;
  /** Where it works (`darwin`, `linux`, `win32` …); everywhere when absent. */
  readonly platforms?: readonly string[] | undefined;
  /** Whether the model may load it by itself. */
  readonly forModel: boolean;
  /** Whether a person may call it by name. */
  readonly forUser: boolean;
  /** Variables that it wants to have in the environment of commands, as it wrote them. */
  readonly env: Readonly<Record<string, string>>;
}

/** What became of a SKILL.md. */
export interface ReadSkill {
  readonly skill?: Skill | undefined;
  readonly problems: readonly SkillProblem[];
}

/** Where a SKILL.md lies. */
export interface SkillPlace {
  readonly folder: string;
  readonly file: string;
  /** Name of its folder, as people see it. */
  readonly folderName: string;
  readonly trusted: boolean;
}

/** The longest description that the standard allows. */
const maxDescription = 1024;

const namePattern = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;

export const isSkillName = (name: string): boolean => name.length <= 64 && namePattern.test(name);

/**
 * Reads what a SKILL.md says about itself.
 *
 * Without frontmatter or description it is no skill. A name that the standard does not allow gives way to the name of the
 * folder. Keys that are not known are somebody else's and are ignored.
 */
export const readSkill = (text: string, place: SkillPlace): ReadSkill => {
  const { file: path } = place;
  const refuse = (code: string, message: string): ReadSkill => ({ problems: [{ code, message, path }] });
  const parsed = parseFrontmatter(text);
  if (!parsed) {
    return refuse(
      /^\uFEFF?---/.test(text) ? 'invalid-frontmatter' : 'no-frontmatter',
      'It has no frontmatter that can be read.',
    );
  }
  const { fields } = parsed;
  const problems: SkillProblem[] = [];
  if (parsed.isMended) {
    problems.push({ code: 'mended', message: 'Its frontmatter is no proper YAML; it was read line by line.', path });
  }

  const description = oneLine(textField(fields, 'description') ?? '')
    .slice(0, maxDescription)
    .toWellFormed();
  if (description === '') return refuse('no-description', 'It does not say when it is of use.');
  const name = nameOf(textField(fields, 'name'), place, problems);
  if (name === undefined) {
    return refuse(
      'invalid-name',
      'Neither its name nor that of its folder is one of small letters, digits and hyphens.',
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
      message: `Its name ${JSON.stringify(name.slice(0, 80))} is not allowed; it goes by that of its folder.`,
      path,
    });
    return folderName;
  }
  if (name !== folderName) {
    problems.push({ code: 'name-mismatch', message: `It is called ${name}, its folder is not.`, path });
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
