import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { continuity, continuityTools, draftRuleWith, openProject, type Project, type Summarizer } from '@h/continuity';
import { handOff, type HandOff, type HandOffOptions } from '@h/continuity/hand-off';
import { defineTool, type Tool } from '@h/tools';
import type { TurnOperator } from '@h/turn';
import type { CommitSummary } from '@h/git';
import type { Sandbox } from '@h/sandbox';
import { UsageError } from '../usage-error.js';
import { sandboxChecks } from './sandbox-checks.js';

/** A project that takes many sessions, and what an agent needs to work on it. */
export interface Plan {
  readonly project: Project;
  readonly tools: readonly Tool[];
  continuity(means: { readonly summarize: Summarizer }): readonly TurnOperator[];
  /** What the commit of a session says. */
  readonly commitMessage: (summary: CommitSummary) => string;
  /** The last strategy of compaction. */
  readonly handOff: HandOff;
}

/** What a plan is made of. */
export interface PlanParts {
  /** The folder, as an absolute path. */
  readonly workspace: string;
  /** The command that has to pass before a task counts as done; without one, `npm test` where the project has it. */
  readonly check: string | undefined;
  readonly sandbox: Sandbox;
  /** What a fresh context has to be told besides the plan. */
  readonly facts: HandOffOptions['facts'];
}

/**
 * Opens the plan of a folder.
 *
 * @throws UsageError where there is nothing to check tasks by
 */
export const openPlan = async ({ workspace, check, sandbox, facts }: PlanParts): Promise<Plan> => {
  const command = check ?? (await testCommandOf(workspace));
  if (command === undefined) {
    throw new UsageError(
      '--plan: say with --check which command has to pass before a task counts as done; package.json has no test script.',
    );
  }
  const project = openProject({ folder: workspace });
  const run = sandboxChecks(sandbox);
  // Notes are written before git commits, and what the commit is about is known with them.
  let message = '';
  const commit = ({ message: known }: { readonly message: string }): undefined => void (message = known);
  return {
    project,
    tools: continuityTools({ project, check: { command, run } }).map((tool) => defineTool(tool)),
    continuity: ({ summarize }) => [continuity({ project, run, commit, draftRule: draftRuleWith(summarize) })],
    commitMessage: ({ files }) => [message, '', ...files.slice(0, 20).map((file) => `- ${file}`)].join('\n'),
    handOff: handOff({ project, facts }),
  };
};

/** `npm test`, where it would run anything. */
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
