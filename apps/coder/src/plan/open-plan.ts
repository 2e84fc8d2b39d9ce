import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { continuity, continuityTools, draftRuleWith, openProject, type Project, type Summarizer } from '@h/continuity';
import { handOff, type HandOff, type HandOffOptions } from '@h/continuity/hand-off';
import { defineTool, type Tool } from '@h/tools';
import type { TurnOperator } from '@h/turn';
import type { CommitSummary } from '@h/git';
import type { Sandbox } from '@h/sandbox';
import { UsageError } from '../usage-error.js';
import type { Questioner } from '../view/questions.js';
import { judgedScript } from './judged-script.js';
import { sandboxChecks } from './sandbox-checks.js';

/** A project over many sessions, with its tools and operators. */
export interface Plan {
  readonly project: Project;
  readonly tools: readonly Tool[];
  continuity(means: { readonly summarize: Summarizer }): readonly TurnOperator[];
  /** Writes the commit message of a session. */
  readonly commitMessage: (summary: CommitSummary) => string;
  /** The last strategy of compaction. */
  readonly handOff: HandOff;
}

/** Options of {@link openPlan}. */
export interface PlanParts {
  /** The folder to work in, as an absolute path. */
  readonly workspace: string;
  /** The command that must pass before a task counts as done; defaults to `npm test` if the project has it. */
  readonly check: string | undefined;
  readonly sandbox: Sandbox;
  /** Present if a terminal is attached. */
  readonly questions: Questioner | undefined;
  /** Facts for a fresh context besides the plan. */
  readonly facts: HandOffOptions['facts'];
}

/**
 * Opens the plan of a folder.
 *
 * @throws UsageError without a check command
 */
export const openPlan = async ({ workspace, check, sandbox, questions, facts }: PlanParts): Promise<Plan> => {
  const command = check ?? (await testCommandOf(workspace));
  if (command === undefined) {
    throw new UsageError(
      '--plan requires a check, and package.json has no test script. Pass the command that checks a task with --check.',
    );
  }
  const project = openProject({ folder: workspace });
  const run = sandboxChecks(sandbox);
  const runScript = judgedScript(run, { path: project.script.path, questions });
  // continuity() reports the message before git() commits.
  let message = '';
  const commit = ({ message: known }: { readonly message: string }): undefined => void (message = known);
  return {
    project,
    tools: continuityTools({ project, check: { command, run } }).map((tool) => defineTool(tool)),
    continuity: ({ summarize }) => [
      continuity({ project, run: runScript, commit, draftRule: draftRuleWith(summarize) }),
    ],
    commitMessage: ({ files }) => [message, '', ...files.slice(0, 20).map((file) => `- ${file}`)].join('\n'),
    handOff: handOff({ project, facts }),
  };
};

/** `npm test`, if package.json has a test script. */
const testCommandOf = async (workspace: string): Promise<string | undefined> => {
  try {
    const { scripts } = JSON.parse(await readFile(join(workspace, 'package.json'), 'utf8')) as {
      readonly scripts?: { readonly test?: unknown };
    };
    return typeof scripts?.test === 'string' ? 'npm test' : undefined;
  } catch {
    return undefined;
  }
};
