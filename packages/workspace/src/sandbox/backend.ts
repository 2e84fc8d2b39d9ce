import { lstatSync } from 'node:fs';
import { resolve } from 'node:path';
import { canonicalPath, isInside } from '../paths/canonical.js';
import { checkedEnvironment, type Environment } from '../process/environment.js';
import type { CommandEnd, Sandbox, SandboxCommand, SandboxMode } from './sandbox.js';
import { SandboxError } from './sandbox-error.js';

/** The home folder of commands that are kept from the user's: empty at first, and lost in the end. */
export const temporaryHome = '/tmp/home';

/** A command whose parts were checked and filled in. */
export interface PreparedCommand {
  readonly argv: readonly [string, ...string[]];
  /** A canonical path on this machine. */
  readonly cwd: string;
  readonly environment: Environment;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly onOutput: (chunk: Uint8Array, source: 'stdout' | 'stderr') => void;
}

/** What a mode has to be able to do; {@link sandboxOf} does the rest. */
export interface Backend extends Pick<Sandbox, 'mode' | 'isolates' | 'root' | 'mountPath' | 'timeoutMs'> {
  run(command: PreparedCommand): Promise<Omit<CommandEnd, 'timeoutMs'>>;
  /** Gives back what the sandbox holds. Called once, when no command runs any more. */
  dispose(): Promise<void>;
}

/** Makes a sandbox of a backend: checks commands, keeps count of them, and closes in order. */
export const sandboxOf = (backend: Backend): Sandbox => {
  const { mode, isolates, root, mountPath, timeoutMs } = backend;
  const closing = new AbortController();
  const running = new Set<Promise<unknown>>();
  let closed: Promise<void> | undefined;

  const run = async (command: SandboxCommand): Promise<CommandEnd> => {
    if (closed !== undefined) {
      throw new SandboxError('sandbox-closed', mode, 'The sandbox was closed; create another one.');
    }
    const prepared = prepare(command, backend, closing.signal);
    const end = backend.run(prepared);
    running.add(end);
    try {
      return { ...(await end), timeoutMs: prepared.timeoutMs };
    } finally {
      running.delete(end);
    }
  };

  const close = async (): Promise<void> => {
    closing.abort();
    await Promise.allSettled(running);
    await backend.dispose();
  };

  return { mode, isolates, root, mountPath, timeoutMs, run, close: () => (closed ??= close()) };
};

const prepare = (command: SandboxCommand, backend: Backend, closing: AbortSignal): PreparedCommand => ({
  argv: command.argv,
  cwd: command.cwd === undefined ? backend.root : folderInside(backend.root, command.cwd, backend.mode),
  environment: checkedEnvironment(command.environment ?? {}),
  timeoutMs: Math.min(command.timeoutMs ?? backend.timeoutMs, backend.timeoutMs),
  signal: command.signal === undefined ? closing : AbortSignal.any([command.signal, closing]),
  onOutput: command.onOutput ?? (() => {}),
});

const folderInside = (root: string, cwd: string, mode: SandboxMode): string => {
  const path = canonicalPath(resolve(root, cwd), cwd);
  const isFolder = lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  if (isFolder && isInside(root, path)) return path;
  throw new SandboxError(
    'sandbox-cwd',
    mode,
    `${JSON.stringify(cwd)} is no folder inside the workspace ${JSON.stringify(root)}.`,
  );
};

/** The canonical path of a sandbox's folder. */
export const findRoot = (root: string, mode: SandboxMode): string => {
  const path = canonicalPath(resolve(root), root);
  if (lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true) return path;
  throw new SandboxError('sandbox-start', mode, `The root ${JSON.stringify(root)} is no folder; make it first.`);
};
