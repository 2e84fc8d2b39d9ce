import type { ReadStream } from 'node:tty';
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
  const status = await plan.project.status();
  const goal = prompt ?? status.goal;
  if (goal === '') {
    throw new UsageError('--plan: say what is to be done; there is no plan in this folder to go on with.');
  }
  if (prompt !== undefined && status.next.kind !== 'plan') {
    throw new UsageError(
      `--plan: there is a plan in this folder already (${status.text}) Go on with it without a prompt, or remove agent-progress.json first.`,
    );
  }
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
