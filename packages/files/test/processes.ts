import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { afterAll, beforeAll, onTestFinished } from 'vitest';

/** A process that runs `child.ts`. */
export interface Child {
  readonly process: ChildProcess;
  readonly reports: Record<string, unknown>[];
  readonly ended: Promise<unknown>;
  /** Resolves when a report has this key or the process has ended. */
  reported(key: string): Promise<boolean>;
}

/** Bundles `child.ts` once for a test file. @returns a function that starts it */
export const childProcesses = (): ((work: string, ...given: (string | number)[]) => Child) => {
  const folder = mkdtempSync(join(tmpdir(), 'h-files-child-'));
  const outfile = join(folder, 'child.cjs');
  beforeAll(async () => {
    await build({
      entryPoints: [fileURLToPath(new URL('child.ts', import.meta.url))],
      outfile,
      bundle: true,
      platform: 'node',
      format: 'cjs',
      target: 'node20',
      conditions: ['@h/source'],
      logLevel: 'silent',
    });
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return (work, ...given) => start([outfile, work, ...given.map(String)]);
};

const start = (command: readonly string[]): Child => {
  const child = spawn(process.execPath, command, { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  const reports: Record<string, unknown>[] = [];
  const lines = createInterface({ input: child.stdout });
  lines.on('line', (line) => reports.push(JSON.parse(line) as Record<string, unknown>));
  const ended = once(child, 'close');
  const reported = async (key: string): Promise<boolean> => {
    const isReported = (): boolean => reports.some((report) => key in report);
    while (!isReported() && child.exitCode === null && child.signalCode === null) {
      await Promise.race([once(lines, 'line'), ended]);
    }
    return isReported();
  };
  return { process: child, reports, ended, reported };
};
