import * as z from 'zod';
import { showValue } from '@h/options';

/** The supported events of hook files. */
export const commandEvents = [
  'PreToolUse',
  'PostToolUse',
  'PostToolUseFailure',
  'UserPromptSubmit',
  'Stop',
  'SubagentStop',
  'PreCompact',
  'SessionStart',
  'SessionEnd',
  'Notification',
] as const;

export type CommandEvent = (typeof commandEvents)[number];

/** The owner of the file: the user or the project. */
export type HookFileScope = 'user' | 'project';

/** One command of a hook file. */
export interface CommandDefinition {
  readonly event: CommandEvent;
  /** The tools, sources or triggers that the command applies to; all of them if empty or `*`. */
  readonly matcher: string;
  readonly command: string;
  /** Arguments. If given, the command is a program that runs without a shell. */
  readonly args?: readonly string[] | undefined;
  readonly timeoutSeconds: number;
  /** Limits the command to calls that this rule covers, such as `Bash(git push *)`. */
  readonly if?: string | undefined;
  readonly async: boolean;
  readonly once: boolean;
  /** The effect of a command that crashes or exceeds its time limit. */
  readonly onFailure?: 'block' | 'continue' | undefined;
  /** The file that defines it. */
  readonly source: string;
  readonly scope: HookFileScope;
}

const seconds = z.number().positive();
const handlerSchema = z.looseObject({
  type: z.string(),
  command: z.string().min(1).optional(),
  args: z.array(z.string()).optional(),
  timeout: seconds.optional(),
  if: z.string().optional(),
  async: z.boolean().optional(),
  once: z.boolean().optional(),
  onFailure: z.enum(['block', 'continue']).optional(),
});
const groupSchema = z.looseObject({ matcher: z.string().optional(), hooks: z.array(z.unknown()) });

/** Returns the default time limit of a command in seconds, from the documentation of the format. */
const defaultSeconds = (event: CommandEvent): number => {
  if (event === 'UserPromptSubmit') return 30;
  return event === 'SessionEnd' ? 1.5 : 600;
};

/** The definitions in a hook file, and messages about its invalid or unsupported parts. */
export interface ParsedHookFile {
  readonly definitions: readonly CommandDefinition[];
  readonly problems: readonly string[];
  readonly isDisabled: boolean;
}

/** Parses the `hooks` of a settings file. Invalid or unsupported parts are omitted and listed in `problems`. */
export const parseHookFile = (settings: unknown, source: string, scope: HookFileScope): ParsedHookFile => {
  const problems: string[] = [];
  const top = z
    .looseObject({ hooks: z.record(z.string(), z.unknown()).optional(), disableAllHooks: z.boolean().optional() })
    .safeParse(settings);
  if (!top.success) {
    return {
      definitions: [],
      problems: [`${source} is not a settings file: ${z.prettifyError(top.error)}`],
      isDisabled: false,
    };
  }
  const definitions = Object.entries(top.data.hooks ?? {}).flatMap(([event, groups]) => {
    const where = `${source}: ${event}`;
    if (!commandEvents.includes(event as CommandEvent)) {
      problems.push(`${where} is not a supported event; it is ignored. Supported: ${commandEvents.join(', ')}.`);
      return [];
    }
    if (!Array.isArray(groups)) {
      problems.push(`${where} is ignored: expected an array, received ${showValue(groups)}.`);
      return [];
    }
    return (groups as readonly unknown[]).flatMap((group, index) => {
      const parsed = groupSchema.safeParse(group);
      if (!parsed.success) {
        problems.push(`${where}[${index}] is ignored: ${z.prettifyError(parsed.error)}`);
        return [];
      }
      const { matcher = '', hooks } = parsed.data;
      return hooks.flatMap((hook): readonly CommandDefinition[] => {
        const definition = definitionOf(hook, { event: event as CommandEvent, matcher, source, scope });
        if (typeof definition !== 'string') return [definition];
        problems.push(`${where}: ${definition}`);
        return [];
      });
    });
  });
  return { definitions, problems, isDisabled: top.data.disableAllHooks === true };
};

const definitionOf = (
  hook: unknown,
  place: Pick<CommandDefinition, 'event' | 'matcher' | 'source' | 'scope'>,
): CommandDefinition | string => {
  const parsed = handlerSchema.safeParse(hook);
  if (!parsed.success) return `the hook ${showValue(hook)} is ignored: ${z.prettifyError(parsed.error)}`;
  const { type, command, args, timeout, if: condition, async = false, once = false, onFailure } = parsed.data;
  if (type !== 'command' || command === undefined) {
    return `a hook of the type ${showValue(type)} ${type === 'command' ? 'has no command' : 'is not supported'}; it is ignored.`;
  }
  return {
    ...place,
    command,
    args,
    timeoutSeconds: timeout ?? defaultSeconds(place.event),
    if: condition,
    async,
    once,
    onFailure,
  };
};
