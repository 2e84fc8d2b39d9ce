import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { textOf, toErrorInfo, type ToolOutcome, type UserMessage } from '@h/turn';
import { asyncScheduler, type SchedulerLike } from 'rxjs';
import type { Hook, HookContext, ToolVerdict } from '../hook.js';
import { aFunction, anObject, aText, checkOptions, listOf, objectOf, objectWith, oneOf } from '../option-check.js';
import type { CommandAnswer } from './answer.js';
import { parseHookFile, type CommandDefinition, type CommandEvent, type HookFileScope } from './definitions.js';
import { Dispatcher } from './dispatcher.js';
import { cleanEnvironment } from './environment.js';
import { standardToolNames, toOurs, toTheirs, type ToolName } from './tool-names.js';
import type { HookTrust } from './trust.js';

/** A settings file with hooks. */
export interface HookFile {
  readonly path: string;
  /** `user`: the person's own. `project`: it came with the project, and is trusted by content. */
  readonly scope: HookFileScope;
}

/** Options of {@link commandHooks}. */
export interface CommandHooksOptions {
  /** The root of the project: where commands run, and what they find in `CLAUDE_PROJECT_DIR`. */
  readonly projectDir: string;
  /**
   * The files to read; those that do not exist are left out.
   *
   * @defaultValue `~/.claude/settings.json` of the person, `.claude/settings.json` and `.claude/settings.local.json` of the project
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

/** The hook files of a project. It belongs to the caller, for as many turns and sessions as there are. */
export interface CommandHooks {
  /** For `hooks()` and `lateHooks()`. */
  readonly hook: () => Hook;
  readonly definitions: readonly CommandDefinition[];
  /** What in the files was not understood, for people. */
  readonly problems: readonly string[];
  /** Runs the commands for the end of a session. */
  endSession(session: string, reason?: string): Promise<void>;
  /** Ends what commands have left running in the background (`async`). */
  close(): void;
}

const checks = {
  projectDir: aText,
  files: listOf(objectOf({ path: aText, scope: oneOf('user', 'project') })),
  trust: aFunction,
  toolNames: anObject,
  env: anObject,
  keepEnv: listOf(aText),
  transcriptPath: aFunction,
  permissionMode: aText,
  scheduler: objectWith('schedule', 'now'),
};

const maxSessions = 10_000;

/**
 * Reads hook files in the format of Claude Code's `settings.json`, and makes a hook of their commands.
 *
 * The commands get the JSON on their standard input that they know, under the names of tools and inputs that they know, and
 * answer with JSON or an exit code as they do there. One that blocks a call denies it; one that blocks the end sends the
 * turn back. A gate (`PreToolUse`, `UserPromptSubmit`) that crashes or takes too long has blocked, unless its `onFailure`
 * says `continue`; another exit code than 0 and 2 is told and changes nothing, as in that format.
 *
 * @throws TurnError `invalid-option`
 *
 * @example
 * ```ts
 * const commands = await commandHooks({ projectDir, trust: trustFile({ path, ask }) });
 * const rules = [commands.hook];
 * harness(drivers).pipe(hooks(rules), compaction(), lateHooks(rules));
 * ```
 */
export const commandHooks = async (options: CommandHooksOptions): Promise<CommandHooks> => {
  checkOptions('commandHooks()', options, checks, ['projectDir']);
  const { trust, transcriptPath, permissionMode = 'default', env = process.env, keepEnv, scheduler = asyncScheduler } = options;
  const projectDir = resolve(options.projectDir);
  const files = await Promise.all((options.files ?? standardFiles(projectDir, env)).map(readHookFile));
  const isDisabled = files.some((file) => file.isDisabled);
  const definitions = isDisabled ? [] : files.flatMap((file) => file.definitions);
  const toolNames = { ...standardToolNames, ...options.toolNames };
  const childEnv = { ...cleanEnvironment(env, keepEnv), CLAUDE_PROJECT_DIR: projectDir };
  const dispatcher = new Dispatcher({ definitions, projectDir, env: childEnv, trust, scheduler });
  const started = new Set<string>();

  type Place = Pick<HookContext, 'notify' | 'session' | 'signal'>;
  const fire = (event: CommandEvent, place: Place, names: readonly string[], more: Readonly<Record<string, unknown>>, input?: unknown) =>
    dispatcher.fire({
      event,
      session: place.session,
      names,
      input,
      signal: place.signal,
      notify: (message) => place.notify(message),
      payload: { session_id: place.session, transcript_path: transcriptPath?.(place.session) ?? '', cwd: projectDir, permission_mode: permissionMode, hook_event_name: event, ...more },
    });

  const onPrompt = (context: HookContext & { readonly input: readonly UserMessage[] }) =>
    fire('UserPromptSubmit', context, [], { prompt: context.input.map(textOf).join('\n\n') });

  const onSession = async (context: HookContext & { readonly messages: Iterable<unknown> }): Promise<readonly CommandAnswer[]> => {
    if (started.has(context.session)) return [];
    if (started.size >= maxSessions) started.clear();
    started.add(context.session);
    const [first] = context.messages;
    const source = first === undefined ? 'startup' : 'resume';
    return fire('SessionStart', context, [source], { source });
  };

  const hook = (): Hook => {
    let stopped: string | undefined;
    const stopWhere = (answers: readonly CommandAnswer[]): string | undefined => {
      stopped ??= answers.find((answer) => answer.stopped !== undefined)?.stopped;
      return stopped;
    };
    const has = dispatcher.has.bind(dispatcher);
    return {
      name: 'command-hooks',
      // Each command has a time of its own.
      timeoutMs: Infinity,
      ...(has('SessionStart', 'UserPromptSubmit') && {
        beforeTurn: async (context) => {
          const answers = [...(await onSession(context)).map((answer) => ({ ...answer, blocked: undefined })), ...(await onPrompt(context))];
          return promptVerdict(answers, stopWhere(answers));
        },
      }),
      ...(has('UserPromptSubmit') && {
        beforeSteering: async (context) => {
          const answers = await onPrompt(context);
          return promptVerdict(answers, stopWhere(answers));
        },
      }),
      ...(has('PreToolUse', 'PostToolUse', 'PostToolUseFailure') && {
        beforeModel: () => (stopped === undefined ? undefined : { decision: 'deny', reason: stopped }),
      }),
      ...(has('PreToolUse') && {
        beforeTool: async (context) => {
          const { call } = context;
          const tool = toolNames[call.name];
          const theirs = toTheirs(call.input, tool, projectDir);
          const names = namesOf(call.name, tool);
          const answers = await fire('PreToolUse', context, names, { tool_name: names[0], tool_input: theirs, tool_use_id: call.id }, theirs);
          return callVerdict(answers, stopWhere(answers), (input) => toOurs(input, tool, projectDir));
        },
      }),
      ...(has('PostToolUse', 'PostToolUseFailure') && {
        afterTool: async (context) => {
          const { call, outcome } = context;
          const tool = toolNames[call.name];
          const theirs = toTheirs(call.input, tool, projectDir);
          const names = namesOf(call.name, tool);
          const isOk = outcome.status === 'ok' || outcome.status === 'stored';
          const result = isOk ? { tool_response: responseOf(names[0], outcome) } : { error: plainText(outcome) };
          const answers = await fire(isOk ? 'PostToolUse' : 'PostToolUseFailure', context, names, { tool_name: names[0], tool_input: theirs, tool_use_id: call.id, ...result }, theirs);
          stopWhere(answers);
          const output = answers.findLast(({ updatedOutput }) => updatedOutput !== undefined)?.updatedOutput;
          const context_ = joined(answers.flatMap(({ blocked, context: added }) => [blocked, added]));
          return { ...(context_ !== undefined && { context: context_ }), ...(output !== undefined && { output: typeof output === 'string' ? output : { type: 'json', value: output as never } }) };
        },
      }),
      ...(has('Stop', 'SubagentStop') && {
        beforeEnd: async (context) => {
          const { sentBack, text, trigger } = context;
          const answers = await fire(trigger === 'subagent' ? 'SubagentStop' : 'Stop', context, [], { stop_hook_active: sentBack > 0, last_assistant_message: text });
          const words = joined(answers.map(({ blocked }) => blocked));
          return stopWhere(answers) !== undefined || words === undefined ? undefined : { proceed: words, reason: 'A hook command sent it back.' };
        },
      }),
      ...(has('PreCompact') && {
        onCompaction: async (context) => {
          if (context.phase !== 'started') return;
          const trigger = context.details['trigger'] === 'manual' ? 'manual' : 'auto';
          const answers = await fire('PreCompact', context, [trigger], { trigger, custom_instructions: '' });
          for (const { blocked } of answers) if (blocked !== undefined) context.notify(`It cannot be kept from happening here: ${blocked}`);
        },
      }),
      ...(has('Notification') && {
        onApproval: async (context) => {
          if (context.phase !== 'requested') return;
          const tool = context.call === undefined ? 'a tool' : (namesOf(context.call.name, toolNames[context.call.name])[0] ?? '');
          await fire('Notification', context, ['permission_prompt'], { message: `Permission is needed to use ${tool}: ${context.reason}`, notification_type: 'permission_prompt' });
        },
      }),
    };
  };

  return {
    hook,
    definitions,
    problems: files.flatMap((file) => file.problems),
    endSession: async (session, reason = 'other') => {
      started.delete(session);
      await fire('SessionEnd', { session, signal: new AbortController().signal, notify: () => undefined }, [reason], { reason });
    },
    close: () => dispatcher.close(),
  };
};

const standardFiles = (projectDir: string, env: NodeJS.ProcessEnv): readonly HookFile[] => [
  { path: join(env['CLAUDE_CONFIG_DIR'] ?? join(env['HOME'] ?? homedir(), '.claude'), 'settings.json'), scope: 'user' },
  { path: join(projectDir, '.claude', 'settings.json'), scope: 'project' },
  { path: join(projectDir, '.claude', 'settings.local.json'), scope: 'project' },
];

const readHookFile = async ({ path, scope }: HookFile) => {
  try {
    return parseHookFile(JSON.parse(await readFile(path, 'utf8')), path, scope);
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT';
    return { definitions: [], problems: isMissing ? [] : [`${path} cannot be read: ${toErrorInfo(error).message}`], isDisabled: false };
  }
};

/** The name that their scripts know, and ours, for matchers that name it so. */
const namesOf = (name: string, tool: ToolName | undefined): readonly string[] => (tool === undefined ? [name] : [tool.name, name]);

const joined = (texts: readonly (string | undefined)[]): string | undefined => {
  const given = texts.filter((text) => text !== undefined && text !== '');
  return given.length === 0 ? undefined : given.join('\n\n');
};

const promptVerdict = (answers: readonly CommandAnswer[], stopped: string | undefined) => {
  const reason = stopped ?? joined(answers.map(({ blocked }) => blocked));
  if (reason !== undefined) return { decision: 'deny', reason } as const;
  const context = joined(answers.map(({ context: added }) => added));
  return context === undefined ? undefined : { context };
};

/** A block counts more than a question, and a question more than a permission. */
const callVerdict = (answers: readonly CommandAnswer[], stopped: string | undefined, toInput: (input: unknown) => unknown): ToolVerdict | undefined => {
  const refused = stopped ?? joined(answers.map(({ blocked }) => blocked));
  if (refused !== undefined) return { decision: 'deny', reason: refused };
  const updated = answers.findLast(({ updatedInput }) => updatedInput !== undefined)?.updatedInput;
  const context = joined(answers.map(({ context: added }) => added));
  const more = { ...(updated !== undefined && { input: toInput(updated) }), ...(context !== undefined && { context }) };
  const asking = answers.filter(({ permission }) => permission === 'ask');
  if (asking.length > 0) return { decision: 'ask', reason: joined(asking.map(({ reason }) => reason)) ?? 'A hook command wants to know whether this may be done.', ...more };
  return answers.some(({ permission }) => permission === 'allow') ? { decision: 'allow', ...more } : more;
};

const plainText = ({ output }: ToolOutcome): string => ('value' in output && typeof output.value === 'string' ? output.value : JSON.stringify('value' in output ? output.value : (output.reason ?? '')));

/** The result of a call in the shape that their scripts read. */
const responseOf = (name: string | undefined, outcome: ToolOutcome): unknown => {
  const { output } = outcome;
  if (output.type === 'json') return output.value;
  const text = plainText(outcome);
  return name === 'Bash' ? { stdout: text, stderr: '', interrupted: false, isImage: false } : { content: text, success: true };
};
