import { captureProcess } from '@h/process';

const timeoutMs = 5_000;

/** Returns the output of git for these arguments; `undefined` if git fails. */
const ask = async (folder: string, args: readonly string[], signal: AbortSignal): Promise<string | undefined> => {
  try {
    const { exitCode, stdout } = await captureProcess({
      command: ['git', '-C', folder, ...args],
      environment: { PATH: process.env['PATH'], HOME: process.env['HOME'] },
      timeoutMs,
      signal,
    });
    return exitCode === 0 ? stdout.toString() : undefined;
  } catch {
    return undefined;
  }
};

/** Returns the current branch of a folder; `undefined` if there is no branch or no repository. */
export const currentBranch = async (folder: string, signal: AbortSignal): Promise<string | undefined> =>
  (await ask(folder, ['symbolic-ref', '--quiet', '--short', 'HEAD'], signal))?.trim() || undefined;

/** Returns the git aliases that apply in a folder, by name. */
export const gitAliases = async (folder: string, signal: AbortSignal): Promise<ReadonlyMap<string, string>> => {
  const text = (await ask(folder, ['config', '-z', '--get-regexp', '^alias[.]'], signal)) ?? '';
  return new Map(
    text.split('\0').flatMap((entry) => {
      const end = entry.indexOf('\n');
      return end === -1 ? [] : [[entry.slice('alias.'.length, end), entry.slice(end + 1)] as const];
    }),
  );
};
