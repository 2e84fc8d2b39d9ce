import { execFile } from 'node:child_process';

const timeoutMs = 5_000;

/** The branch that a folder is on; `undefined` where there is none, or no repository. */
export const currentBranch = (folder: string, signal: AbortSignal): Promise<string | undefined> =>
  new Promise((resolve) => {
    execFile(
      'git',
      ['-C', folder, 'symbolic-ref', '--quiet', '--short', 'HEAD'],
      { signal, timeout: timeoutMs, env: { PATH: process.env['PATH'] } },
      (error, stdout) => {
        resolve(error === null ? stdout.trim() || undefined : undefined);
      },
    );
  });
