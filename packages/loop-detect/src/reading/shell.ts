import { commandEffects, type CommandEffect } from '@h/shell/effects';
import { withoutCopies } from './command-text.js';
import { textMember, wordsOf } from './words.js';

/** Words in the names of tools that run a shell command. */
const shellWords: ReadonlySet<string> = new Set([
  'bash',
  'sh',
  'shell',
  'zsh',
  'exec',
  'execute',
  'terminal',
  'command',
  'cmd',
  'powershell',
  'pwsh',
  'console',
]);
const maxLine = 4_000;

/** Returns the shell command of a call; `undefined` for calls of other tools. */
export const shellLineOf = (name: string, input: unknown): string | undefined => {
  if (typeof input !== 'object' || input === null) return undefined;
  const line = textMember(input, 'command') ?? textMember(input, 'cmd') ?? argvOf(input);
  if (line === undefined) return undefined;
  // Editors have a `command` too, of one word.
  const isShell = /\s/.test(line.trim()) || wordsOf(name).some((word) => shellWords.has(word));
  return isShell ? line.slice(0, maxLine) : undefined;
};

const argvOf = (input: object): string | undefined => {
  const argv: unknown = 'command' in input ? input.command : 'cmd' in input ? input.cmd : undefined;
  return Array.isArray(argv) && argv.every((item) => typeof item === 'string') ? argv.join(' ') : undefined;
};

/** Programs that run another program. */
const wrappers: ReadonlySet<string> = new Set([
  'sudo',
  'env',
  'time',
  'nohup',
  'command',
  'exec',
  'timeout',
  'nice',
  'npx',
  'bash',
  'sh',
  'zsh',
]);

/** Returns the commands of a shell call; `undefined` for calls of other tools. Parses the line, so call it once. */
export const effectsOf = (name: string, input: unknown): readonly CommandEffect[] | undefined => {
  const line = shellLineOf(name, input);
  return line === undefined ? undefined : commandEffects(withoutCopies(line));
};

/** Returns the first command of each pipeline as words; the later commands only filter its output. */
export const leadersOf = (effects: readonly CommandEffect[]): readonly (readonly string[])[] =>
  effects
    .filter(({ isFirst, program }) => isFirst && !wrappers.has(program))
    .map(({ program, args }) => [program, ...args]);
