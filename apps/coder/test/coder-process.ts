import { spawn } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { access } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { onTestFinished, vi } from 'vitest';

/** The app as it is published. */
export const builtMain = fileURLToPath(new URL('../dist/main.js', import.meta.url));

/** The app that the tests start: a bundle of the built one, or the build that `H_CODER_MAIN` names. */
export const main = process.env['H_CODER_MAIN'] ?? builtMain;

await access(main).catch(() => {
  throw new Error('apps/coder is not built. Run "pnpm run build" first.');
});

// Starting a process takes a second, and many seconds on a busy machine.
vi.setConfig({ testTimeout: 120_000 });

/** Options of {@link startCoder}. */
export interface Start {
  readonly words?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

/** The result of a process. */
export interface Finished {
  /** The exit code, or the name of the signal that ended it. */
  readonly code: number | string;
  readonly stdout: string;
  readonly stderr: string;
}

/** A running process. */
export interface Running {
  readonly pid: number;
  readonly finished: Promise<Finished>;
  /** Resolves once the output contains `text`. */
  said(text: string | RegExp): Promise<void>;
  /** The output so far, of both streams. */
  output(): string;
  /** Writes to standard input. */
  type(text: string): void;
  /** Closes standard input. */
  end(): void;
  /** Closes the reading end of standard output. */
  stopReading(): void;
  /** Sends a signal to the process group, as a terminal does. */
  signal(signal: NodeJS.Signals): void;
}

const home = mkdtempSync(join(tmpdir(), 'coder-home-'));

/** The environment of a user without keys and settings. */
export const bareEnvironment = (): Record<string, string> => ({
  PATH: process.env['PATH'] ?? '',
  HOME: home,
  TMPDIR: process.env['TMPDIR'] ?? '/tmp',
  TERM: 'xterm-256color',
});

/** Starts a program in its own process group and ends it with the test. */
export const startProgram = (
  command: string,
  words: readonly string[],
  { environment = {}, cwd }: Start = {},
): Running => {
  const child = spawn(command, words, {
    cwd,
    env: { ...bareEnvironment(), ...environment },
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const { pid } = child;
  if (pid === undefined) throw new Error(`${command} could not be started.`);
  const written = { stdout: '', stderr: '' };
  let changed = (): void => undefined;
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => {
      written[name] += text;
      changed();
    });
  }
  child.stdin.on('error', () => undefined);
  const finished = new Promise<Finished>((resolve) => {
    child.once('close', (code, signal) => resolve({ code: code ?? signal ?? -1, ...written }));
  });
  const signal = (name: NodeJS.Signals): void => {
    try {
      process.kill(-pid, name);
    } catch {
      // The process has already ended.
    }
  };
  onTestFinished(async () => {
    signal('SIGKILL');
    await finished;
  });
  const said = (text: string | RegExp): Promise<void> =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        const output = written.stdout + written.stderr;
        if (typeof text === 'string' ? output.includes(text) : text.test(output)) resolve();
      };
      changed = look;
      void finished.then(() => {
        look();
        reject(new Error(`The process ended without the output ${String(text)}: ${written.stdout}${written.stderr}`));
      });
      look();
    });
  return {
    pid,
    finished,
    said,
    output: () => written.stdout + written.stderr,
    type: (text) => void child.stdin.write(text),
    end: () => void child.stdin.end(),
    stopReading: () => void child.stdout.destroy(),
    signal,
  };
};

/** Starts the app. */
export const startCoder = ({ words = [], ...start }: Start = {}): Running =>
  startProgram(process.execPath, [main, ...words], start);

/** Runs the app to its end. */
export const runCoder = (start: Start = {}): Promise<Finished> => startCoder(start).finished;
