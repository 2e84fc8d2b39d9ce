import { isKnown, known, unknownField, unknownText, type Field } from './field.js';
import type { Input } from './known-output.js';

/** What `xargs` or `parallel` runs. */
export interface ListedCommands {
  readonly commands: readonly (readonly Field[])[];
  /** Shell lines. */
  readonly lines: readonly string[];
  /** Whether it runs text that is unknown until it runs. */
  readonly runsUnknown: boolean;
}

/** Maximum number of arguments that are expanded. */
const maxArguments = 16;

const listed = (names: string): ReadonlySet<string> => new Set(names.split(' '));

const xargsValues = listed(
  '-a -E -I -J -L -n -P -R -s -S -d --arg-file --delimiter --max-args --max-lines --max-procs --max-chars --process-slot-var',
);

/** The content of a list: known words, patterns of paths, or one unknown word. */
const wordsOf = (input: Input | undefined, isFromFile: boolean): readonly Field[] => {
  const text = isFromFile ? undefined : input?.text;
  if (text !== undefined && isKnown(text) && text.length < 4_000) {
    return text
      .split(/\s+/)
      .filter((word) => word !== '')
      .map(known);
  }
  const paths = isFromFile ? undefined : input?.paths;
  return paths?.map(known) ?? [unknownField('(an argument of the list)', [listMark, ...(input?.programs ?? [])])];
};

/** Marks an unknown word from a list, in the list of programs that produced it. */
export const listMark = '(list)';

/** Returns the command of `xargs`. */
export const xargsCommands = (args: readonly Field[], input: Input | undefined): ListedCommands => {
  let index = 0;
  let placeholder: string | undefined;
  let isFromFile = false;
  let isWhole = false;
  for (; index < args.length; index += 1) {
    const option = args[index]?.text ?? '';
    if (!option.startsWith('-') || option === '-') break;
    isFromFile ||= /^(?:-a|--arg-file)/.test(option);
    isWhole ||= /^(?:-0|--null|-d|--delimiter|-[a-z]*0)/.test(option);
    if (option === '-I' || option === '-J') placeholder = args[index + 1]?.text;
    else if (/^-[IJi]./.test(option)) placeholder = option.slice(2);
    else if (option === '-i' || option === '--replace') placeholder = '{}';
    else if (option.startsWith('--replace=')) placeholder = option.slice('--replace='.length) || '{}';
    if (xargsValues.has(option)) index += 1;
  }
  // Without a command, the arguments are printed.
  const command = index < args.length ? args.slice(index) : [known('echo')];
  const text = isFromFile ? undefined : input?.text;
  // With -I and -0 an argument may contain spaces: each line is one argument.
  const lines =
    text !== undefined && isKnown(text) && (placeholder !== undefined || isWhole) && text.length < 4_000
      ? text
          .split('\n')
          .filter((line) => line.trim() !== '')
          .map(known)
      : undefined;
  const words = lines ?? wordsOf(input, isFromFile);
  if (placeholder === undefined) return { commands: [[...command, ...words]], lines: [], runsUnknown: false };
  const name = placeholder;
  return {
    commands: words.slice(0, maxArguments).map((word) => command.map((field) => filledIn(field, name, word))),
    lines: [],
    runsUnknown: false,
  };
};

const filledIn = (field: Field, placeholder: RegExp | string, word: Field): Field => {
  const text = field.text.replaceAll(placeholder, () => word.text);
  return text === field.text ? field : { text, shown: field.shown, madeBy: [...field.madeBy, ...word.madeBy] };
};

const parallelValues = listed(
  '-j --jobs -P --max-procs -a --arg-file --timeout --retries -d --delimiter -n --max-args -N --max-replace-args -L -I -S --sshlogin --sshloginfile --colsep -C --joblog --results --tmpdir --workdir --wd --tagstring --env --delay --load --memfree --nice --basefile --bf --return --trc --shebang-wrap -s --halt --block --recstart --recend',
);

const placeholders = /\{(?:[#%/.]|\/\/|\/\.|\d+(?:[/.]|\/\/|\/\.)?)?\}/g;

/** Returns the commands of GNU `parallel`: a template that it passes to a shell, or lines from its input. */
export const parallelCommands = (args: readonly Field[], input: Input | undefined): ListedCommands => {
  let index = 0;
  let isFromFile = false;
  for (; index < args.length; index += 1) {
    const option = args[index]?.text ?? '';
    if (!option.startsWith('-') || option === '-') break;
    isFromFile ||= /^(?:-a|--arg-file)/.test(option);
    if (parallelValues.has(option)) index += 1;
  }
  const rest = args.slice(index);
  const at = rest.findIndex(({ text }) => text.startsWith(':::'));
  const template = at === -1 ? rest : rest.slice(0, at);
  const given = at === -1 ? undefined : rest.slice(at);
  isFromFile ||= given?.some(({ text }) => text.startsWith('::::')) === true;
  const words = isFromFile
    ? wordsOf(undefined, true)
    : (given?.filter(({ text }) => !/^:::\+?$/.test(text)) ?? linesOf(input) ?? wordsOf(input, false));
  if (template.length === 0) {
    const lines = words.filter(({ text }) => isKnown(text)).map(({ text }) => text);
    return { commands: [], lines, runsUnknown: lines.length < words.length };
  }
  const line = template.map(({ text }) => text).join(' ');
  const lines = words.slice(0, maxArguments).map(({ text }) => {
    const filled = line.replaceAll(placeholders, () => text);
    return filled === line ? `${line} ${text}` : filled;
  });
  const isCommand = template.length > 1 || /^[^\s{}]+$/.test(line);
  return {
    // Words with spaces stay single words; the shell splits them only with `{}` in the template.
    commands: isCommand
      ? words.slice(0, maxArguments).map((word) => {
          const filled = template.map((field) => filledIn(field, placeholders, word));
          return filled.some((field, place) => field !== template[place]) ? filled : [...filled, word];
        })
      : [],
    lines: isCommand && !lines.some((one) => /[;&|$`<>]/.test(one)) ? [] : lines,
    runsUnknown:
      line.replaceAll(placeholders, '').trim() === '' && words.some(({ text }) => text.includes(unknownText)),
  };
};

const linesOf = (input: Input | undefined): readonly Field[] | undefined => {
  const text = input?.text;
  if (text === undefined || !isKnown(text)) return undefined;
  return text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .slice(0, maxArguments)
    .map(known);
};
