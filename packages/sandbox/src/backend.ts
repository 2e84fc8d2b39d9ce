import { lstatSync } from 'node:fs';
import { resolve } from 'node:path';
import { canonicalPath, isInside } from '@h/paths';
import { checkEnvironment, type Environment } from '@h/process';
import type { CommandEnd, Sandbox, SandboxCommand, SandboxMode } from './sandbox.js';
import { SandboxError } from './sandbox-error.js';

/** The home folder of isolated commands: empty at the start, and discarded at the end. */
export const temporaryHome = '/tmp/home';

/** A checked command, with defaults. */
export interface PreparedCommand {
  readonly argv: readonly [string, ...string[]];
  /** A canonical path on this machine. */
  readonly cwd: string;
  readonly environment: Environment;
  readonly timeoutMs: number;
  readonly readOnly: boolean;
  readonly signal: AbortSignal;
  readonly onOutput: (chunk: Uint8Array, source: 'stdout' | 'stderr') => void;
}

/** What a mode implements; {@link sandboxOf} does the rest. */
export interface Backend extends Pick<
  Sandbox,
  'mode' | 'isolates' | 'canMountReadOnly' | 'root' | 'mountPath' | 'timeoutMs'
> {
  run(command: PreparedCommand): Promise<Omit<CommandEnd, 'timeoutMs'>>;
  /** Releases the resources of the sandbox. Called once, when no command is running. */
  dispose(): Promise<void>;
}

/** Turns a backend into a sandbox: checks commands, tracks them, and closes in order. */
export const sandboxOf = (backend: Backend): Sandbox => {
  const { mode, isolates, canMountReadOnly, root, mountPath, timeoutMs } = backend;
  const closing = new AbortController();
  const running = new Set<Promise<unknown>>();
  let closed: Promise<void> | undefined;

  const run = async (command: SandboxCommand): Promise<CommandEnd> => {
    if (closed !== undefined) {
      throw new SandboxError('sandbox-closed', mode, 'The sandbox is closed; create another one.');
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

  return { mode, isolates, canMountReadOnly, root, mountPath, timeoutMs, run, close: () => (closed ??= close()) };
};

const prepare = (command: SandboxCommand, backend: Backend, closing: AbortSignal): PreparedCommand => ({
  readOnly: checkReadOnly(command, backend),
  argv: command.argv,
  cwd: command.cwd === undefined ? backend.root : folderInside(backend.root, command.cwd, backend.mode),
  environment: checkEnvironment('sandbox.run()', command.environment ?? {}),
  timeoutMs: Math.min(command.timeoutMs ?? backend.timeoutMs, backend.timeoutMs),
  signal: command.signal === undefined ? closing : AbortSignal.any([command.signal, closing]),
  onOutput: command.onOutput ?? (() => {}),
});

const checkReadOnly = ({ readOnly = false }: SandboxCommand, { canMountReadOnly, mode }: Backend): boolean => {
  if (!readOnly || canMountReadOnly) return readOnly;
  throw new SandboxError(
    'sandbox-read-only',
    mode,
    `The sandbox mode "${mode}" cannot mount the workspace read-only; use "bubblewrap" or "docker".`,
  );
};

const folderInside = (root: string, cwd: string, mode: SandboxMode): string => {
  const path = canonicalPath(resolve(root, cwd), cwd);
  const isFolder = lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  if (isFolder && isInside(root, path)) return path;
  throw new SandboxError(
    'sandbox-cwd',
    mode,
    `${JSON.stringify(cwd)} is not a folder inside the workspace ${JSON.stringify(root)}.`,
  );
};

/** Returns the canonical path of a sandbox's folder. */
export const findRoot = (root: string, mode: SandboxMode): string => {
  const path = canonicalPath(resolve(root), root);
  if (lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true) return path;
  throw new SandboxError('sandbox-start', mode, `The root ${JSON.stringify(root)} is not a folder; create it first.`);
};
