import { readShellLine, type ShellCommand, type ShellWord } from './shell-line.js';

/** What a line really runs, commands behind other commands included. */
export type EffectiveCommands =
  | { readonly ok: true; readonly commands: readonly ShellCommand[] }
  | { readonly ok: false; readonly problem: string };

/** How a program that runs another one reads its own arguments. */
interface Wrapper {
  /** Short options with a value. */
  readonly values?: string;
  /** Long options without one; of others nobody knows where the command begins. */
  readonly flags?: readonly string[];
  /** How many arguments come before the command. */
  readonly skips?: number;
  /** Short options whose value is itself a command line. */
  readonly lines?: string;
}

const wrappers: Readonly<Record<string, Wrapper>> = {
  builtin: {},
  busybox: {},
  chroot: { skips: 1 },
  command: {},
  doas: { values: 'uC' },
  env: { values: 'uC', flags: ['--ignore-environment', '--null', '--debug'], lines: 'S' },
  exec: { values: 'a' },
  flock: { values: 'wE', skips: 1, flags: ['--exclusive', '--shared', '--nonblock', '--unlock'], lines: 'c' },
  ionice: { values: 'cnpPu' },
  nice: { values: 'n' },
  nohup: {},
  setsid: { flags: ['--fork', '--wait', '--ctty'] },
  stdbuf: { values: 'ioe' },
  sudo: { values: 'ugpChrRtTDU', flags: ['--non-interactive', '--preserve-env', '--login', '--stdin', '--background'] },
  time: { values: 'fo', flags: ['--portability', '--verbose', '--append', '--quiet'] },
  timeout: { values: 'ks', flags: ['--foreground', '--preserve-status', '--verbose'], skips: 1 },
  toybox: {},
  xargs: {
    values: 'aEILlnPsd',
    flags: ['--null', '--no-run-if-empty', '--verbose', '--exit', '--open-tty', '--interactive'],
  },
};

const shells: ReadonlySet<string> = new Set(['sh', 'bash', 'dash', 'zsh', 'ksh', 'ash']);

const findActions: ReadonlySet<string> = new Set(['-exec', '-execdir', '-ok', '-okdir']);

/** Commands that run commands that run commands: more of that is nobody's line. */
const maxDepth = 8;

/** A line with more commands than this is a program. */
const maxCommands = 2_000;

/** The name of a program without its folder. */
export const programName = (path: string): string => path.slice(path.lastIndexOf('/') + 1);

/** All commands that a line runs, also through `env`, `sudo`, `xargs`, `find -exec`, `eval`, `bash -c` and their like. */
export const effectiveCommands = (line: string, depth = 0): EffectiveCommands => {
  const read = readShellLine(line);
  if (!read.ok) return read;
  return expandAll(read.commands, depth);
};

const expandAll = (commands: readonly ShellCommand[], depth: number): EffectiveCommands => {
  if (depth > maxDepth) return { ok: false, problem: 'its commands run each other too deeply' };
  const all: ShellCommand[] = [];
  for (const command of commands) {
    const inner = expand(command, depth);
    if (!inner.ok) return inner;
    all.push(command, ...inner.commands);
    if (all.length > maxCommands) return { ok: false, problem: `it holds more than ${maxCommands} commands` };
  }
  return { ok: true, commands: all };
};

const none: EffectiveCommands = { ok: true, commands: [] };

const expand = ({ words: [first, ...args] }: ShellCommand, depth: number): EffectiveCommands => {
  const name = first?.value === undefined ? undefined : programName(first.value);
  if (name === undefined) return none;
  if (name === 'eval') return expandText(args, depth);
  if (name === 'find') return expandAll(findCommands(args), depth + 1);
  if (shells.has(name)) return expandShell(args, depth);
  const wrapper = Object.hasOwn(wrappers, name) ? wrappers[name] : undefined;
  return wrapper === undefined ? none : expandWrapper(name, wrapper, args, depth);
};

const expandText = (words: readonly ShellWord[], depth: number): EffectiveCommands => {
  const texts = words.map(({ value }) => value);
  if (texts.includes(undefined)) return { ok: false, problem: 'it runs text that is only known when it runs' };
  return effectiveCommands(texts.join(' '), depth + 1);
};

/** `bash -c text`, with other options before; a script in a file is its own command. */
const expandShell = (args: readonly ShellWord[], depth: number): EffectiveCommands => {
  const option = args.findIndex(
    ({ value, start }) => value === undefined || !/^[-+]/.test(start) || /^-[A-Za-z]*c/.test(start),
  );
  const word = args[option];
  if (word === undefined) return none;
  if (word.value === undefined) return { ok: false, problem: 'it runs text that is only known when it runs' };
  if (!/^-[A-Za-z]*c/.test(word.value)) return none;
  const text = args.slice(option + 1).find(({ start }) => !start.startsWith('-'));
  return text === undefined ? none : expandText([text], depth);
};

const findCommands = (args: readonly ShellWord[]): readonly ShellCommand[] => {
  const commands: ShellCommand[] = [];
  for (let index = 0; index < args.length; index += 1) {
    if (!findActions.has(args[index]?.value ?? '')) continue;
    const start = index + 1;
    while (index < args.length && !/^[;+]$/.test(args[index]?.value ?? '')) index += 1;
    commands.push({ words: args.slice(start, index), assigns: [], writesTo: [] });
  }
  return commands;
};

const expandWrapper = (
  name: string,
  wrapper: Wrapper,
  args: readonly ShellWord[],
  depth: number,
): EffectiveCommands => {
  const unknown: EffectiveCommands = { ok: false, problem: `where the command of ${name} begins cannot be told` };
  const assigns: string[] = [];
  let skips = wrapper.skips ?? 0;
  for (let index = 0; index < args.length; index += 1) {
    const { value, start } = args[index] as ShellWord;
    const [, assigned] = /^([A-Za-z_]\w*)\+?=/.exec(start) ?? [];
    if (start.startsWith('--') && value !== '--') {
      const isClear =
        value !== undefined &&
        (wrapper.flags?.includes(value) === true || (value.includes('=') && wrapper.lines === undefined));
      if (!isClear) return unknown;
    } else if (start.startsWith('-') && start !== '-' && value !== '--') {
      if (value === undefined) return unknown;
      if (wrapper.lines !== undefined && value.includes(wrapper.lines)) return unknown;
      if (takesNext(value, wrapper.values ?? '')) index += 1;
    } else if (assigned !== undefined) {
      assigns.push(assigned);
    } else if (value === '--' || value === '-') {
      continue;
    } else if (skips > 0) {
      skips -= 1;
    } else {
      return expandAll([{ words: args.slice(index), assigns, writesTo: [] }], depth + 1);
    }
  }
  return none;
};

/** Whether the value of a cluster of short options is the next word: `-n 5`, not `-n5`. */
const takesNext = (cluster: string, values: string): boolean => {
  for (let index = 1; index < cluster.length; index += 1) {
    if (values.includes(cluster.charAt(index))) return index === cluster.length - 1;
  }
  return false;
};
