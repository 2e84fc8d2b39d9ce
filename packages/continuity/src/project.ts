import { resolve } from 'node:path';
import { anyFunction, nonEmptyString, required, integerFrom } from '@h/options';
import { systemClock, type Clock } from './clock.js';
import { thisProcess, type ProcessMark } from './files/process.js';
import { createStateFolder, type StateFolder } from './files/state-folder.js';
import { createNotesStore, type NotesStore } from './notes.js';
import { checkOptions } from './own-options.js';
import { createProgressStore, type ProgressStore } from './progress/progress-store.js';
import { createRuleRatchet, type RuleRatchet } from './rules.js';
import { statusOf, type ProjectStatus } from './status.js';
import { createWorkspaceScript, type WorkspaceScript } from './workspace-script.js';

/** Options of {@link openProject}. */
export interface ProjectOptions {
  /** The folder that the agent works in. */
  readonly folder: string;
  /**
   * How long a claim holds without a sign of life, in milliseconds. The operator gives one three times as often, however long a tool runs.
   *
   * @defaultValue `300_000`, so that the task of a process that died is taken up after five minutes
   */
  readonly leaseMs?: number | undefined;
  /**
   * How long to wait for another process that writes, in milliseconds.
   *
   * @defaultValue `10_000`; a write takes a few milliseconds
   */
  readonly lockTimeoutMs?: number | undefined;
  /**
   * Tells the time, for leases.
   *
   * @defaultValue `Date.now`
   */
  readonly clock?: Clock | undefined;
}

/** What a project remembers from session to session, in files that people can read. */
export interface Project {
  readonly folder: string;
  readonly leaseMs: number;
  readonly clock: Clock;
  /** Stands for this process on claims: when it dies, other processes of this machine take its tasks up at once. */
  readonly process: ProcessMark;
  /** `agent-progress.json` */
  readonly progress: ProgressStore;
  /** `agent-notes.md` */
  readonly notes: NotesStore;
  /** `workspace.sh` */
  readonly script: WorkspaceScript;
  /** `AGENTS.md`, and the rules that are proposed for it. */
  readonly rules: RuleRatchet;
  /** `.agent-output/`, which git ignores. */
  readonly state: StateFolder;
  /** Reads how far the work is, and what can be done now. */
  status(): Promise<ProjectStatus>;
}

/**
 * Opens the state of a project. Nothing is read or written yet. Several processes may have it open.
 *
 * @throws ContinuityError `invalid-option`
 *
 * @example
 * ```ts
 * const project = openProject({ folder: '/work' });
 * const { next, text } = await project.status();
 * if (next.kind === 'stop') console.log(next.reason, text);
 * ```
 */
export const openProject = (options: ProjectOptions): Project => {
  checkOptions('openProject()', options, {
    folder: required(nonEmptyString),
    leaseMs: integerFrom(1_000),
    lockTimeoutMs: integerFrom(1),
    clock: anyFunction,
  });
  const { leaseMs = 300_000, lockTimeoutMs = 10_000, clock = systemClock } = options;
  const folder = resolve(options.folder);
  const state = createStateFolder({ project: folder, lockTimeoutMs });
  const progress = createProgressStore(folder, state);
  return {
    folder,
    leaseMs,
    clock,
    process: thisProcess(),
    progress,
    notes: createNotesStore(folder, state),
    script: createWorkspaceScript(folder, state),
    rules: createRuleRatchet(folder, state, clock),
    state,
    status: () => statusOf(progress, clock),
  };
};
