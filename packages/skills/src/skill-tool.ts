import type { JSONObject } from '@h/turn';
import { checkOptions, integerFrom, type OptionCheck } from '@h/options';
import { formatSkillList, formatSkillText } from './format-skill.js';
import type { SkillLibrary } from './library.js';

/** Options of {@link skillTool}. */
export interface SkillToolOptions {
  /**
   * Name of the tool. `@h/compaction` keeps the results of the tool `skill`; add another name to its `protectedTools`.
   *
   * @defaultValue `'skill'`
   */
  readonly name?: string | undefined;
  /**
   * Maximum number of characters per call.
   *
   * @defaultValue `20000`, about 5,000 tokens, the maximum that the standard recommends
   */
  readonly maxChars?: number | undefined;
}

/** A tool definition for `defineTool` of `@h/tools`. */
export interface SkillTool {
  readonly name: string;
  readonly description: string;
  readonly input: JSONObject;
  readonly effect: 'read-only';
  readonly idempotent: true;
  readonly resources: (input: JSONObject) => readonly string[];
  readonly run: (input: JSONObject) => Promise<string>;
}

/** Default name of the tool. */
const skillToolName = 'skill';

const aToolName: OptionCheck = {
  expected: '1 to 64 letters, digits, "_" and "-"',
  accepts: (value) => typeof value === 'string' && /^[a-zA-Z0-9_-]{1,64}$/.test(value),
};

/**
 * Creates a tool that loads a skill by name.
 *
 * The tool reads only files in the folders of the library, so that skills outside the workspace need no other
 * permission and a sandbox needs no host folder. Skills that are hidden from the model do not exist for the tool.
 *
 * @throws InvalidOptionError if an option is unknown or has a wrong value
 *
 * @example
 * ```ts
 * const registry = createRegistry().register(defineTool(skillTool(library)));
 * ```
 */
export const skillTool = (library: SkillLibrary, options: SkillToolOptions = {}): SkillTool => {
  checkOptions('skillTool()', options, { name: aToolName, maxChars: integerFrom(500) });
  const { name = skillToolName, maxChars = 20_000 } = options;
  return {
    name,
    description:
      'Reads the instructions of a skill by name. Read them before you start a task that the skill covers, and follow them. Without a name, lists all skills with their descriptions.',
    input: {
      type: 'object',
      properties: {
        name: { type: 'string', description: 'Name of the skill, as in the index.' },
        file: {
          type: 'string',
          description: 'Path of a file of the skill, relative to its folder.',
        },
        offset: {
          type: 'integer',
          minimum: 0,
          description: 'First character of the text, or first entry of the list, to read.',
        },
      },
      additionalProperties: false,
    },
    effect: 'read-only',
    idempotent: true,
    resources: ({ name: skill }) => [typeof skill === 'string' ? `skill:${skill}` : 'skill:'],
    run: async ({ name: skill, file, offset }) => {
      const begin = typeof offset === 'number' ? offset : 0;
      if (typeof skill !== 'string' || skill === '') return formatSkillList(await library.list(), begin, maxChars);
      const path = typeof file === 'string' && file !== '' ? file : undefined;
      return formatSkillText(await library.read({ name: skill, file: path, offset: begin, maxChars }), path, library);
    },
  };
};
