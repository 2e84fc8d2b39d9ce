import { execFileSync } from 'node:child_process';
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beginWork, emptyProgress, openProject, planTasks, type PlannedTask, type Project } from '@h/continuity';
import { onTestFinished } from 'vitest';

/** Runs git in a folder, without the user's git settings. */
export const gitIn = (folder: string, ...args: readonly string[]): string =>
  execFileSync('git', ['-C', folder, '-c', 'user.name=Test', '-c', 'user.email=test@example.com', ...args], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: process.env['PATH'],
      GIT_CONFIG_GLOBAL: '/dev/null',
      GIT_CONFIG_SYSTEM: '/dev/null',
      HOME: '/nonexistent',
    },
  }).trimEnd();

/** Creates a folder that is deleted after the test. */
export const ownFolder = async (): Promise<string> => {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'h-end-to-end-')));
  onTestFinished(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));
  return folder;
};

/** Creates a repository with a first commit, by default on an agent branch. */
export const ownRepository = async (branch = 'agent/shop'): Promise<string> => {
  const folder = await ownFolder();
  gitIn(folder, 'init', '--quiet', '--initial-branch', branch);
  gitIn(folder, 'commit', '--quiet', '--allow-empty', '-m', 'Begin');
  return folder;
};

export const planned = (...ids: readonly string[]): readonly PlannedTask[] =>
  ids.map((id) => ({ id, title: `Build ${id}`, acceptance: [`${id} works end to end`] }));

/** Creates a project whose first session has ended. */
export const begunProject = async (folder: string, ...ids: readonly string[]): Promise<Project> => {
  const project = openProject({ folder });
  await project.progress.initialize(emptyProgress('A shop'), (progress) =>
    beginWork(planTasks(progress, planned(...ids))),
  );
  return project;
};
