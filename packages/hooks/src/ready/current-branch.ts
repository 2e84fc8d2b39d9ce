import { captureProcess } from '@h/process';

const timeoutMs = 5_000;

/** Returns the branch that is checked out in a folder; `undefined` if there is none, or no repository. */
export const currentBranch = async (folder: string, signal: AbortSignal): Promise<string | undefined> => {
  try {
    const { exitCode, stdout } = await captureProcess({
      command: ['git', '-C', folder, 'symbolic-ref', '--quiet', '--short', 'HEAD'],
      environment: { PATH: process.env['PATH'] },
      timeoutMs,
      signal,
    });
    return exitCode === 0 ? stdout.toString().trim() || undefined : undefined;
  } catch {
    return undefined;
  }
};
