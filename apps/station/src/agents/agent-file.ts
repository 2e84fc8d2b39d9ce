import { readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { ConfigError, parseFrontmatter, type ConfigFile } from '@h/config';
import * as z from 'zod';
import { readText } from '../config/load-config.js';
import { bashPermissions, entityName, modelName, sandboxSchema } from '../config/schema.js';
import { duration } from '../config/units.js';

/** The tools that an agent file can list. */
export const toolNames = [
  'read',
  'write',
  'edit',
  'multi_edit',
  'bash',
  'glob',
  'grep',
  'git_status',
  'git_diff',
  'git_log',
  'git_push',
] as const;
export type ToolName = (typeof toolNames)[number];

/** Tools of an agent file that lists none: reading only. */
const readOnlyTools = ['read', 'glob', 'grep'] as const satisfies readonly ToolName[];

const policy = z.strictObject({
  approvals: z
    .enum(['on-risk', 'always', 'never'])
    .exactOptional()
    .describe('Which tool calls need an approval; stricter than or equal to `approvals.mode` of config.yaml.'),
  ask: z.array(z.enum(toolNames)).default([]).describe('Tools whose calls always need an approval.'),
  external_directory: z.literal('deny').exactOptional().describe('Confines file tools to the workspace.'),
  bash: bashPermissions.exactOptional().describe('Commands of this agent, besides `harness.permissions.bash`.'),
  max_cost: z.number().positive().exactOptional().describe('US dollars of a turn.'),
  max_tokens: z.int().min(1).exactOptional().describe('Tokens of a turn.'),
});

/** The frontmatter of an agent file. */
export const agentSchema = z.strictObject({
  description: z
    .string()
    .min(1)
    .max(500)
    .default('')
    .describe('What the agent is for, on the page and for other agents.'),
  model: modelName.exactOptional().describe('Without it, `models.default`.'),
  fallback: z.array(modelName).exactOptional().describe('Without it, `models.fallback`.'),
  harness: z.literal('agentic').exactOptional().describe('Accepted for compatibility; it has no other value.'),
  harness_config: z
    .strictObject({
      max_steps: z.int().min(1).exactOptional().describe('Model calls of a turn.'),
      doom_loop_threshold: z.int().min(2).exactOptional().describe('Identical calls in a row that count as a loop.'),
      timeout: duration.exactOptional().describe('Longest time of a turn.'),
      sandbox: sandboxSchema.exactOptional().describe('Where commands run.'),
    })
    .prefault({}),
  tools: z
    .array(z.enum(toolNames))
    .default([...readOnlyTools])
    .describe('Tools of the agent.'),
  subagents: z.array(entityName).default([]).describe('Agents that this one can delegate tasks to.'),
  policy: policy.prefault({}),
});

/** An agent file. */
export interface AgentFile {
  readonly name: string;
  readonly settings: z.output<typeof agentSchema>;
  /** The system prompt. */
  readonly prompt: string;
  readonly source: ConfigFile;
}

/**
 * Parses an agent file. The name of the agent is the name of the file.
 *
 * @throws ConfigError
 */
export const parseAgentFile = (text: string, file: string): AgentFile => {
  const { config: source, body } = parseFrontmatter(text, file);
  const name = basename(file).replace(/\.(?:prompt|md)+$/, '');
  const fail = (message: string): never => {
    throw new ConfigError([source.problem([], message)]);
  };
  if (!entityName.safeParse(name).success) {
    fail(`the name of the file must have lower-case letters, digits, "-" and "_", such as reviewer.md.`);
  }
  if (body === '') fail('the file has no instructions. Write them below the frontmatter.');
  return { name, settings: source.check(agentSchema), prompt: body, source };
};

/**
 * Reads the agent files of a folder: `*.md`.
 *
 * @throws ConfigError with the problems of all files
 */
export const readAgentFiles = (folder: string): readonly AgentFile[] => {
  const problems: ConfigError[] = [];
  const files = filesIn(folder, /\.md$/).flatMap((file) => {
    try {
      return [parseAgentFile(readText(file), file)];
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      problems.push(error);
      return [];
    }
  });
  const byName = new Map(files.map((one) => [one.name, one]));
  for (const { settings, source } of files) {
    for (const [index, name] of settings.subagents.entries()) {
      if (byName.has(name)) continue;
      const known = [...byName.keys()].join(', ');
      problems.push(
        new ConfigError([
          source.problem(['subagents', index], `the agent "${name}" does not exist. Known agents: ${known}.`),
        ]),
      );
    }
  }
  if (problems.length > 0) throw new ConfigError(problems.flatMap(({ problems: found }) => found));
  return files;
};

/** The files of a folder whose names match, sorted; none if the folder does not exist. */
export const filesIn = (folder: string, pattern: RegExp): readonly string[] => {
  try {
    return readdirSync(folder)
      .filter((name) => pattern.test(name))
      .toSorted()
      .map((name) => join(folder, name));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
};
