import type { ReadStream } from 'node:tty';
import type { ProjectStatus } from '@h/continuity';
import type { Agent } from '@h/turn';
import type { CoderArguments } from '../arguments.js';
import type { Repository } from '../repository.js';
import type { Rules } from '../rules.js';
import type { Display } from '../streams.js';
import { UsageError } from '../usage-error.js';
import type { Plan } from './open-plan.js';
import { enterPlanBranch } from './plan-branch.js';
import { runPlan } from './run-plan.js';

/** What a plan is started with. */
export interface PlanStart {
  readonly given: CoderArguments;
  /** What the user wants in the end; `undefined` to go on with the plan that is there. */
  readonly prompt: string | undefined;
  readonly display: Display;
  /** Where the user types, on a terminal. */
  readonly input: ReadStream;
}

/**
 * Returns the goal of the plan: the prompt, or that of the plan in the folder.
 *
 * @throws UsageError if the plan in the folder cannot be read, if there is none and no prompt, or one and a prompt
 */
export const goalOf = (
  { goal, next, text }: Pick<ProjectStatus, 'goal' | 'next' | 'text'>,
  prompt: string | undefined,
): string => {
  if (next.kind === 'stop' && (next.reason === 'damaged' || next.reason === 'newer')) {
    throw new UsageError(`--plan: ${text} Repair agent-progress.json, or remove it to start a new plan.`);
  }
  if (prompt !== undefined && next.kind !== 'plan') {
    throw new UsageError(
      `--plan: this folder has a plan already. ${text} Continue it without a prompt, or remove agent-progress.json to start a new one.`,
    );
  }
  const chosen = prompt ?? goal;
  if (chosen === '') throw new UsageError('--plan: this folder has no plan to continue; give a prompt.');
  return chosen;
};

/**
 * Begins a plan, or goes on with the one of the folder.
 *
 * @throws UsageError where there is neither a plan nor something to plan, or its branch cannot be had
 */
export const startPlan = async (
  {
    agent,
    plan,
    repository,
    rules,
  }: { readonly agent: Agent; readonly plan: Plan; readonly repository: Repository | undefined; readonly rules: Rules },
  { given, prompt, display, input }: PlanStart,
): Promise<ReturnType<typeof runPlan>> => {
  const goal = goalOf(await plan.project.status(), prompt);
  const branch =
    repository === undefined ? undefined : await enterPlanBranch(repository.repository, { goal, at: Date.now() });
  display.view.say([
    display.palette.dim(
      branch === undefined ? 'There is no git repository here, so nothing is committed.' : `⎇ on branch ${branch}`,
    ),
  ]);
  return runPlan({
    agent,
    plan,
    endSession: (session) => rules.endSession(session),
    goal,
    maxSessions: given.maxSessions,
    display,
    input,
    branch,
  });
};
