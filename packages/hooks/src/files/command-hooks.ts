import { homeFolder, withoutSecrets } from '@h/process';
import { realpath } from 'node:fs/promises';
import { isAbsolute, join, resolve } from 'node:path';
import { ifExists, readRegularFile } from '@h/files';
import { toErrorInfo } from '@h/turn';
import { asyncScheduler } from 'rxjs';
import type { Hook } from '../hook.js';
import { parseHookFile, type CommandDefinition, type ParsedHookFile } from './definitions.js';
import { Dispatcher } from './dispatcher.js';
import { checkCommandHooksOptions, type CommandHooksOptions, type HookFile } from './options.js';
import { standardToolNames } from './tool-names.js';
import { turnCommands, type Commands } from './turn-commands.js';

/** The hook files of a project, for any number of turns and sessions. The caller must close it. */
export interface CommandHooks {
  /** Creates the hook of a turn; pass this function to `hooks()`. */
  readonly hook: () => Hook;
  readonly definitions: readonly CommandDefinition[];
  /** Messages about invalid or unsupported parts of the files. */
  readonly problems: readonly string[];
  /** Runs the commands for the end of a session. */
  endSession(session: string, reason?: string): Promise<void>;
  /** Stops commands that run in the background (`async`). */
  close(): void;
}

const maxSessions = 10_000;

/**
 * Reads hook files in the format of Claude Code's `settings.json`, and creates a hook from their commands.
 *
 * Commands receive JSON on their standard input, with the tool and input names of that format, and answer with JSON or
 * an exit code. A command that blocks a call denies it; a command that blocks the end continues the turn. A gate
 * (`PreToolUse`, `UserPromptSubmit`) that crashes or exceeds its time limit blocks, unless its `onFailure` is
 * `continue`; so does incomplete JSON of `PreToolUse`. By default, exit codes other than 0 and 2 only cause a notice, as
 * in that format.
 *
 * @throws InvalidOptionError `invalid-option`
 *
 * @example
 * ```ts
 * const commands = await commandHooks({ projectDir, trust: trustFile({ path, ask }) });
 * harness(drivers).pipe(hooks([commands.hook]));
 * ```
 */
export const commandHooks = async (options: CommandHooksOptions): Promise<CommandHooks> => {
  checkCommandHooksOptions(options);
  const {
    trust,
    transcriptPath,
    permissionMode = 'default',
    env = process.env,
    keepEnv,
    scheduler = asyncScheduler,
  } = options;
  const projectDir = resolve(options.projectDir);
  const files = await Promise.all((options.files ?? standardFiles(projectDir, env)).map(readHookFile));
  // A project must not disable the guards of its user.
  const disabled = files.flatMap(({ isDisabled, scope }) => (isDisabled ? [scope] : []));
  const enabled = disabled.includes('user') ? [] : files.filter(({ scope }) => !disabled.includes(scope));
  const definitions = enabled.flatMap((file) => file.definitions);
  const childEnv = { ...withoutSecrets(env, keepEnv), CLAUDE_PROJECT_DIR: projectDir };
  const dispatcher = new Dispatcher({ definitions, projectDir, env: childEnv, trust, scheduler });
  const begun = new Set<string>();
  const commands: Commands = {
    projectDir,
    toolNames: { ...standardToolNames, ...options.toolNames },
    has: (...events) => dispatcher.has(...events),
    fire: (event, { session, signal, notify }, names, more, input) => {
      const common = {
        session_id: session,
        transcript_path: transcriptPath?.(session) ?? '',
        cwd: projectDir,
        permission_mode: permissionMode,
        hook_event_name: event,
      };
      return dispatcher.fire({ event, session, names, input, signal, notify, payload: { ...common, ...more } });
    },
    begins: (session) => {
      if (begun.has(session)) return false;
      if (begun.size >= maxSessions) begun.clear();
      begun.add(session);
      return true;
    },
  };
  return {
    hook: () => turnCommands(commands),
    definitions,
    problems: files.flatMap((file) => file.problems),
    endSession: async (session, reason = 'other') => {
      begun.delete(session);
      await commands.fire(
        'SessionEnd',
        { session, signal: new AbortController().signal, notify: () => undefined },
        [reason],
        { reason },
      );
    },
    close: () => dispatcher.close(),
  };
};

const standardFiles = (projectDir: string, env: NodeJS.ProcessEnv): readonly HookFile[] => [
  { path: join(userSettings(env), 'settings.json'), scope: 'user' },
  { path: join(projectDir, '.claude', 'settings.json'), scope: 'project' },
  { path: join(projectDir, '.claude', 'settings.local.json'), scope: 'project' },
];

/** A relative path would be in the folder of a project, whose hooks need trust. */
const userSettings = (env: NodeJS.ProcessEnv): string => {
  const folder = env['CLAUDE_CONFIG_DIR'];
  return folder !== undefined && isAbsolute(folder) ? folder : join(homeFolder(env), '.claude');
};

const nothing: ParsedHookFile = { definitions: [], problems: [], isDisabled: false };

const readHookFile = async ({ path, scope }: HookFile): Promise<ParsedHookFile & Pick<HookFile, 'scope'>> => ({
  scope,
  ...(await parsedFile(path, scope)),
});

const parsedFile = async (path: string, scope: HookFile['scope']): Promise<ParsedHookFile> => {
  try {
    // A link is followed, as in collections of dotfiles; a pipe in its place would be waited for.
    const target = await ifExists(realpath(path));
    const content = target === undefined ? undefined : await readRegularFile(target);
    if (content === undefined) return nothing;
    // Some editors begin a file with a byte order mark.
    return parseHookFile(JSON.parse(content.text.replace(/^\u{FEFF}/u, '')), path, scope);
  } catch (error) {
    return { ...nothing, problems: [`${path} cannot be read: ${toErrorInfo(error).message}`] };
  }
};
