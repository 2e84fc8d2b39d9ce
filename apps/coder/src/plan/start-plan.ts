import type { ReadStream } from 'node:tty';
import type { ProjectStatus } from '@h/continuity';
import type { Agent } from '@h/turn';
import type { CoderArguments } from '../arguments.js';
import type { Repository } from '../agent/repository.js';
import type { Rules } from '../agent/rules.js';
import type { Display } from '../streams.js';
import { UsageError } from '../usage-error.js';
import type { Plan } from './open-plan.js';
import type { RunBudget } from '../agent/budget.js';
import { openPlanUse } from './plan-use.js';
import { enterPlanBranch } from './plan-branch.js';
import { runPlan } from './run-plan.js';

/** Options of {@link startPlan}. */
export interface PlanStart {
  readonly given: CoderArguments;
  /** The goal; `undefined` continues the plan of the folder. */
  readonly prompt: string | undefined;
  readonly display: Display;
  /** The terminal input. */
  readonly input: ReadStream;
  /** Stores what the plan has used. */
  readonly useFile: string;
}

/**
 * Returns the goal: the prompt, or the goal of the plan in the folder.
 *
 * @throws UsageError if the plan is unreadable, if both a plan and a prompt are present, or neither
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
      `--plan: this folder already has a plan. ${text} Omit the prompt to continue it, or remove agent-progress.json to start a new one.`,
    );
  }
  const chosen = prompt ?? goal;
  if (chosen === '') throw new UsageError('--plan: this folder has no plan to continue. Pass a prompt.');
  return chosen;
};

/**
 * Starts a plan or continues the plan of the folder.
 *
 * @throws UsageError without a plan and a prompt, or if the branch cannot be created
 */
export const startPlan = async (
  {
    agent,
    plan,
    repository,
    rules,
    budget,
  }: {
    readonly agent: Agent;
    readonly plan: Plan;
    readonly repository: Repository | undefined;
    readonly rules: Rules;
    readonly budget: RunBudget;
  },
  { given, prompt, display, input, useFile }: PlanStart,
): Promise<ReturnType<typeof runPlan>> => {
  const goal = goalOf(await plan.project.status(), prompt);
  const use = budget.budget && (await openPlanUse(useFile, prompt, budget.budget));
  const branch =
    repository === undefined ? undefined : await enterPlanBranch(repository.repository, { goal, at: Date.now() });
  display.view.say([
    display.palette.dim(
      branch === undefined ? 'This folder is not a git repository, so nothing is committed.' : `⎇ on branch ${branch}`,
    ),
    ...(use?.before ?? []).map((line) => display.palette.dim(line)),
  ]);
  return runPlan({
    agent,
    plan,
    endSession: (session) => rules.endSession(session),
    use,
    goal,
    maxSessions: given.maxSessions,
    display,
    input,
    branch,
  });
};
