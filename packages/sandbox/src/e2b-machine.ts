import { CommandExitError, Sandbox as Machine, type CommandHandle } from 'e2b';
import { later, realTime } from '@h/options';
import { escalate, graceMs, nonInteractive, signalOf, stepMs, supervised, type ProcessEnd } from '@h/process';
import { findRoot, sandboxOf, type PreparedCommand } from './backend.js';
import { mirrorFiles, quoted, type FileMirror } from './e2b-files.js';
import type { CheckedOptions } from './options.js';
import type { CommandEnd, Sandbox } from './sandbox.js';
import { SandboxError } from './sandbox-error.js';

/** Maximum output of a command, because the SDK stores all of it in memory. */
const maxOutputBytes = 64 * 1024 ** 2;

/**
 * Runs commands in a virtual machine of e2b.dev, on a copy of the workspace.
 *
 * If this process is killed, the machine ends after `lifetimeMs`.
 *
 * @throws SandboxError if the machine cannot be started
 */
export const e2bSandbox = async (options: CheckedOptions<'e2b'>): Promise<Sandbox> => {
  const root = findRoot(options.root, 'e2b');
  const { mountPath, network, timeoutMs } = options;
  const machine = await startMachine(options);
  try {
    const mirror = await connectFiles(machine, root, options);
    return sandboxOf({
      mode: 'e2b',
      isolates: { files: true, network: !network },
      canMountReadOnly: false,
      root,
      mountPath,
      timeoutMs,
      run: commandRunner(machine, mirror, (cwd) => mountPath + cwd.slice(root.length)),
      dispose: async () => {
        await machine.kill();
      },
    });
  } catch (error) {
    await machine.kill().catch(() => false);
    throw error;
  }
};

const startMachine = async ({
  image,
  network,
  lifetimeMs,
  environment,
  apiKey,
  apiUrl,
  sandboxUrl,
}: CheckedOptions<'e2b'>): Promise<Machine> => {
  const options = {
    timeoutMs: lifetimeMs,
    allowInternetAccess: network,
    envs: { ...nonInteractive, ...environment },
    ...(apiKey !== undefined && { apiKey }),
    ...(apiUrl !== undefined && { apiUrl }),
    ...(sandboxUrl !== undefined && { sandboxUrl }),
  };
  try {
    return await (image === undefined ? Machine.create(options) : Machine.create(image, options));
  } catch (error) {
    throw new SandboxError('sandbox-start', 'e2b', `The machine could not be started: ${messageOf(error)}`, {
      cause: error,
    });
  }
};

/** Returns the message of any thrown value, even if reading it fails. */
const messageOf = (error: unknown): string => {
  try {
    return String((error as { readonly message?: unknown } | undefined)?.message ?? error);
  } catch {
    return 'unknown error';
  }
};

/** Copies files, one operation at a time. */
const connectFiles = async (
  machine: Machine,
  root: string,
  { mountPath, exclude }: CheckedOptions<'e2b'>,
): Promise<FileMirror> => {
  await machine.commands.run(`mkdir -p -- ${quoted(mountPath)}`);
  const mirror = mirrorFiles(root, mountPath, exclude, {
    shell: async (line) => (await machine.commands.run(line, { cwd: mountPath, timeoutMs: 0 })).stdout,
    write: async (files) => void (await machine.files.write([...files], { useOctetStream: true })),
    read: (path) => machine.files.read(path, { format: 'bytes' }),
  });
  let last: Promise<unknown> = Promise.resolve();
  const inTurn = (work: () => Promise<void>) => (): Promise<void> => {
    const result = last.then(work).catch((error: unknown) => {
      throw error instanceof SandboxError
        ? error
        : new SandboxError('sandbox-failed', 'e2b', `Files could not be copied: ${messageOf(error)}`, { cause: error });
    });
    last = result.catch(() => undefined);
    return result;
  };
  return { push: inTurn(() => mirror.push()), pull: inTurn(() => mirror.pull()) };
};

const commandRunner =
  (machine: Machine, mirror: FileMirror, pathInside: (path: string) => string) =>
  async ({
    argv,
    cwd,
    environment,
    timeoutMs,
    signal,
    onOutput,
  }: PreparedCommand): Promise<Omit<CommandEnd, 'timeoutMs'>> => {
    if (signal.aborted) return { ending: 'aborted', exitCode: null, signal: null, durationMs: 0 };
    await mirror.push();
    const startedAt = monotonicMs();
    const flood = new AbortController();
    let bytes = 0;
    const take = (source: 'stdout' | 'stderr') => (text: string) => {
      const chunk = new TextEncoder().encode(text);
      bytes += chunk.length;
      onOutput(chunk, source);
      if (bytes > maxOutputBytes) flood.abort();
    };
    const end = await runToEnd(machine, AbortSignal.any([signal, flood.signal]), timeoutMs, {
      // Empty folders are not copied.
      line: `mkdir -p -- ${quoted(pathInside(cwd))} && cd -- ${quoted(pathInside(cwd))} && exec ${supervised(argv).map(quoted).join(' ')}`,
      envs: { ...environment },
      onStdout: take('stdout'),
      onStderr: take('stderr'),
    });
    await mirror.pull();
    if (flood.signal.aborted) {
      throw new SandboxError(
        'sandbox-failed',
        'e2b',
        `The command was ended because it wrote more than ${maxOutputBytes} bytes.`,
      );
    }
    return { ...end, durationMs: Math.round(monotonicMs() - startedAt) };
  };

interface RemoteCommand {
  readonly line: string;
  readonly envs: Record<string, string>;
  onStdout(text: string): void;
  onStderr(text: string): void;
}

const runToEnd = async (
  machine: Machine,
  signal: AbortSignal,
  timeoutMs: number,
  { line, ...command }: RemoteCommand,
): Promise<Omit<ProcessEnd, 'durationMs'>> => {
  try {
    const handle = await machine.commands.run(line, { ...command, background: true, stdin: true, timeoutMs: 0 });
    return await watch(handle, signal, timeoutMs);
  } catch (error) {
    throw new SandboxError('sandbox-failed', 'e2b', `The machine does not respond: ${messageOf(error)}`, {
      cause: error,
    });
  }
};

/** The exit code of a shell after SIGKILL; the machine only reports that there is no exit code. */
const killedCode = 137;

const watch = (
  handle: CommandHandle,
  signal: AbortSignal,
  timeoutMs: number,
): Promise<Omit<ProcessEnd, 'durationMs'>> =>
  new Promise((resolve, reject) => {
    let ending: ProcessEnd['ending'] = 'exited';
    let stopEscalation = (): void => {};
    const attempt = (step: Promise<unknown>): void => void step.catch(() => {}); // The next step is stronger.
    const end = (reason: ProcessEnd['ending']): void => {
      if (ending !== 'exited') return;
      ending = reason;
      attempt(handle.sendStdin('TERM\n'));
      stopEscalation = escalate([
        { afterMs: graceMs, act: () => attempt(handle.closeStdin()) },
        { afterMs: stepMs, act: () => attempt(handle.kill()) },
        { afterMs: stepMs, act: () => settle(() => resolve({ ending, exitCode: null, signal: null })) },
      ]);
    };
    const onAbort = (): void => end('aborted');
    const stopTimer = later(realTime, timeoutMs, () => end('timed-out'));
    const settle = (finish: () => void): void => {
      stopTimer();
      stopEscalation();
      signal.removeEventListener('abort', onAbort);
      attempt(handle.disconnect());
      finish();
    };
    const exited = (code: number): void => {
      const exitCode = code < 0 ? killedCode : code;
      settle(() => resolve({ ending, exitCode, signal: signalOf(exitCode) }));
    };
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) onAbort();
    handle.wait().then(
      ({ exitCode }) => exited(exitCode),
      (error: unknown) => {
        if (error instanceof CommandExitError) exited(error.exitCode);
        else settle(() => reject(error instanceof Error ? error : new Error(messageOf(error))));
      },
    );
  });

/** Milliseconds of a monotonic clock. */
const monotonicMs = (): number =>
  // oxlint-disable-next-line h/no-clock -- the duration of a real process can only be measured
  performance.now();
