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
  const isShell = wordsOf(name).some((word) => shellWords.has(word));
  const line = textMember(input, 'command') ?? textMember(input, 'cmd') ?? argvOf(input);
  // Editors have a `command` too, of one word.
  return line !== undefined && (isShell || /\s/.test(line.trim())) ? line.slice(0, maxLine) : undefined;
};

const argvOf = (input: object): string | undefined => {
  const argv: unknown = 'command' in input ? input.command : 'cmd' in input ? input.cmd : undefined;
  return Array.isArray(argv) && argv.every((item) => typeof item === 'string') ? argv.join(' ') : undefined;
};

/** Words that stand before the command that counts. */
const carriers: ReadonlySet<string> = new Set([
  'sudo',
  'env',
  'time',
  'nohup',
  'command',
  'exec',
  'timeout',
  'nice',
  'npx',
  'then',
  'do',
  'else',
  'if',
  'while',
  '!',
  '{',
  '(',
  'bash',
  'sh',
  'zsh',
  '-lc',
  '-c',
]);

/** The commands of a line of shell, each as its words. A rough cut: enough to know verbs, not enough to allow anything. */
export const commandsOf = (line: string): readonly (readonly string[])[] =>
  line.split(/&&|[|;&\n]/).map(wordsOfCommand);

/** The first command of each pipeline: what the rest only filters. */
export const leadersOf = (line: string): readonly (readonly string[])[] =>
  line.split(/&&|\|\||[;\n]/).map((pipeline) => wordsOfCommand(pipeline.split('|', 1)[0] ?? ''));

const wordsOfCommand = (command: string): readonly string[] => {
  const words = command
    .replaceAll(/["'`]|\$\(/g, ' ')
    .split(/\s+/)
    .filter((word) => word !== '');
  let first = 0;
  while (isCarrier(words[first] ?? '')) first += 1;
  return words.slice(first);
};

const isCarrier = (word: string): boolean =>
  carriers.has(word) || /^[A-Za-z_]\w*=/.test(word) || /^\d{1,9}[smh]?$/.test(word);
