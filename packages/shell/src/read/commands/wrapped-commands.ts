import { entryOf } from './engines.js';
import { isWhollyUnknown, known, type Field } from '../words/field.js';
import { ofInput, ofText, type Inner } from './inner.js';
import type { Input } from '../words/known-output.js';
import { isWrapper, wrappers, type Wrapper } from './wrappers.js';

/** Maximum number of words before a command that are searched for variables. */
const maxVariables = 20;

/** What a wrapper such as `sudo`, `env` or `docker exec` runs. */
export const ofWrapper = (name: string, args: readonly Field[], input: Input | undefined): readonly Inner[] => {
  const found = Object.hasOwn(wrappers, name) ? wrappers[name] : undefined;
  if (found === undefined) return [];
  const [wrapper, rest] = isWrapper(found) ? [found, args] : subcommand(found, args);
  if (wrapper === undefined) return [];
  const { commands: possible, lines } = wrappedCommands(wrapper, rest);
  // Of several words that may be the program, one that is unknown is rather the value of an option.
  const likely = possible.filter(([first]) => first !== undefined && !isWhollyUnknown(first.text));
  const commands = likely.length > 0 ? likely : possible;
  const split = name === 'env' ? rest.flatMap(splitString) : [];
  const folder = name === 'env' || name === 'sudo' ? folderOf(rest) : undefined;
  const isShell =
    /^(?:sudo|doas)$/.test(name) && rest.some(({ text }) => /^-[a-zA-Z]*[si]$|^--(?:shell|login)$/.test(text));
  return [
    // With -s or -i the arguments are data, and without any the shell reads its input.
    ...(isShell
      ? commands.length === 0
        ? ofInput(input)
        : commands.slice(0, 1).flatMap((argv) => ofText(joined(argv), { isGuess: true }))
      : []),
    ...commands.map((argv): Inner => ({ kind: 'command', argv, folder, variables: variablesIn(rest) })),
    // The operand of `exec` is the name of a container, not that of an image.
    ...(args.at(-rest.length - 1)?.text === 'exec' ? [] : entryOf(name, rest, commands)),
    ...[...lines, ...split].flatMap((line) => ofText(line, {})),
  ];
};

/** `env NAME=value command` */
const variablesIn = (args: readonly Field[]): ReadonlyMap<string, string> =>
  new Map(
    args.slice(0, maxVariables).flatMap(({ text }) => {
      const [, name, value = ''] = /^([A-Za-z_]\w*)=(.*)$/s.exec(text) ?? [];
      return name === undefined ? [] : [[name, value] as const];
    }),
  );

/** `env -C folder` */
const folderOf = (args: readonly Field[]): string | undefined => {
  for (const [index, { text }] of args.entries()) {
    const [, inline] = /^(?:-[CD]|--chdir=)(.+)$/.exec(text) ?? [];
    if (inline !== undefined) return inline;
    if (/^(?:-[CD]|--chdir)$/.test(text)) return args[index + 1]?.text;
    if (!text.startsWith('-') && !text.includes('=')) return undefined;
  }
  return undefined;
};

/** `env -S'rm -rf /'` in one word. */
const splitString = (field: Field): readonly Field[] =>
  /^-[a-z]*S./.test(field.text) ? [{ ...field, text: field.text.replace(/^-[a-z]*S/, '') }] : [];

const subcommand = (
  table: Readonly<Record<string, Wrapper>>,
  args: readonly Field[],
): readonly [Wrapper | undefined, readonly Field[]] => {
  for (const [index, { text }] of args.entries()) {
    if (Object.hasOwn(table, text)) return [table[text], args.slice(index + 1)];
    const pair = `${text} ${args[index + 1]?.text ?? ''}`;
    if (Object.hasOwn(table, pair)) return [table[pair], args.slice(index + 2)];
    if (index >= 6) break;
  }
  return [undefined, []];
};

/** What a wrapper may run: commands and shell lines. */
export interface Wrapped {
  readonly commands: readonly (readonly Field[])[];
  readonly lines: readonly Field[];
}

/** Maximum number of words that are tried as the command after unknown options. */
const maxCommands = 8;

const listed = (names: string | undefined): ReadonlySet<string> => new Set(names?.split(' '));

/**
 * Returns the commands behind a wrapper.
 *
 * An unknown option may have a value, so both the next word and the one after it are tried as the command.
 */
export const wrappedCommands = (wrapper: Wrapper, args: readonly Field[]): Wrapped => {
  const commands: (readonly Field[])[] = [];
  const lines: Field[] = [];
  if (wrapper.behind !== undefined) {
    const words = listed(wrapper.behind);
    const start = args.findIndex(({ text }) => words.has(text));
    return { commands: start === -1 ? [] : [args.slice(start + 1)], lines };
  }
  const values = listed(wrapper.values);
  const flags = listed(wrapper.flags);
  const pairs = listed(wrapper.pairs);
  const texts = listed(wrapper.lines);
  const describes = listed(wrapper.describes);
  let skips = wrapper.skips ?? 0;
  let isDoubtful = false;
  for (let index = 0; index < args.length; index += 1) {
    const { text } = args[index] ?? known('');
    const [name, inline] = splitOption(text);
    if (describes.has(text)) {
      return { commands, lines };
    } else if (text === '-' && wrapper.dash !== undefined) {
      return { commands: [[known(wrapper.dash), known('-')]], lines };
    } else if (text === '--' || text === '-') {
      continue;
    } else if (texts.has(name) || (texts.size > 0 && endsCluster(text, texts))) {
      const line = inline === undefined ? args[(index += 1)] : known(inline);
      if (line !== undefined) lines.push(line);
      if (wrapper.skips === undefined) return { commands, lines };
    } else if (text.startsWith('-')) {
      const isKnownOption = values.has(name) || pairs.has(name) || inline !== undefined || isFlag(text, flags);
      // `-c3`: a short option with its value.
      isDoubtful = !isKnownOption && !(/^-[A-Za-z]./.test(text) && values.has(text.slice(0, 2)));
      if (values.has(name) && inline === undefined) index += 1;
      if (pairs.has(name)) index += 2;
    } else if (/^[A-Za-z_]\w*\+?=/.test(text)) {
      continue;
    } else if (skips > 0) {
      if (isDoubtful && commands.length < maxCommands) commands.push(args.slice(index + 1));
      else skips -= 1;
      isDoubtful = false;
    } else if (wrapper.joins === true || wrapper.each === true) {
      const rest = args.slice(index);
      if (wrapper.each === true) return { commands, lines: rest };
      return { commands: rest.length > 1 ? [...commands, rest] : commands, lines: [joined(rest)] };
    } else {
      commands.push(args.slice(index));
      if (!isDoubtful || commands.length >= maxCommands) return { commands, lines };
      isDoubtful = false;
    }
  }
  return { commands, lines };
};

const splitOption = (text: string): readonly [string, string | undefined] => {
  const equals = text.startsWith('--') ? text.indexOf('=') : -1;
  return equals === -1 ? [text, undefined] : [text.slice(0, equals), text.slice(equals + 1)];
};

const endsCluster = (text: string, options: ReadonlySet<string>): boolean =>
  /^-[A-Za-z]{2,}$/.test(text) && options.has(`-${text.at(-1) ?? ''}`);

const isFlag = (text: string, flags: ReadonlySet<string>): boolean =>
  flags.has(text) ||
  (/^-[A-Za-z]+$/.test(text) &&
    text
      .slice(1)
      .split('')
      .every((letter) => flags.has(`-${letter}`)));

/** Joins words to one line. */
export const joined = (fields: readonly Field[]): Field => ({
  text: fields.map(({ text }) => text).join(' '),
  shown: fields.map(({ shown }) => shown).join(' '),
  madeBy: fields.flatMap(({ madeBy }) => madeBy),
});
