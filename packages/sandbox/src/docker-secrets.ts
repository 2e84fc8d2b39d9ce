import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { InvalidOptionError } from '@h/options';
import type { Environment } from '@h/process';

/** A folder that only this user can enter, for files that exist only while a client reads them. */
export interface SecretFolder {
  readonly path: string;
  /** Calls `use` with a file of these variables, one per line, and removes the file afterwards. */
  withVariables<Result>(environment: Environment, use: (file: string) => Promise<Result>): Promise<Result>;
  remove(): Promise<void>;
}

export const secretFolder = async (): Promise<SecretFolder> => {
  const path = await mkdtemp(join(tmpdir(), 'h-sandbox-'));
  let files = 0;
  return {
    path,
    withVariables: async (environment, use) => {
      files += 1;
      const file = join(path, String(files));
      await writeFile(file, variableLines(environment), { mode: 0o600, flag: 'wx' });
      try {
        return await use(file);
      } finally {
        await rm(file, { force: true });
      }
    },
    remove: () => rm(path, { recursive: true, force: true }),
  };
};

/**
 * Formats variables for `docker --env-file`.
 *
 * @throws InvalidOptionError for a value with a line break, which the format cannot express
 */
export const variableLines = (environment: Environment): string => {
  let lines = '';
  for (const [name, value] of Object.entries(environment)) {
    if (/[\r\n]/.test(value)) {
      const option = `environment.${name}`;
      const message = `"${option}" must not contain a line break, which the mode "docker" cannot pass to the container; use a file instead.`;
      throw new InvalidOptionError({ owner: 'createSandbox()', option, message: `createSandbox(): ${message}` });
    }
    lines += `${name}=${value}\n`;
  }
  return lines;
};
