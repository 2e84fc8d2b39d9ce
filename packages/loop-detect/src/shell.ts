import { commandEffects } from '@h/shell/effects';
import { textMember, wordsOf } from './words.js';

/** Words in the names of tools that run a line of shell. */
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

/** The line of shell that a call runs; `undefined` for calls of other tools. */
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

/** Programs that only run another one. */
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

/** The first command of each pipeline in a line, as words: the rest only filters its output. */
export const leadersOf = (line: string): readonly (readonly string[])[] =>
  commandEffects(line)
    .filter(({ isFirst, program }) => isFirst && !wrappers.has(program))
    .map(({ program, args }) => [program, ...args]);
