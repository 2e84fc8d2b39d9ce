import { join, resolve } from 'node:path';
import type { StationArguments } from '../arguments.js';
import { explainConfig } from './explain.js';
import { initStation } from './template.js';

/**
 * Runs `init [folder]`, which writes a configuration, or `check [file]`, which explains one.
 *
 * @returns the exit code: 1 if the configuration has problems; `undefined` for other commands
 */
export const runConfigCommand = async (
  { command, name }: Pick<StationArguments, 'command' | 'name'>,
  environment: Readonly<Record<string, string | undefined>>,
  { say, warn }: { readonly say: (text: string) => void; readonly warn: (text: string) => void },
): Promise<number | undefined> => {
  if (command === 'init') {
    for (const file of await initStation(resolve(name || '.'))) say(`Wrote ${file}`);
    return 0;
  }
  if (command !== 'check') return undefined;
  const { lines, problems, warnings } = explainConfig(resolve(name || join('.', 'config.yaml')), environment);
  for (const line of lines) say(line);
  for (const warning of warnings) warn(`warning: ${warning}`);
  for (const problem of problems) warn(problem);
  return problems.length === 0 ? 0 : 1;
};
