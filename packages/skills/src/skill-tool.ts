import type { JSONObject } from '@h/turn';
import { checkOptions, integerFrom, type OptionCheck } from '@h/options';
import { formatSkillList, formatSkillText } from './format-skill.js';
import type { SkillLibrary } from './library.js';

/** Options of {@link skillTool}. */
export interface SkillToolOptions {
  /**
   * Name of the tool. `@h/compaction` protects the results of a tool that is called `skill`; tell it of another name by its
   * option `protectedTools`.
   *
   * @defaultValue `'skill'`
   */
  readonly name?: string | undefined;
  /**
   * How much of a file one call reads, in characters.
   *
   * @defaultValue `20000`, about the 5,000 tokens that the standard recommends as the most
   */
  readonly maxChars?: number | undefined;
}

/** A tool in the shape that `defineTool` of `@h/tools` takes. */
export interface SkillTool {
  readonly name: string;
  readonly description: string;
  readonly input: JSONObject;
  readonly effect: 'read-only';
  readonly idempotent: true;
  readonly resources: (input: JSONObject) => readonly string[];
  readonly run: (input: JSONObject) => Promise<string>;
}

/** The tool's name unless it is given another; compaction keeps the results of tools that are called so. */
export const skillToolName = 'skill';

const aToolName: OptionCheck = {
  expected: '1 to 64 letters, digits, "_" and "-"',
  accepts: (value) => typeof value === 'string' && /^[a-zA-Z0-9_-]{1,64}$/.test(value),
};

/**
 * A tool that loads a skill by its name.
 *
 * It reads what lies in the folders of the library and nothing else, so that skills outside of the workspace need no
 * further rights, and a sandbox no folder of its host. A skill that is closed to the model is unknown to it.
 *
 * @throws InvalidOptionError `invalid-option`
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
      'Reads the instructions of a skill by its name. Read them before you begin a task of its kind, and follow them. Without a name it lists all skills with their descriptions.',
    input: {
      type: 'object',
      properties: {
        name: { type: 'string', description: 'Name of the skill, as the index has it.' },
        file: {
          type: 'string',
          description: 'A file that belongs to the skill, by its path from the folder of the skill.',
        },
        offset: { type: 'integer', minimum: 0, description: 'Where to go on reading a long text or list.' },
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
