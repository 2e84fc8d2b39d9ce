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
  /**
   * Begins with `WIP: ` while the task is not done; the test gate of `@h/hooks` accepts such commits on an agent's
   * branch.
   */
  readonly message: string;
  readonly isWorkInProgress: boolean;
  readonly signal: AbortSignal;
}

/** A failed session. */
export interface SessionFailure {
  readonly session: string;
  readonly turn: string;
  readonly outcome: TurnOutcome;
  readonly reason: string;
  /** The number of failed checks. */
  readonly failedChecks: number;
  /** The end of the output of the last one. */
  readonly lastCheck?: string | undefined;
}

/** Options of {@link continuity}. */
export interface ContinuityOptions {
  /** The project that the agent works on, from `createProject()`. */
  readonly project: Project;
  /**
   * The role of the agent.
   *
   * @defaultValue `'auto'`: the initializer until the first session is complete, then the worker
   */
  readonly role?: 'auto' | 'initializer' | 'worker' | undefined;
  /**
   * The instructions and tools of the roles.
   *
   * @defaultValue `{ initializer: initializerRole, worker: workerRole }`
   */
  readonly roles?: { readonly initializer?: Role | undefined; readonly worker?: Role | undefined } | undefined;
  /**
   * Runs `workspace.sh` before the first model call of a session, and of a turn that is resumed: `localChecks()` of
   * `@h/process`, or a sandbox.
   *
   * @defaultValue none; the worker's instructions ask for it
   */
  readonly run?: CheckRunner | undefined;
  /**
   * The time limit of `workspace.sh`, in milliseconds.
   *
   * @defaultValue `120_000`, the default of shell commands in `@h/workspace`
   */
  readonly scriptTimeoutMs?: number | undefined;
  /**
   * The number of bytes at the end of the notes that a request contains.
   *
   * @defaultValue `5_000`, about fifty lines
   */
  readonly notesBytes?: number | undefined;
  /**
   * Files and folders, relative to the project, that tools may not change, besides the progress file and the notes.
   * Rules are added to `AGENTS.md` after a person has reviewed them.
   *
   * @defaultValue `['AGENTS.md', '.agent-output']`
   */
  readonly protect?: readonly string[] | undefined;
  /**
   * Commits the work of a session and returns the commit's name, or `undefined` if nothing changed. `closeGraceMs` of
   * `harness()` must be longer than it takes.
   *
   * @defaultValue none; the operator of `@h/git`, placed after this one, can commit
   */
  readonly commit?: ((commit: SessionCommit) => MaybePromise<string | undefined>) | undefined;
  /**
   * Drafts a rule from a failure, for a person to review: `draftRuleWith()` asks a model.
   *
   * @defaultValue none; the model may propose rules itself
   */
  readonly draftRule?:
    | ((failure: SessionFailure, context: { readonly signal: AbortSignal }) => MaybePromise<string | undefined>)
    | undefined;
}

/** The options with their defaults. */
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

/** Checks and completes the options. @throws ContinuityError `invalid-option` */
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
