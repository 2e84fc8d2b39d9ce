import { defineTool, toolOutput, ToolError, type Tool, type ToolContext, type ToolOutput } from '@h/tools';
import {
  anyFunction,
  anyObject,
  checkOptions,
  integerFrom,
  InvalidOptionError,
  objectWithMethods,
  required,
  type OptionChecks,
} from '@h/options';
import type { WorkspacePaths } from '@h/paths';
import { outputWindow, type CapturedOutput, type OutputWindow } from '@h/process';
import type { CommandEnd, Sandbox } from '@h/sandbox';
import type { JSONObject, MaybePromise } from '@h/turn';
import { createBashPolicy, type BashPermissions } from './permissions.js';
import { throttledProgress } from './progress.js';
import { report } from './report.js';
import { restrictedGit } from './restricted-git.js';

/** A command that needs an approval. */
export interface CommandRequest {
  readonly command: string;
  /** The working directory. */
  readonly cwd: string;
  /** Why the approval is needed, as a sentence. */
  readonly reason: string;
  readonly session: string;
}

/** Options of {@link bashTool}. */
export interface BashOptions {
  /** Runs the commands; its root must be the root of the workspace. */
  readonly sandbox: Sandbox;
  /**
   * Which commands may run. With `allowWrite: false`, and if the permissions of the workspace disable writing, a
   * sandbox of the mode `bubblewrap` or `docker` also mounts the workspace read-only.
   */
  readonly permissions?: BashPermissions | undefined;
  /**
   * Approves commands for which the `judge` of the permissions returns `ask`. An error counts as a refusal. Its time
   * counts against the time limit of the call.
   *
   * @defaultValue such commands are refused
   */
  readonly ask?: ((request: CommandRequest) => MaybePromise<boolean>) | undefined;
  /**
   * How long a command may run by default, in milliseconds. The model may choose up to the `timeoutMs` of the sandbox.
   *
   * @defaultValue `120_000`, as in coding agents, or the limit of the sandbox if that is lower
   */
  readonly timeoutMs?: number | undefined;
  /**
   * The characters of output in a result; beginning and end are shown.
   *
   * @defaultValue `30_000`, as in coding agents
   */
  readonly maxChars?: number | undefined;
}

const checks: OptionChecks<BashOptions> = {
  sandbox: required({ ...objectWithMethods('run', 'close'), expected: 'a sandbox that createSandbox() returned' }),
  permissions: anyObject,
  ask: anyFunction,
  timeoutMs: integerFrom(1),
  maxChars: integerFrom(1),
};

interface BashInput {
  readonly command: string;
  readonly cwd?: string;
  readonly timeoutMs?: number;
}

/**
 * Runs the command in `bash`, or in `sh` if there is no bash, with standard error in the output as on a terminal. `--`
 * keeps a command that starts with `-` from being an option.
 */
const shell = 'command -v bash >/dev/null 2>&1 && exec bash -c -- "$1" 2>&1; exec sh -c -- "$1" 2>&1';

/**
 * Creates the tool `bash`, which runs a line of shell in the workspace.
 *
 * A command that fails, times out or is refused is a failed call, with the output so far. Its `details` are
 * `{ kind: 'bash', cwd, ending, exitCode, signal, durationMs, timeoutMs, bytes, omittedBytes }`.
 *
 * @throws InvalidOptionError for an invalid option
 *
 * @example
 * ```ts
 * const workspace = createWorkspace({ root: '/home/me/project' });
 * const sandbox = await createSandbox({ mode: 'bubblewrap', root: workspace.paths.root });
 * const bash = bashTool(workspace, { sandbox, permissions: { blockedCommands: ['git push'] } });
 * ```
 */
export const bashTool = (workspace: { readonly paths: WorkspacePaths }, options: BashOptions): Tool => {
  checkOptions('bashTool()', options, checks);
  const { sandbox, ask, maxChars = 30_000, permissions } = options;
  const { paths } = workspace;
  if (sandbox.root !== paths.root) {
    const roots = `${JSON.stringify(paths.root)}; received a sandbox with ${JSON.stringify(sandbox.root)}`;
    const message = `bashTool(): "sandbox" must have the root of the workspace, ${roots}.`;
    throw new InvalidOptionError({ owner: 'bashTool()', option: 'sandbox', message });
  }
  const allowWrite = permissions?.allowWrite !== false && paths.permits(paths.root, { for: 'write' });
  // Where a read-only mount enforces the permissions of the workspace, commands need not be recognized as reading.
  const isEnforced = sandbox.canMountReadOnly && permissions?.allowWrite !== false;
  const policy = createBashPolicy({ ...permissions, allowWrite: allowWrite || isEnforced });
  const prelude = restrictedGit({ ...permissions, allowWrite });
  const timeoutMs = Math.min(options.timeoutMs ?? 120_000, sandbox.timeoutMs);
  const input = {
    type: 'object',
    properties: {
      command: { type: 'string', minLength: 1, description: 'The line to run.' },
      cwd: {
        type: 'string',
        description: 'The working directory, relative to the workspace. It applies to one command, and so does cd.',
      },
      timeoutMs: {
        type: 'integer',
        minimum: 1,
        maximum: sandbox.timeoutMs,
        description: `The time limit, in milliseconds; ${timeoutMs} by default.`,
      },
    },
    required: ['command'],
    additionalProperties: false,
  } as const;
  return defineTool({
    name: 'bash',
    description: describe(sandbox),
    input,
    effect: sandbox.isolates.files && sandbox.isolates.network ? 'local-write' : 'destructive',
    // No input tells which files a command reaches: in a sandbox that hides all others, those of the workspace.
    ...(sandbox.isolates.files && { paths: { root: paths.root, read: ['path'], write: ['path'] } }),
    // The sandbox ends the command in time and returns its output; the driver would only report a timeout.
    timeoutMs: sandbox.timeoutMs + marginMs,
    run: async (call, context) => {
      const given = call as unknown as BashInput;
      const cwd = await paths.authorize(given.cwd ?? '.', { for: 'read' });
      await authorize(policy, ask, { command: given.command, cwd, session: context.session });
      const window = outputWindow({ maxChars });
      const end = await sandbox.run({
        argv: ['/bin/sh', '-c', shell, 'sh', prelude + given.command],
        cwd,
        timeoutMs: given.timeoutMs ?? timeoutMs,
        signal: context.signal,
        readOnly: !allowWrite && sandbox.canMountReadOnly,
        onOutput: writeTo(window, context),
      });
      return outcomeOf(end, window.read(), paths.display(cwd));
    },
  });
};

/** The longest time that ending a command takes after its time limit. */
const marginMs = 10_000;

const describe = ({ isolates, mountPath }: Sandbox): string =>
  [
    `Runs a line of shell in the workspace (${mountPath}), without a terminal and with an empty input: use flags instead of prompts.`,
    'Long output is truncated in the middle. Background processes end with the command.',
    ...(isolates.network ? ['There is no network.'] : []),
    ...(isolates.files ? ['Only files of the workspace can be changed.'] : []),
  ].join(' ');

const authorize = async (
  policy: ReturnType<typeof createBashPolicy>,
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
    throw new ToolError(`The command was not run: it needs an approval, and no approver is configured. ${reason}`, {
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
