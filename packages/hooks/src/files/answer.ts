import * as z from 'zod';
import type { CommandDefinition } from './definitions.js';
import type { CommandOutcome } from './run-command.js';

/** The answer of a hook command. */
export interface CommandAnswer {
  readonly command: string;
  /** The reason for a block of the call, the prompt or the end of the turn. */
  readonly blocked?: string | undefined;
  readonly permission?: 'allow' | 'ask' | undefined;
  readonly reason?: string | undefined;
  readonly updatedInput?: unknown;
  readonly updatedOutput?: unknown;
  readonly context?: string | undefined;
  /** The reason to stop the turn. */
  readonly stopped?: string | undefined;
  readonly notices: readonly string[];
}

const text = z.string().nullish();
const outputSchema = z.looseObject({
  continue: z.boolean().nullish(),
  stopReason: text,
  systemMessage: text,
  decision: z.enum(['approve', 'allow', 'block', 'deny', 'ask']).nullish(),
  reason: text,
  hookSpecificOutput: z
    .looseObject({
      permissionDecision: z.enum(['allow', 'deny', 'ask', 'defer']).nullish(),
      permissionDecisionReason: text,
      updatedInput: z.record(z.string(), z.unknown()).nullish(),
      additionalContext: text,
      updatedToolOutput: z.unknown().optional(),
      updatedMCPToolOutput: z.unknown().optional(),
    })
    .nullish(),
});

type Output = z.infer<typeof outputSchema>;

/** The maximum length of a context, from the documentation of the format. */
const maxContextChars = 10_000;
const maxNoticeChars = 2000;

/** Events where a failed command blocks by default. */
const gates: ReadonlySet<string> = new Set(['PreToolUse', 'UserPromptSubmit']);
/** Events where plain output becomes context for the model. */
const contextEvents: ReadonlySet<string> = new Set(['UserPromptSubmit', 'SessionStart']);

/** Converts the outcome of a command into an answer, from its exit code and JSON output. */
export const answerOf = (definition: CommandDefinition, outcome: CommandOutcome): CommandAnswer => {
  const { command, event } = definition;
  const base = { command, notices: [] };
  const { exitCode, failure } = outcome;
  if (failure !== undefined) {
    const seconds = definition.timeoutSeconds;
    const what =
      failure === 'timed-out'
        ? `took longer than ${seconds} s`
        : failure === 'not-started'
          ? 'could not be started'
          : `was ${failure}`;
    return failed(definition, `The hook command ${short(command)} ${what}.`, gates.has(event));
  }
  const stdout = outcome.stdout.trim();
  const stderr = outcome.stderr.trim();
  if (exitCode === 2) {
    return { ...base, blocked: clip(stderr === '' ? `Blocked by the hook command ${short(command)}.` : stderr) };
  }
  const json = jsonIn(stdout);
  if (json !== undefined) {
    const parsed = outputSchema.safeParse(json);
    if (parsed.success) return fromOutput(definition, parsed.data);
    return failed(
      definition,
      `The hook command ${short(command)} wrote JSON in a form that is not supported: ${z.prettifyError(parsed.error)}`,
      gates.has(event),
    );
  }
  const isContext = contextEvents.has(event);
  if (verdict.test(stdout) ? !isContext || objectLine.test(stdout) : jsonStart.test(stdout) && !isContext) {
    return failed(
      definition,
      `The hook command ${short(command)} wrote JSON that is invalid, incomplete or mixed with other output.`,
      gates.has(event),
    );
  }
  if (exitCode !== 0) {
    return failed(
      definition,
      `The hook command ${short(command)} ended with exit code ${exitCode}: ${clip(stderr, maxNoticeChars)}`,
      false,
    );
  }
  return { ...base, ...(stdout !== '' && isContext && { context: clip(stdout) }) };
};

/** Creates the answer of a failed command. `onFailure` overrides whether it blocks. */
const failed = ({ command, onFailure }: CommandDefinition, message: string, isClosed: boolean): CommandAnswer => {
  const blocks = onFailure === undefined ? isClosed : onFailure === 'block';
  return { command, notices: [message], ...(blocks && { blocked: message }) };
};

const fromOutput = ({ command }: CommandDefinition, output: Output): CommandAnswer => {
  const { decision, hookSpecificOutput: own } = output;
  const decided = own?.permissionDecision ?? decision ?? undefined;
  const reason = own?.permissionDecisionReason ?? output.reason ?? undefined;
  const isBlocked = decided === 'deny' || decided === 'block';
  const updatedOutput = own?.updatedToolOutput ?? own?.updatedMCPToolOutput ?? undefined;
  return {
    command,
    notices: output.systemMessage ? [clip(output.systemMessage, maxNoticeChars)] : [],
    ...(isBlocked && { blocked: clip(reason ?? `Blocked by the hook command ${short(command)}.`) }),
    ...((decided === 'ask' || decided === 'defer') && { permission: 'ask' as const }),
    ...((decided === 'allow' || decided === 'approve') && { permission: 'allow' as const }),
    ...(reason !== undefined && !isBlocked && { reason: clip(reason) }),
    ...(own?.updatedInput && { updatedInput: own.updatedInput }),
    ...(updatedOutput !== undefined && { updatedOutput }),
    ...(own?.additionalContext && { context: clip(own.additionalContext) }),
    ...(output.continue === false && {
      stopped: output.stopReason ?? `Stopped by the hook command ${short(command)}.`,
    }),
  };
};

/** The start of an object as only JSON writes it. Its rest may be missing, with the verdict in it. */
const jsonStart = /^"?\{\s*\\?"/;

/** The member of a verdict, in JSON that is incomplete or mixed with the output of a command that the script runs. */
const verdict = /(?:^\{.*|[{,]\s*)\\?"(?:continue|decision|permissionDecision)\\?"\s*:/m;

/** A line that begins with an object, maybe after colors. Objects within lines of a context are part of its prose. */
// oxlint-disable-next-line no-control-regex -- the colors of a terminal
const objectLine = /^(?:\u001b\[[\d;]*m|[ \t])*[["]?\{/m;

/** Returns the object in the output of a command, which may be encoded as JSON twice. */
const jsonIn = (stdout: string): object | undefined => {
  if (!stdout.startsWith('{') && !stdout.startsWith('"{')) return undefined;
  try {
    const value: unknown = JSON.parse(stdout);
    const inner: unknown = typeof value === 'string' ? JSON.parse(value) : value;
    return typeof inner === 'object' && inner !== null ? inner : undefined;
  } catch {
    return undefined;
  }
};

const clip = (value: string, max = maxContextChars): string =>
  value.length > max ? `${value.slice(0, max)} … (${value.length - max} characters more)` : value;
const short = (command: string): string => JSON.stringify(command.length > 80 ? `${command.slice(0, 80)}…` : command);
