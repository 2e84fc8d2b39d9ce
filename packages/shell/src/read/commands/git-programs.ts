import { known, unknownField, type Field } from '../words/field.js';
import { joined } from './wrapped-commands.js';

/** Aliases of git by name, as in `git config alias.ci`. */
export type GitAliases = ReadonlyMap<string, string>;

/** What git runs besides itself. */
export interface GitPrograms {
  /** Shell lines. */
  readonly lines: readonly Field[];
  /** Text that may be a shell line. */
  readonly guesses: readonly string[];
  readonly commands: readonly (readonly Field[])[];
}

/** Keys of settings whose value is a program. */
const programKey =
  /^(?:core\.(?:pager|editor|sshcommand|fsmonitor|askpass|gitproxy|alternaterefscommand)|sequence\.editor|diff\.external|pager\.[\w-]+|gpg\.(?:\w+\.)?program|(?:diff|merge|difftool|mergetool|filter|credential|browser|man|guitool|trailer|hook|interactive|imap|sendemail|uploadpack|remote)\.(?:.+\.)?(?:command|cmd|textconv|driver|clean|smudge|process|helper|path|difffilter|tunnel|packobjectshook|vcs|uploadpack|receivepack))$/i;

/** Options whose value is a program, by subcommand. */
const programOptions: Readonly<Record<string, RegExp>> = {
  archive: /^--exec$/,
  clone: /^(?:-u|--upload-pack)$/,
  difftool: /^(?:-x|--extcmd)$/,
  fetch: /^--upload-pack$/,
  'fetch-pack': /^--(?:upload-pack|exec)$/,
  'filter-branch': /^--(?:env|tree|index|parent|msg|commit|tag-name)-filter$/,
  grep: /^(?:-O|--open-files-in-pager)$/,
  'ls-remote': /^(?:--upload-pack|--exec)$/,
  pull: /^--upload-pack$/,
  push: /^--(?:receive-pack|exec)$/,
  rebase: /^(?:-x|--exec)$/,
  'send-email': /^--(?:sendmail-cmd|smtp-server|to-cmd|cc-cmd)$/,
};

const globalValues = /^(?:-C|-c|--git-dir|--work-tree|--namespace|--exec-path|--config-env|--super-prefix)$/;

/**
 * Adds an alias that the arguments define, and returns the programs that git would run for them: aliases, settings,
 * options, and remotes that are commands.
 */
export const gitPrograms = (args: readonly Field[], aliases: Map<string, string>): GitPrograms => {
  const texts = args.map(({ text }) => text);
  const guesses: string[] = [];
  const lines: Field[] = [];
  const commands: (readonly Field[])[] = [];
  const local = new Map(aliases);
  let at = 0;
  for (; at < texts.length && /^-./.test(texts[at] ?? ''); at += 1) {
    const option = texts[at] ?? '';
    if (option === '-c') setting(texts[at + 1] ?? '', local, guesses);
    if (globalValues.test(option)) at += 1;
  }
  const name = texts[at] ?? '';
  const rest = args.slice(at + 1);
  const words = rest.map(({ text }) => text);
  const alias = local.get(name);
  if (alias?.startsWith('!') === true) lines.push(joined([known(alias.slice(1)), ...rest]));
  else if (alias !== undefined) lines.push(joined([known(`git ${alias}`), ...rest.map(quoted)]));
  if (name === 'config') {
    const [key = '', value = ''] = words.filter((word) => !word.startsWith('-') && word !== 'set');
    setting(`${key}=${value}`, new Map(), guesses);
    if (key.startsWith('alias.') && value.startsWith('!')) guesses.push(value.slice(1));
    // Later commands of the line can use it.
    if (/^alias\../i.test(key) && value !== '') aliases.set(key.slice('alias.'.length), value);
  }
  if (name === 'clone' || name === 'init') {
    for (const [index, word] of words.entries()) {
      if (/^(?:-c|--config)$/.test(word)) setting(words[index + 1] ?? '', new Map(), guesses);
      else if (word.startsWith('--config=')) setting(word.slice('--config='.length), new Map(), guesses);
    }
  }
  const option = Object.hasOwn(programOptions, name) ? programOptions[name] : undefined;
  if (option !== undefined) {
    const values = valuesOf(rest, option);
    // The pager of `grep` is given the files that match.
    lines.push(...(name === 'grep' ? values.map((value) => joined([value, unknownField('(the files)')])) : values));
  }
  for (const word of words) {
    const [, command] = /^ext::(.+)$/s.exec(word) ?? [];
    if (command !== undefined) guesses.push(command.replaceAll('%', ''));
  }
  const foreach = words.indexOf('foreach');
  if (name === 'submodule' && foreach !== -1) {
    lines.push(joined(rest.slice(foreach + 1).filter(({ text }) => !/^(?:--recursive|-q|--quiet)$/.test(text))));
  }
  if (name === 'bisect' && words[0] === 'run') commands.push(rest.slice(1));
  return { lines, guesses, commands };
};

/** Quotes words that follow an alias. */
const quoted = (field: Field): Field => ({ ...field, text: `'${field.text.replaceAll("'", `'\\''`)}'` });

const setting = (text: string, aliases: Map<string, string>, guesses: string[]): void => {
  const equals = text.indexOf('=');
  if (equals === -1) return;
  const key = text.slice(0, equals);
  const value = text.slice(equals + 1);
  const [, alias] = /^alias\.(.+)$/i.exec(key) ?? [];
  if (alias !== undefined) aliases.set(alias, value);
  else if (programKey.test(key)) guesses.push(value.replace(/^!/, ''));
};

/** Returns the values of an option: the next word, or the rest of the same word. */
const valuesOf = (args: readonly Field[], option: RegExp): readonly Field[] =>
  args.flatMap((field, index): readonly Field[] => {
    const next = args[index + 1];
    const [name, inline] = field.text.startsWith('--') ? splitAt(field.text) : splitShort(field.text);
    if (!option.test(name)) return [];
    return inline === undefined ? (next === undefined ? [] : [next]) : [{ ...field, text: inline }];
  });

const splitAt = (text: string): readonly [string, string | undefined] => {
  const equals = text.indexOf('=');
  return equals === -1 ? [text, undefined] : [text.slice(0, equals), text.slice(equals + 1)];
};

const splitShort = (text: string): readonly [string, string | undefined] =>
  /^-[A-Za-z]./.test(text) ? [text.slice(0, 2), text.slice(2)] : [text, undefined];
