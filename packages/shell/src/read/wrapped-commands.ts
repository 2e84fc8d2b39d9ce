import { known, type Field } from './field.js';
import type { Wrapper } from './wrappers.js';

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
    const start = args.findIndex(({ text }) => text === wrapper.behind);
    return { commands: start === -1 ? [] : [args.slice(start + 1)], lines };
  }
  const values = listed(wrapper.values);
  const flags = listed(wrapper.flags);
  const pairs = listed(wrapper.pairs);
  const texts = listed(wrapper.lines);
  let skips = wrapper.skips ?? 0;
  let isDoubtful = false;
  for (let index = 0; index < args.length; index += 1) {
    const { text } = args[index] ?? known('');
    const [name, inline] = splitOption(text);
    if (text === '--' || text === '-') {
      continue;
    } else if (texts.has(name) || (texts.size > 0 && endsCluster(text, texts))) {
      const line = inline === undefined ? args[(index += 1)] : known(inline);
      if (line !== undefined) lines.push(line);
      if (wrapper.skips === undefined) return { commands, lines };
    } else if (text.startsWith('-')) {
      isDoubtful = !values.has(name) && !pairs.has(name) && inline === undefined && !isFlag(text, flags);
      if (values.has(name) && inline === undefined) index += 1;
      if (pairs.has(name)) index += 2;
    } else if (/^[A-Za-z_]\w*\+?=/.test(text)) {
      continue;
    } else if (skips > 0) {
      if (isDoubtful && commands.length < maxCommands) commands.push(args.slice(index + 1));
      else skips -= 1;
      isDoubtful = false;
    } else if (wrapper.joins === true) {
      lines.push(joined(args.slice(index)), ...args.slice(index, index + 16));
      return { commands, lines };
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
