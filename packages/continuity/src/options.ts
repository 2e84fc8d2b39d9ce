import type { MaybePromise, TurnOutcome } from '@h/turn';
import {
  anyFunction,
  nonEmptyString,
  arrayOf,
  objectOf,
  oneOf,
  required,
  integerFrom,
  type OptionCheck,
} from '@h/options';
import type { CheckRunner } from '@h/process';
import { aProject, checkOptions } from './own-options.js';
import { ContinuityError } from './errors.js';
import { stateFolderName } from './files/state-folder.js';
import { notesFileName } from './notes.js';
import { progressFileName } from './progress/schema.js';
import type { Project } from './project.js';
import { rulesFileName } from './rules.js';
import { initializerRole, workerRole, type Role } from './roles.js';

/** A commit that ends a session. */
export interface SessionCommit {
  readonly session: string;
  readonly turn: string;
  /** Begins with `WIP: ` while the task is not done, so that the test gate of `@h/hooks` lets it pass on an agent's branch. */
  readonly message: string;
  readonly isWorkInProgress: boolean;
  readonly signal: AbortSignal;
}

/** Something that went wrong in a session, as far as the harness can tell. */
export interface SessionFailure {
  readonly session: string;
  readonly turn: string;
  readonly outcome: TurnOutcome;
  readonly reason: string;
  /** How often `task_done` was refused because the check did not pass. */
  readonly failedChecks: number;
  /** What the last of them said, the end of it. */
  readonly lastCheck?: string | undefined;
}

/** Options of {@link continuity}. */
export interface ContinuityOptions {
  readonly project: Project;
  /**
   * Which part the agent plays.
   *
   * @defaultValue `'auto'`: the initializer until the first session is complete, the worker after that
   */
  readonly role?: 'auto' | 'initializer' | 'worker' | undefined;
  /**
   * The parts, with what they are told and may use.
   *
   * @defaultValue `{ initializer: initializerRole, worker: workerRole }`
   */
  readonly roles?: { readonly initializer?: Role | undefined; readonly worker?: Role | undefined } | undefined;
  /**
   * Runs `workspace.sh` before the first model call of a session, and of a turn that is resumed: `localChecks()` of `@h/process`, or a sandbox.
   *
   * @defaultValue none; the worker is told to run it
   */
  readonly run?: CheckRunner | undefined;
  /**
   * How long `workspace.sh` may take, in milliseconds.
   *
   * @defaultValue `120_000`
   */
  readonly scriptTimeoutMs?: number | undefined;
  /**
   * How much of the notes is sent with a request, in bytes from their end.
   *
   * @defaultValue `5_000`, some fifty lines
   */
  readonly notesBytes?: number | undefined;
  /**
   * Files and folders, from the project's, that no tool may change that names them, besides the progress file and the notes. Rules land in
   * `AGENTS.md` when a person has reviewed them.
   *
   * @defaultValue `['AGENTS.md', '.agent-output']`
   */
  readonly protect?: readonly string[] | undefined;
  /**
   * Commits what a session leaves behind, and gives back the commit's name, or nothing where there was nothing to commit. `closeGraceMs`
   * of `harness()` has to be longer than it takes.
   *
   * @defaultValue none; the operator of `@h/git` can do it, placed after this one
   */
  readonly commit?: ((commit: SessionCommit) => MaybePromise<string | undefined>) | undefined;
  /**
   * Drafts a rule from a failure, for a person to review: `draftRuleWith` has a model do it.
   *
   * @defaultValue none; the model may propose rules itself
   */
  readonly draftRule?:
    | ((failure: SessionFailure, context: { readonly signal: AbortSignal }) => MaybePromise<string | undefined>)
    | undefined;
}

/** Options with their defaults. */
export interface ContinuitySettings extends Pick<ContinuityOptions, 'run' | 'commit' | 'draftRule'> {
  readonly project: Project;
  readonly role: 'auto' | 'initializer' | 'worker';
  readonly initializer: Role;
  readonly worker: Role;
  readonly scriptTimeoutMs: number;
  readonly notesBytes: number;
  readonly protect: readonly string[];
}

const isTools = (value: unknown): boolean => {
  const { allow, deny } = (value ?? {}) as { readonly allow?: unknown; readonly deny?: unknown };
  const isList = (list: unknown): boolean => Array.isArray(list) && list.every((name) => typeof name === 'string');
  return (allow === null || isList(allow)) && isList(deny);
};
const aRole: OptionCheck = {
  accepts: (value) => {
    const { name, instructions, tools } = (value ?? {}) as Partial<Role>;
    return typeof name === 'string' && typeof instructions === 'string' && isTools(tools);
  },
  expected: 'a role: { name, instructions, tools: { allow, deny } }',
};

/** The options, checked and completed. @throws ContinuityError `invalid-option` */
export const settingsOf = (options: ContinuityOptions): ContinuitySettings => {
  checkOptions('continuity()', options, {
    project: required(aProject),
    role: oneOf('auto', 'initializer', 'worker'),
    roles: objectOf({ initializer: aRole, worker: aRole }),
    run: anyFunction,
    scriptTimeoutMs: integerFrom(1),
    notesBytes: integerFrom(0),
    protect: arrayOf(nonEmptyString),
    commit: anyFunction,
    draftRule: anyFunction,
  });
  const {
    project,
    role = 'auto',
    roles,
    run,
    scriptTimeoutMs = 120_000,
    notesBytes = 5_000,
    protect = [rulesFileName, stateFolderName],
    commit,
    draftRule,
  } = options;
  const [initializer, worker] = [roles?.initializer ?? initializerRole, roles?.worker ?? workerRole];
  if (initializer.name === worker.name) {
    throw new ContinuityError('invalid-option', `The roles of continuity() need two names; both are "${worker.name}".`);
  }
  return {
    project,
    role,
    initializer,
    worker,
    run,
    scriptTimeoutMs,
    notesBytes,
    protect: [progressFileName, notesFileName, ...protect],
    commit,
    draftRule,
  };
};
