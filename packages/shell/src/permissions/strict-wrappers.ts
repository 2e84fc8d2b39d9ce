import { shells, wrappers, type Wrapper } from '../read/commands/wrappers.js';
import { dialectOf } from './dialects.js';
import { refuse } from './refusal.js';
import { literal, noDash, unknownWord, type StaticWord } from './static-word.js';

/** What a command runs besides itself. */
interface Behind {
  readonly commands: readonly (readonly StaticWord[])[];
  /** Shell lines. */
  readonly lines: readonly string[];
  readonly assigns: readonly { readonly name: string; readonly value: StaticWord }[];
}

const nothing: Behind = { commands: [], lines: [], assigns: [] };

/** Builtins that evaluate strings or redefine names; no argument makes them harmless. */
const unreadable: ReadonlySet<string> = new Set([
  'eval',
  'source',
  '.',
  'trap',
  'alias',
  'enable',
  'complete',
  'compgen',
  'bind',
  'let',
  'fc',
  'coproc',
  'hash',
  'getopts',
  'parallel',
  'entr',
  'script',
]);

/** Returns the commands behind a wrapper, a shell, `find`, `fd`, `watch` or `xargs`. Refuses unknown options. */
export const commandBehind = (name: string, args: readonly StaticWord[]): Behind => {
  if (unreadable.has(name)) return refuse(`${name}, which may run arbitrary text or redefine names`);
  if (shells.has(name)) return ofShell(name, args);
  if (name === 'find') return { ...nothing, commands: findCommands(args) };
  if (name === 'fd' || name === 'fdfind') return { ...nothing, commands: splitFd(args).commands };
  if (name === 'watch') return ofWatch(args);
  if (name === 'xargs') return { ...nothing, commands: [xargsCommand(args)] };
  const wrapper = Object.hasOwn(wrappers, name) ? wrappers[name] : undefined;
  return wrapper === undefined || !isFlat(wrapper) ? nothing : ofWrapper(name, wrapper, args);
};

const isFlat = (value: Wrapper | Readonly<Record<string, Wrapper>>): value is Wrapper =>
  Object.values(value).every((part) => typeof part !== 'object');

const listed = (names: string | undefined): ReadonlySet<string> => new Set(names?.split(' '));

const ofWrapper = (name: string, wrapper: Wrapper, args: readonly StaticWord[]): Behind => {
  const unclear = (word: StaticWord): never => refuse(`${name} ${word.source}, an unknown option`);
  // Describes a command without running it.
  if (name === 'command' && /^-[vV]$/.test(args[0]?.value ?? '')) return nothing;
  const values = listed(wrapper.values);
  const flags = listed(wrapper.flags);
  const assigns: { name: string; value: StaticWord }[] = [];
  let skips = wrapper.skips ?? 0;
  for (let index = 0; index < args.length; index += 1) {
    const word = args[index] ?? literal('');
    const { value, start } = word;
    const [, assigned] = /^([A-Za-z_]\w*)=/.exec(start) ?? [];
    if (name === 'env' && assigned !== undefined) {
      const text = value?.slice(assigned.length + 1);
      assigns.push({ name: assigned, value: { ...word, value: text, start: text ?? '' } });
    } else if (start.startsWith('-')) {
      if (value === undefined || wrapper.behind !== undefined || wrapper.joins === true) return unclear(word);
      if (value === '--') continue;
      if (name === 'env' || name === 'time' ? !/^-p$/.test(value) : !isOption(value, values, flags)) {
        return unclear(word);
      }
      if (values.has(value)) index += 1;
    } else if (skips > 0) {
      if (value === undefined && (start === '' || word.isMany)) return unclear(word);
      skips -= 1;
    } else {
      return { commands: [args.slice(index)], lines: [], assigns };
    }
  }
  return { ...nothing, assigns };
};

const isOption = (text: string, values: ReadonlySet<string>, flags: ReadonlySet<string>): boolean => {
  const [name = '', inline] = text.split('=', 2);
  if (values.has(text) || flags.has(text)) return true;
  if (text.startsWith('--')) return inline !== undefined && values.has(name);
  // `-n5`: a short option with its value.
  return values.has(text.slice(0, 2)) ? /^-[a-zA-Z][\w.]+$/.test(text) : /^-\d+$/.test(text);
};

const ofShell = (name: string, args: readonly StaticWord[]): Behind => {
  if (args[0]?.value === '--version') return nothing;
  // These shells only parse the script.
  if (
    /^(?:ba|da)?sh$/.test(name) &&
    args.length === 2 &&
    args[0]?.value === '-n' &&
    /^[^-+]/.test(args[1]?.start ?? '')
  ) {
    return nothing;
  }
  for (const [index, { value, source }] of args.entries()) {
    if (value === undefined || !/^[-+]/.test(value)) {
      return refuse(`${name} ${source}, a script that is not in the line`);
    }
    if (value === '-o' && args[index + 1]?.value === 'pipefail') continue;
    if (!/^-[ceuxl]+$/.test(value)) return refuse(`${name} ${source}, an unknown option`);
    if (!value.includes('c')) continue;
    if (dialectOf(name) === undefined) return refuse(`${name} -c, whose syntax is not that of Bash`);
    const text = args[index + 1];
    if (text?.value === undefined || /^[-+]/.test(text.value)) {
      return refuse(`${name} -c with a script that is unknown until it runs`);
    }
    return { ...nothing, lines: [text.value] };
  }
  return refuse(`${name} that reads commands from its input`);
};

const findActions: ReadonlySet<string | undefined> = new Set(['-exec', '-execdir', '-ok', '-okdir']);

const findCommands = (args: readonly StaticWord[]): readonly (readonly StaticWord[])[] => {
  const commands: (readonly StaticWord[])[] = [];
  for (let index = 0; index < args.length; index += 1) {
    if (!findActions.has(args[index]?.value)) continue;
    const first = index + 1;
    while (index < args.length && !/^[;+]$/.test(args[index]?.value ?? '')) index += 1;
    commands.push(args.slice(first, index).map((word) => filledIn(word, '{}', noDash)));
  }
  return commands;
};

/** A word in which a placeholder represents text that is unknown until the command runs. */
const filledIn = (word: StaticWord, placeholder: string, replacement: string): StaticWord => {
  const at = word.value === undefined ? word.source.indexOf(placeholder) : word.value.indexOf(placeholder);
  if (at === -1) return word;
  const start = word.value === undefined ? '' : word.value.slice(0, at);
  return { value: undefined, start: start === '' ? replacement : start, isMany: false, source: word.source };
};

/** What `fd` replaces by the path that it finds, or a part of it. */
const fdPlaceholder = /\{(?:\/{0,2}|\/?\.)\}/;

/** Separates the commands behind `-x` and `-X` from the other arguments of `fd`. */
export const splitFd = (
  args: readonly StaticWord[],
): { readonly commands: readonly (readonly StaticWord[])[]; readonly others: readonly StaticWord[] } => {
  const commands: (readonly StaticWord[])[] = [];
  const others: StaticWord[] = [];
  for (let index = 0; index < args.length; index += 1) {
    const word = args[index] ?? literal('');
    if (!/^(?:-[xX]|--exec(?:-batch)?)$/.test(word.value ?? '')) {
      others.push(word);
      continue;
    }
    const first = index + 1;
    while (index < args.length && args[index]?.value !== ';') index += 1;
    const command = args.slice(first, index);
    if (command.length === 0) return refuse(`fd ${word.source} without a command`);
    const isFilled = command.some(({ value, source }) => fdPlaceholder.test(value ?? source));
    commands.push(
      isFilled
        ? command.map((each) => filledIn(each, fdPlaceholder.exec(each.value ?? each.source)?.[0] ?? '{}', ''))
        : [...command, unknownWord('(a path that fd finds)')],
    );
  }
  return { commands, others };
};

const watchFlag =
  /^(?:-[bcdegptwx]+|--(?:beep|color|differences(?:=permanent)?|errexit|chgexit|exec|precise|no-title|no-wrap))$/;
const watchInterval = /^(?:-n|--interval=)\d*\.?\d+$/;

/** `watch` joins its words to a line of shell, unless `-x` is among its options. */
const ofWatch = (args: readonly StaticWord[]): Behind => {
  let isProgram = false;
  let index = 0;
  for (; index < args.length; index += 1) {
    const { value, start, source } = args[index] ?? literal('');
    if (!start.startsWith('-') && value !== undefined) break;
    const isNext = value === '-n' || value === '--interval';
    const isKnown = isNext ? /^\d*\.?\d+$/.test(args[index + 1]?.value ?? '') : watchInterval.test(value ?? '');
    if (!isKnown && !watchFlag.test(value ?? '')) return refuse(`watch ${source}, an unknown option`);
    if (isNext) index += 1;
    isProgram ||= /^-[a-z]*x|^--exec$/.test(value ?? '');
  }
  const command = args.slice(index);
  if (isProgram) return { ...nothing, commands: [command] };
  const texts = command.map(({ value, source }) => value ?? refuse(`watch ${source}, which is unknown until it runs`));
  return { ...nothing, lines: [texts.join(' ')] };
};

const xargsFlags: ReadonlySet<string> = new Set([
  '-0',
  '-r',
  '-t',
  '-x',
  '--null',
  '--no-run-if-empty',
  '--verbose',
  '-0r',
  '-r0',
  '-rt',
]);
const xargsValues: ReadonlySet<string> = new Set(['-n', '-P', '-L', '-d', '-s', '-I', '-E']);
const xargsInline = /^(?:-[nPLsd]\S+|--(?:max-args|max-procs|max-lines|delimiter)=\S+)$/;

const xargsCommand = (args: readonly StaticWord[]): readonly StaticWord[] => {
  let placeholder: string | undefined;
  let index = 0;
  for (; index < args.length; index += 1) {
    const { value = '', start, source } = args[index] ?? literal('');
    if (!start.startsWith('-')) break;
    if (value === '-I') placeholder = args[index + 1]?.value ?? refuse('xargs -I with an unknown placeholder');
    if (/^-I./.test(value)) placeholder = value.slice(2);
    else if (xargsValues.has(value)) index += 1;
    else if (!xargsFlags.has(value) && !xargsInline.test(value)) {
      return refuse(`xargs ${source}, an unknown option`);
    }
  }
  const command = args.slice(index);
  if (command.length === 0) return [literal('echo'), unknownWord('(the input of xargs)')];
  if (placeholder === undefined) return [...command, unknownWord('(the input of xargs)')];
  const name = placeholder;
  return command.map((word) => filledIn(word, name, ''));
};
