import type { CheckRunner } from '@h/process';
import { temporaryFolder } from '../../../tooling/vitest/temporary-folder.js';
import type { PlannedTask, Project } from '../src/index.js';
import { beginWork, emptyProgress, openProject, planTasks } from '../src/index.js';

export const planned = (...ids: readonly string[]): readonly PlannedTask[] =>
  ids.map((id) => ({ id, title: `Do ${id}`, acceptance: [`${id} works end to end`] }));

/** A clock that advances only when it is set. */
export const manualClock = (start = Date.UTC(2026, 10, 21)) => {
  let at = start;
  return {
    clock: (): number => at,
    pass: (ms: number): void => {
      at += ms;
    },
  };
};

/** A project with these tasks whose first session has ended. */
export const projectWith = async (
  tasks: readonly PlannedTask[],
  options: { readonly folder?: string; readonly clock?: () => number; readonly leaseMs?: number } = {},
): Promise<Project> => {
  const project = openProject({ folder: options.folder ?? temporaryFolder(), ...options });
  await project.progress.initialize(emptyProgress('Build it.'), (progress) => beginWork(planTasks(progress, tasks)));
  return project;
};

/** A check with these exit codes, in order; the last one repeats. */
export const scriptedCheck = (...exitCodes: readonly number[]) => {
  const ran: string[] = [];
  const run: CheckRunner = async ({ command }) => {
    ran.push(command);
    const exitCode = exitCodes[Math.min(ran.length, exitCodes.length) - 1] ?? 0;
    return { exitCode, output: exitCode === 0 ? 'all good' : 'expected 1 to be 2' };
  };
  return { run, ran };
};
