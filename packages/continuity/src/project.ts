import { resolve } from 'node:path';
import { anyFunction, nonEmptyString, required, integerFrom } from '@h/options';
import { systemClock, type Clock } from './clock.js';
import { thisProcess, type AnonymousMark } from './files/process.js';
import { createStateFolder, type StateFolder } from './files/state-folder.js';
import { createNotesStore, type NotesStore } from './notes.js';
import { checkOptions } from './own-options.js';
import { createProgressStore, type ProgressStore } from './progress/progress-store.js';
import { createRuleRatchet, type RuleRatchet } from './rules.js';
import { statusOf, type ProjectStatus } from './status.js';
import { createWorkspaceScript, type WorkspaceScript } from './workspace-script.js';

/** Options of {@link openProject}. */
export interface ProjectOptions {
  /** The working folder of the agent. */
  readonly folder: string;
  /**
   * The lease of a claim, in milliseconds. The operator renews it after each third, also while a tool runs.
   *
   * @defaultValue `300_000`: the task of a process that died is free after five minutes
   */
  readonly leaseMs?: number | undefined;
  /**
   * The time limit for the lock on the state, in milliseconds.
   *
   * @defaultValue `10_000`; a write takes a few milliseconds
   */
  readonly lockTimeoutMs?: number | undefined;
  /**
   * The clock of the leases.
   *
   * @defaultValue `Date.now`
   */
  readonly clock?: Clock | undefined;
}

/** The state of a project, in files that people can read. */
export interface Project {
  readonly folder: string;
  readonly leaseMs: number;
  readonly clock: Clock;
  /** Marks the claims of this process: if it dies, other processes of this machine take over its tasks at once. */
  readonly process: AnonymousMark;
  /** `agent-progress.json` */
  readonly progress: ProgressStore;
  /** `agent-notes.md` */
  readonly notes: NotesStore;
  /** `workspace.sh` */
  readonly script: WorkspaceScript;
  /** `AGENTS.md` and the rules proposed for it. */
  readonly rules: RuleRatchet;
  /** `.agent-output/`, which git ignores. */
  readonly state: StateFolder;
  /** Reads the progress and the next step. */
  status(): Promise<ProjectStatus>;
}

/**
 * Opens the state of a project, without reading or writing yet. Several processes may open the same project.
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
