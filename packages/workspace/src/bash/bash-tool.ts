import { defineTool, toolOutput, ToolError, type Tool, type ToolContext, type ToolOutput } from '@h/tools';
import type { JSONObject, MaybePromise } from '@h/turn';
import * as z from 'zod';
import { parseOptions, WorkspaceOptionsError } from '../options.js';
import { outputWindow, type CapturedOutput, type OutputWindow } from '../process/output-window.js';
import type { WorkspacePaths } from '../paths/workspace-paths.js';
import type { CommandEnd, Sandbox } from '../sandbox/sandbox.js';
import { createCommandPolicy, type BashPermissions, type CommandPolicy } from './permissions.js';
import { throttledProgress } from './progress.js';
import { report } from './report.js';
import { restrictedGit } from './restricted-git.js';

/** A command that somebody has to decide about. */
export interface CommandRequest {
  readonly command: string;
  /** The folder it would run in. */
  readonly cwd: string;
  /** Why it is asked about, in a sentence. */
  readonly reason: string;
  readonly session: string;
}

/** Options of {@link bashTool}. */
export interface BashOptions {
  /** Where commands run; its root has to be that of the workspace. */
  readonly sandbox: Sandbox;
  /** Which commands may run. */
  readonly permissions?: BashPermissions | undefined;
  /**
   * Decides where the permissions' `judge` says `ask`. An error counts as no. The time it takes counts as the command's.
   *
   * @defaultValue nobody; such commands are refused
   */
  readonly ask?: ((request: CommandRequest) => MaybePromise<boolean>) | undefined;
  /**
   * How long a command may take where the model does not say, in milliseconds. The model may ask for up to the sandbox's
   * `timeoutMs`.
   *
   * @defaultValue `120_000`, what coding agents use, or the sandbox's limit if that is less
   */
  readonly timeoutMs?: number | undefined;
  /**
   * How many characters of output the model reads; beginning and end are kept.
   *
   * @defaultValue `30_000`, what coding agents use
   */
  readonly maxChars?: number | undefined;
}

const optionsSchema = z.strictObject({
  sandbox: z.custom<Sandbox>(
    (value) => typeof value === 'object' && value !== null && 'run' in value,
    'it has to be what createSandbox returns',
  ),
  permissions: z.custom<BashPermissions>().optional(),
  ask: z
    .custom<NonNullable<BashOptions['ask']>>((value) => typeof value === 'function', 'it has to be a function')
    .optional(),
  timeoutMs: z.int().positive().default(120_000),
  maxChars: z.int().positive().default(30_000),
});

/**
 * Runs the command in `bash`, or in `sh` where there is none, with messages among the output as on a terminal. `--` keeps a
 * command that begins with `-` from being an option.
 */
const shell = 'command -v bash >/dev/null 2>&1 && exec bash -c -- "$1" 2>&1; exec sh -c -- "$1" 2>&1';

/**
 * The tool `bash`: runs a line of shell in the workspace.
 *
 * A command that fails, times out or is refused is a failed call, with what it said until then. Its `details` are
 * `{ kind: 'bash', cwd, ending, exitCode, signal, durationMs, timeoutMs, bytes, omittedBytes }`.
 *
 * @throws WorkspaceOptionsError for an option that is unknown or wrong.
 *
 * @example
 * ```ts
 * const workspace = createWorkspace({ root: '/home/me/project' });
 * const sandbox = await createSandbox({ mode: 'bubblewrap', root: workspace.paths.root });
 * const bash = bashTool(workspace, { sandbox, permissions: { blockedCommands: ['git push'] } });
 * ```
 */
export const bashTool = (workspace: { readonly paths: WorkspacePaths }, options: BashOptions): Tool => {
  const { sandbox, ask, maxChars, permissions, ...rest } = parseOptions('bashTool', optionsSchema, options);
  const { paths } = workspace;
  if (sandbox.root !== paths.root) {
    throw new WorkspaceOptionsError(
      'bashTool',
      'sandbox',
      `its root is ${JSON.stringify(sandbox.root)}, that of the workspace is ${JSON.stringify(paths.root)}.`,
    );
  }
  const policy = createCommandPolicy(permissions);
  const prelude = restrictedGit(permissions);
  const timeoutMs = Math.min(rest.timeoutMs, sandbox.timeoutMs);
  const input = z.object({
    command: z.string().min(1).describe('The line to run.'),
    cwd: z
      .string()
      .optional()
      .describe(
        'The folder to run in, from the root of the workspace. Each command begins anew: cd lasts for one command.',
      ),
    timeoutMs: z
      .int()
      .min(1)
      .max(sandbox.timeoutMs)
      .optional()
      .describe(`How long it may take, in milliseconds; ${timeoutMs} if you do not say.`),
  });
  return defineTool({
    name: 'bash',
    description: describe(sandbox),
    input,
    effect: sandbox.isolates.files && sandbox.isolates.network ? 'local-write' : 'destructive',
    // The sandbox ends the command in time and then tells what it said; the driver would only say that it took too long.
    timeoutMs: sandbox.timeoutMs + marginMs,
    run: async (given, context) => {
      const cwd = await paths.authorize(given.cwd ?? '.', { for: 'read' });
      await authorize(policy, ask, { command: given.command, cwd, session: context.session });
      const window = outputWindow(maxChars);
      const end = await sandbox.run({
        argv: ['/bin/sh', '-c', shell, 'sh', prelude + given.command],
        cwd,
        timeoutMs: given.timeoutMs ?? timeoutMs,
        signal: context.signal,
        onOutput: writeTo(window, context),
      });
      return outcomeOf(end, window.read(), paths.display(cwd));
    },
  });
};

/** How long ending a command takes at most, after its time is up. */
const marginMs = 10_000;

const describe = ({ isolates, mountPath }: Sandbox): string =>
  [
    `Runs a line of shell in the workspace (${mountPath}), without a terminal and with nothing to read: use flags instead of prompts.`,
    'Output that is too long is cut in the middle. Processes that it leaves in the background end with it.',
    ...(isolates.network ? ['There is no network.'] : []),
    ...(isolates.files ? ['Only files of the workspace can be changed.'] : []),
  ].join(' ');

const authorize = async (
  policy: CommandPolicy,
  ask: BashOptions['ask'],
  request: Omit<CommandRequest, 'reason'>,
): Promise<void> => {
  const { decision, reason } = await policy(request.command, { cwd: request.cwd });
  if (decision === 'allow') return;
  const details = { kind: 'bash', decision };
  if (decision === 'deny') {
    throw new ToolError(`The command was not run. ${reason}`, { code: 'command-denied', details });
  }
  if (ask === undefined) {
    throw new ToolError(`The command was not run: it needs an approval, and nobody can be asked. ${reason}`, {
      code: 'approval-required',
      details,
    });
  }
  const approved: unknown = await Promise.resolve(request)
    .then((asked) => ask({ ...asked, reason }))
    .catch(() => false);
  if (approved !== true) {
    throw new ToolError(`The command was not run: its approval was refused. ${reason}`, {
      code: 'not-approved',
      details,
    });
  }
};

const writeTo = (window: OutputWindow, context: ToolContext): ((chunk: Uint8Array) => void) => {
  const progress = throttledProgress((value) => context.progress(value));
  return (chunk) => {
    window.write(chunk);
    progress(chunk);
  };
};

const outcomeOf = (end: CommandEnd, captured: CapturedOutput, cwd: string): ToolOutput => {
  const { text, failure } = report(end, captured);
  const { ending, exitCode, signal, durationMs, timeoutMs } = end;
  const details: JSONObject = {
    kind: 'bash',
    cwd,
    ending,
    exitCode,
    signal,
    durationMs,
    timeoutMs,
    bytes: captured.bytes,
    omittedBytes: captured.omittedBytes,
  };
  if (failure === undefined) return toolOutput({ output: text, details });
  throw new ToolError(failure.message, { code: failure.code, output: text, details });
};
