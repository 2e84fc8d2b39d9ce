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
  /** `user`: belongs to the user. `project`: belongs to the project; its commands require trust. */
  readonly scope: HookFileScope;
}

/** Options of {@link commandHooks}. */
export interface CommandHooksOptions {
  /** The root of the project: the working directory of commands, and the value of `CLAUDE_PROJECT_DIR`. */
  readonly projectDir: string;
  /**
   * The files to read. Missing files are ignored.
   *
   * @defaultValue `~/.claude/settings.json` of the user, or the one in `CLAUDE_CONFIG_DIR`; `.claude/settings.json` and
   * `.claude/settings.local.json` of the project. A relative `HOME` or `CLAUDE_CONFIG_DIR` is ignored, since it would
   * name a folder of the project
   */
  readonly files?: readonly HookFile[] | undefined;
  /** Decides whether a command of the project may run. Without this function, no command of the project runs. */
  readonly trust?: HookTrust | undefined;
  /**
   * The names of tools in hook files, by the names of the tools here.
   *
   * @defaultValue `standardToolNames`; the given names extend it
   */
  readonly toolNames?: Readonly<Record<string, ToolName>> | undefined;
  /**
   * The environment of the commands, before secrets are removed.
   *
   * @defaultValue `process.env`
   */
  readonly env?: NodeJS.ProcessEnv | undefined;
  /** Variables that commands receive although their names suggest secrets. */
  readonly keepEnv?: readonly string[] | undefined;
  /** Returns the path of the transcript of a session, which scripts receive as `transcript_path`. */
  readonly transcriptPath?: ((session: string) => string) | undefined;
  /**
   * The value of `permission_mode` for scripts.
   *
   * @defaultValue `'default'`
   */
  readonly permissionMode?: string | undefined;
  /**
   * The clock for the time limits.
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

/** Rejects unknown options and invalid values. @throws InvalidOptionError `invalid-option` */
export const checkCommandHooksOptions = (options: CommandHooksOptions): void =>
  checkOptions('commandHooks()', options, checks);
