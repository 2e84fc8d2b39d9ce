import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { build, type Plugin } from 'esbuild';
import { onTestFinished, vi } from 'vitest';

/** Bundles the worker with its packages into one file. */
export const bundleWorker = async (outfile: string): Promise<void> => {
  await build({
    entryPoints: [fileURLToPath(new URL('worker.ts', import.meta.url))],
    outfile,
    bundle: true,
    minify: true,
    format: 'esm',
    banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
    platform: 'node',
    target: 'node20',
    conditions: ['@h/source'],
    plugins: [withoutTestRunner],
    logLevel: 'silent',
  });
};

/** Excludes the test runner, which unused test code imports. */
const withoutTestRunner: Plugin = {
  name: 'without-test-runner',
  setup: (bundler) =>
    bundler.onResolve({ filter: /^vitest$/ }, ({ path }) => ({ path, external: true, sideEffects: false })),
};

/** A worker in its own process. */
export interface WorkerProcess {
  readonly lines: () => readonly string[];
  /** Resolves when the worker has printed this text. */
  said(line: string): Promise<void>;
  /** Kills the worker with SIGKILL. */
  kill(): Promise<void>;
  /** Waits until the worker has ended. @returns the printed lines */
  ended(): Promise<readonly string[]>;
}

export const startWorker = (script: string, ...args: readonly string[]): WorkerProcess => {
  const child: ChildProcess = spawn(process.execPath, [script, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  let text = '';
  child.stdout?.on('data', (chunk: Buffer) => {
    text += chunk.toString();
  });
  const closed = once(child, 'close');
  const lines = (): readonly string[] => text.split('\n').slice(0, -1);
  return {
    lines,
    said: (line) => vi.waitUntil(() => lines().includes(line), { timeout: 60_000, interval: 10 }).then(() => undefined),
    kill: async () => {
      child.kill('SIGKILL');
      await closed;
    },
    ended: async () => {
      await closed;
      return lines();
    },
  };
};
