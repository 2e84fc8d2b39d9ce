import { textOf, type ToolCall, type UserMessage } from '@h/turn';
import type { Hook, HookContext } from '../hook.js';
import type { CommandAnswer } from './answer.js';
import type { CommandEvent } from './definitions.js';
import { toToolFormat, toHookFormat, type ToolName } from './tool-names.js';
import { callVerdict, endVerdict, plainText, promptVerdict, responseOf, resultChanges } from './verdicts.js';

/** The context that commands run in. */
export type CommandPlace = Pick<HookContext, 'notify' | 'session' | 'signal'>;

/** The commands of a project, and the functions to run them. */
export interface Commands {
  readonly projectDir: string;
  readonly toolNames: Readonly<Record<string, ToolName>>;
  readonly has: (...events: readonly CommandEvent[]) => boolean;
  /** Runs the commands that match one of the names; `more` extends the common payload. */
  readonly fire: (
    event: CommandEvent,
    place: CommandPlace,
    names: readonly string[],
    more: Readonly<Record<string, unknown>>,
    input?: unknown,
  ) => Promise<readonly CommandAnswer[]>;
  /** Returns `true` once per session, for its first turn. */
  readonly begins: (session: string) => boolean;
}

/** A tool call in the format of hook files. */
interface HookFileCall {
  readonly names: readonly string[];
  readonly input: unknown;
  readonly payload: Readonly<Record<string, unknown>>;
  readonly toInput: (input: unknown) => unknown;
}

/**
 * Creates the hook of one turn. A command that stops the turn takes effect before the next model call at the latest.
 */
export const turnCommands = (commands: Commands): Hook => {
  const { fire, projectDir, toolNames } = commands;
  let stopped: string | undefined;
  const stopReason = (answers: readonly CommandAnswer[]): string | undefined => {
    stopped ??= answers.find((answer) => answer.stopped !== undefined)?.stopped;
    return stopped;
  };
  const inHookFormat = ({ id, name, input }: ToolCall): HookFileCall => {
    const tool = Object.hasOwn(toolNames, name) ? toolNames[name] : undefined;
    const names = namesOf(name, tool);
    const known = toHookFormat(input, tool, projectDir);
    return {
      names,
      input: known,
      payload: { tool_name: names[0], tool_input: known, tool_use_id: id },
      toInput: (own) => toToolFormat(own, tool, projectDir),
    };
  };
  const onPrompt = (context: HookContext & { readonly input: readonly UserMessage[] }) =>
    fire('UserPromptSubmit', context, [], { prompt: context.input.map(textOf).join('\n\n') });
  const onSession = async (
    context: HookContext & { readonly messages: Iterable<unknown> },
  ): Promise<readonly CommandAnswer[]> => {
    if (!commands.begins(context.session)) return [];
    const [first] = context.messages;
    const source = first === undefined ? 'startup' : 'resume';
    const answers = await fire('SessionStart', context, [source], { source });
    // A command for this event cannot block the session.
    return answers.map((answer) => ({ ...answer, blocked: undefined }));
  };

  const points: Pick<
    Hook,
    | 'afterTool'
    | 'beforeEnd'
    | 'beforeModel'
    | 'beforeSteering'
    | 'beforeTool'
    | 'beforeTurn'
    | 'onApproval'
    | 'onCompaction'
  > = {
    beforeTurn: async (context) => {
      const answers = [...(await onSession(context)), ...(await onPrompt(context))];
      return promptVerdict(answers, stopReason(answers));
    },
    beforeSteering: async (context) => {
      const answers = await onPrompt(context);
      return promptVerdict(answers, stopReason(answers));
    },
    beforeModel: () => (stopped === undefined ? undefined : { decision: 'deny', reason: stopped }),
    beforeTool: async (context) => {
      const { names, input, payload, toInput } = inHookFormat(context.call);
      const answers = await fire('PreToolUse', context, names, payload, input);
      return callVerdict(answers, stopReason(answers), toInput);
    },
    afterTool: async (context) => {
      const { outcome } = context;
      const { names, input, payload } = inHookFormat(context.call);
      const isOk = outcome.status === 'ok' || outcome.status === 'stored';
      const result = isOk ? { tool_response: responseOf(names[0], outcome) } : { error: plainText(outcome) };
      const answers = await fire(
        isOk ? 'PostToolUse' : 'PostToolUseFailure',
        context,
        names,
        { ...payload, ...result },
        input,
      );
      stopReason(answers);
      return resultChanges(answers);
    },
    beforeEnd: async (context) => {
      const { sentBack, text, trigger } = context;
      const answers = await fire(trigger === 'subagent' ? 'SubagentStop' : 'Stop', context, [], {
        stop_hook_active: sentBack > 0,
        last_assistant_message: text,
      });
      return stopReason(answers) === undefined ? endVerdict(answers) : undefined;
    },
    onCompaction: async (context) => {
      if (context.phase !== 'started') return;
      const trigger = context.details['trigger'] === 'manual' ? 'manual' : 'auto';
      const answers = await fire('PreCompact', context, [trigger], { trigger, custom_instructions: '' });
      for (const { blocked } of answers) {
        if (blocked === undefined) continue;
        context.notify(`A hook command blocked the compaction, which hooks cannot block: ${blocked}`);
      }
    },
    onApproval: async (context) => {
      if (context.phase !== 'requested') return;
      const tool = context.call === undefined ? 'a tool' : inHookFormat(context.call).names[0];
      await fire('Notification', context, ['permission_prompt'], {
        message: `Permission is needed to use ${tool}: ${context.reason}`,
        notification_type: 'permission_prompt',
      });
    },
  };
  return {
    name: 'command-hooks',
    // Each command has a separate time limit.
    timeoutMs: Infinity,
    ...Object.fromEntries(
      Object.entries(points).filter(([point]) => commands.has(...eventsOf[point as keyof typeof eventsOf])),
    ),
  };
};

/** The events of each point. A point without commands is not registered. */
const eventsOf = {
  beforeTurn: ['SessionStart', 'UserPromptSubmit'],
  beforeSteering: ['UserPromptSubmit'],
  beforeModel: ['PreToolUse', 'PostToolUse', 'PostToolUseFailure'],
  beforeTool: ['PreToolUse'],
  afterTool: ['PostToolUse', 'PostToolUseFailure'],
  beforeEnd: ['Stop', 'SubagentStop'],
  onCompaction: ['PreCompact'],
  onApproval: ['Notification'],
} as const satisfies Record<string, readonly CommandEvent[]>;

/** Returns the names that a matcher can use: the name in hook files and the name of the tool. */
const namesOf = (name: string, tool: ToolName | undefined): readonly string[] =>
  tool === undefined ? [name] : [tool.name, name];
