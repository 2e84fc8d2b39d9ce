import { forEachChild, parse, type Command, type Redirection, type SyntaxNode, type Word, type WordPart } from 'unbash';

/** A word of a command, as far as it is known before the shell has expanded it. */
export interface ShellWord {
  /** What the command gets; `undefined` if only the running shell knows. */
  readonly value: string | undefined;
  /** What is known of its beginning: all of it, or the text before the first expansion. */
  readonly start: string;
}

/** One command of a line: a program, a builtin or a function, wherever it stands. */
export interface ShellCommand {
  /** Its name and arguments; empty where only variables are set or output is redirected. */
  readonly words: readonly ShellWord[];
  /** Names of the variables that it sets, or gets. */
  readonly assigns: readonly string[];
  /** Files that its output goes to. */
  readonly writesTo: readonly ShellWord[];
}

/** A line of shell, taken apart. */
export type ShellLine =
  | { readonly ok: true; readonly commands: readonly ShellCommand[] }
  | { readonly ok: false; readonly problem: string };

/**
 * All commands of a line: those of lists, pipes, subshells, loops, functions and substitutions too.
 *
 * It is read as Bash reads a script: aliases are not expanded.
 */
export const readShellLine = (line: string): ShellLine => {
  if (line.includes('\0')) return { ok: false, problem: 'it holds a NUL character' };
  const commands: ShellCommand[] = [];
  let problem: string | undefined;
  const visit = (node: SyntaxNode): void => {
    if ('errors' in node) problem ??= node.errors?.[0]?.message;
    if (problem !== undefined) return;
    if (node.type === 'Command') commands.push(commandOf(node));
    if (node.type === 'Redirected') commands.push({ words: [], assigns: [], writesTo: filesOf(node.redirects) });
    forEachChild(node, visit);
  };
  try {
    visit(parse(line));
  } catch (error) {
    if (error instanceof RangeError) return { ok: false, problem: 'it is nested too deeply' };
    throw error;
  }
  return problem === undefined ? { ok: true, commands } : { ok: false, problem };
};

const commandOf = ({ name, args, prefix, redirects }: Command): ShellCommand => {
  const parts = [...prefix, ...args];
  const words = [...(name === undefined ? [] : [name]), ...args.filter((part) => part.type === 'Word')];
  return {
    words: words.map(wordOf),
    assigns: parts.flatMap((part) => (part.type === 'Assignment' ? [part.name] : [])),
    writesTo: filesOf(redirects),
  };
};

const filesOf = (redirects: readonly Redirection[]): readonly ShellWord[] =>
  redirects.flatMap((redirect) => {
    if (redirect.type !== 'Redirect' || redirect.target === undefined) return [];
    if (redirect.operator === '<' || redirect.operator === '<&') return [];
    const isDescriptor = redirect.operator === '>&' && /^(?:\d+-?|-)$/.test(redirect.target.text);
    return isDescriptor ? [] : [wordOf(redirect.target)];
  });

const wordOf = (word: Word): ShellWord => {
  const parts = word.parts ?? [];
  if (parts.length === 0) {
    // A tilde at the beginning is expanded, and only there can it change what the word is.
    return word.text.startsWith('~') ? { value: undefined, start: '/' } : { value: word.value, start: word.value };
  }
  let start = '';
  for (const part of parts) {
    const text = literalOf(part);
    if (text === undefined) return { value: undefined, start };
    start += text;
  }
  return { value: start, start };
};

const literalOf = (part: WordPart): string | undefined => {
  switch (part.type) {
    case 'Literal':
    case 'SingleQuoted':
    case 'AnsiCQuoted':
      return part.value;
    case 'DoubleQuoted': {
      const texts = part.parts.map(literalOf);
      return texts.includes(undefined) ? undefined : texts.join('');
    }
    default:
      return undefined;
  }
};
