import type { SchedulerLike } from 'rxjs';
import {
  anyFunction,
  anyObject,
  nonEmptyString,
  checkOptions,
  arrayOf,
  objectOf,
  objectWithMethods,
  oneOf,
  required,
} from '@h/options';
import type { HookFileScope } from './definitions.js';
import type { ToolName } from './tool-names.js';
import type { HookTrust } from './trust.js';

/** A settings file with hooks. */
export interface HookFile {
  readonly path: string;
  /** `user`: belongs to the user. `project`: belongs to the project and is trusted by content. */
  readonly scope: HookFileScope;
}

/** Options of {@link commandHooks}. */
export interface CommandHooksOptions {
  /** The root of the project: where commands run, and what they find in `CLAUDE_PROJECT_DIR`. */
  readonly projectDir: string;
  /**
   * The files to read; those that do not exist are left out.
   *
   * @defaultValue `~/.claude/settings.json` of the user, `.claude/settings.json` and `.claude/settings.local.json` of
   * the project
   */
  readonly files?: readonly HookFile[] | undefined;
  /** Decides whether a command of the project may run. Without it none does. */
  readonly trust?: HookTrust | undefined;
  /**
   * How tools are called in hook files.
   *
   * @defaultValue `standardToolNames`; what is given here is added to it
   */
  readonly toolNames?: Readonly<Record<string, ToolName>> | undefined;
  /**
   * The environment of the commands, before secrets are taken out of it.
   *
   * @defaultValue `process.env`
   */
  readonly env?: NodeJS.ProcessEnv | undefined;
  /** Variables that commands get although their names look like secrets. */
  readonly keepEnv?: readonly string[] | undefined;
  /** Where the transcript of a session can be read, for scripts that do. */
  readonly transcriptPath?: ((session: string) => string) | undefined;
  /**
   * What scripts read as `permission_mode`.
   *
   * @defaultValue `'default'`
   */
  readonly permissionMode?: string | undefined;
  /**
   * The clock of the timeouts.
   *
   * @defaultValue `asyncScheduler`
   */
  readonly scheduler?: SchedulerLike | undefined;
}

const checks = {
  projectDir: required(nonEmptyString),
  files: arrayOf(objectOf({ path: nonEmptyString, scope: oneOf('user', 'project') })),
  trust: anyFunction,
  toolNames: anyObject,
  env: anyObject,
  keepEnv: arrayOf(nonEmptyString),
  transcriptPath: anyFunction,
  permissionMode: nonEmptyString,
  scheduler: objectWithMethods('schedule', 'now'),
};

/** Refuses options that do not exist, and values that they do not take. @throws InvalidOptionError `invalid-option` */
export const checkCommandHooksOptions = (options: CommandHooksOptions): void =>
  checkOptions('commandHooks()', options, checks);
