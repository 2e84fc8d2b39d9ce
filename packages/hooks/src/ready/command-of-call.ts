import { isAbsolute, resolve } from 'node:path';
import type { ToolCall } from '@h/turn';

/** A shell command that a tool call would run. */
export interface CommandOfCall {
  readonly command: string;
  /** The folder where the command would run. */
  readonly cwd: string;
}

const commandKeys = ['command', 'cmd', 'commands', 'script'];
const folderKeys = ['cwd', 'workdir', 'working_directory', 'workingDirectory'];

/** Returns the shell command in the input of a call, under a common key; `undefined` if there is none. */
export const commandOfCall = ({ input }: ToolCall, project: string): CommandOfCall | undefined => {
  if (typeof input !== 'object' || input === null) return undefined;
  const values = input as Readonly<Record<string, unknown>>;
  const command = commandKeys.map((key) => lineOf(values[key])).find((line) => line !== undefined);
  if (command === undefined) return undefined;
  const folder = folderKeys.map((key) => values[key]).find((value) => typeof value === 'string');
  return { command, cwd: folder === undefined ? project : isAbsolute(folder) ? folder : resolve(project, folder) };
};

/** Returns a command line unchanged, and a list of arguments as a quoted command line. */
const lineOf = (value: unknown): string | undefined => {
  if (typeof value === 'string') return value;
  if (!Array.isArray(value) || value.length === 0 || !value.every((word) => typeof word === 'string')) return undefined;
  return value.map(quoted).join(' ');
};

/** Quotes a word for the shell, if necessary. */
export const quoted = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
