import { isAbsolute, resolve } from 'node:path';
import type { ToolCall } from '@h/turn';

/** A line of shell that a tool call would run. */
export interface CommandOfCall {
  readonly command: string;
  /** The folder that it would run in. */
  readonly cwd: string;
}

const commandKeys = ['command', 'cmd', 'commands', 'script'];
const folderKeys = ['cwd', 'workdir', 'working_directory', 'workingDirectory'];

/** The line of shell in a call's input, as the tools of agents name it; `undefined` for calls without one. */
export const commandOfCall = ({ input }: ToolCall, project: string): CommandOfCall | undefined => {
  if (typeof input !== 'object' || input === null) return undefined;
  const values = input as Readonly<Record<string, unknown>>;
  const command = commandKeys.map((key) => lineOf(values[key])).find((line) => line !== undefined);
  if (command === undefined) return undefined;
  const folder = folderKeys.map((key) => values[key]).find((value) => typeof value === 'string');
  return { command, cwd: folder === undefined ? project : isAbsolute(folder) ? folder : resolve(project, folder) };
};

/** A line as it is; words of a program's arguments as a line that means them. */
const lineOf = (value: unknown): string | undefined => {
  if (typeof value === 'string') return value;
  if (!Array.isArray(value) || value.length === 0 || !value.every((word) => typeof word === 'string')) return undefined;
  return value.map(quoted).join(' ');
};

/** A word that the shell leaves as it is. */
export const quoted = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
