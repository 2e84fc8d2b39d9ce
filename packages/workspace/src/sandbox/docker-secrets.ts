import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { InvalidInputError } from '@h/turn';
import type { Environment } from '../process/environment.js';
import { freshId } from '../process/machine.js';

/** A folder that only this user can enter, for files that live as long as a client needs to read them. */
export interface SecretFolder {
  readonly path: string;
  /** Calls back with a file of these variables, one a line, and removes it afterwards. */
  withVariables<Result>(environment: Environment, use: (file: string) => Promise<Result>): Promise<Result>;
  remove(): Promise<void>;
}

export const secretFolder = async (): Promise<SecretFolder> => {
  const path = await mkdtemp(join(tmpdir(), 'h-sandbox-'));
  return {
    path,
    withVariables: async (environment, use) => {
      const file = join(path, freshId());
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
 * The format of `docker --env-file`.
 *
 * @throws InvalidInputError for a value with a line break, which the format cannot hold.
 */
export const variableLines = (environment: Environment): string => {
  let lines = '';
  for (const [name, value] of Object.entries(environment)) {
    if (/[\r\n]/.test(value)) {
      throw new InvalidInputError(
        `environment: the value of ${name} has a line break, which the mode "docker" cannot pass on; put it into a file of the workspace.`,
      );
    }
    lines += `${name}=${value}\n`;
  }
  return lines;
};
