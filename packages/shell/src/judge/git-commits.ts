import { beginsWith, parseArguments } from '../read/words/arguments.js';
import { resolvePath } from '../read/files/resolve-path.js';
import { isKnown, programName, type Field } from '../read/words/field.js';
import type { Invocation } from '../read/invocation.js';
import type { GitAliases } from '../read/commands/git-programs.js';
import { readCommandLine } from '../read/read-command-line.js';

/** A command that runs before a commit in the same line. */
export interface EarlierCommand {
  readonly argv: readonly string[];
  /** Whether its output is written to a file. */
  readonly isRedirected: boolean;
}

/** A commit that a line of shell would make. */
export interface CommitCommand {
  /** The folder of the repository; `undefined` if it is unknown until the line runs. */
  readonly folder: string | undefined;
  /** Its message, as far as it is known; `undefined` for one from a file, an editor or a variable. */
  readonly message: string | undefined;
  /** Whether it is a fixup or squash commit. */
  readonly isFixup: boolean;
  /** Commands of the line that run before it. */
  readonly before: readonly EarlierCommand[];
}

/** The commits of a line. */
export interface CommitLine {
  readonly commits: readonly CommitCommand[];
  /** Set if the line cannot be read completely but seems to commit. */
  readonly isUnclear: boolean;
}

/**
 * Finds the commits that a shell line creates: `git commit` in all its forms, with options before it, in `bash -c`, or
 * through an alias that the line defines or that `aliases` contains.
 */
export const commitsIn = (
  command: string,
  { cwd, home, aliases }: { readonly cwd: string; readonly home: string; readonly aliases?: GitAliases | undefined },
): CommitLine => {
  const { invocations, problems } = readCommandLine(command, cwd, home, cwd, aliases);
  const commits = invocations.flatMap((invocation, index) => commitOf(invocation, invocations.slice(0, index)) ?? []);
  return { commits, isUnclear: commits.length === 0 && problems.length > 0 && /\bcommit\b/.test(command) };
};

const commitOf = (
  { argv: [first, ...args], cwd }: Invocation,
  before: readonly Invocation[],
): CommitCommand | undefined => {
  if (first === undefined || programName(first.text) !== 'git') return undefined;
  const parsed = parseArguments('git', args);
  if (beginsWith(parsed.operands, 'commit') !== 'yes') return undefined;
  if (parsed.has('--dry-run') === 'yes' || parsed.words.includes('-h') || parsed.has('--help') === 'yes') {
    return undefined;
  }
  const folder = folderOf(args, cwd);
  return {
    folder: isKnown(folder) ? folder : undefined,
    message: messageOf(args),
    isFixup: parsed.words.some((word) => /^--(?:fixup|squash)(?:=|$)/.test(word)),
    before: before.map(earlier),
  };
};

const earlier = ({ argv, redirections }: Invocation): EarlierCommand => ({
  argv: argv.map(({ text }) => text),
  isRedirected: redirections.some(({ target }) => !target.text.startsWith('/dev/')),
});

/** Each `-C` is relative to the previous one. */
const folderOf = (args: readonly Field[], cwd: string): string => {
  let folder = cwd;
  for (const [index, { text }] of args.entries()) {
    if (text === 'commit') break;
    const next = args[index + 1]?.text;
    if (text === '-C' && next !== undefined) folder = resolvePath(next, folder);
    const [, tree] = /^--work-tree=(.+)$/.exec(text) ?? [];
    if (tree !== undefined) folder = resolvePath(tree, folder);
  }
  return folder;
};

const messageOf = (args: readonly Field[]): string | undefined => {
  const start = args.findIndex(({ text }) => text === 'commit') + 1;
  for (const [index, { text }] of args.entries()) {
    if (index < start) continue;
    const [, inline] = /^(?:--message=|-[a-zA-Z]*?m)([\s\S]+)$/.exec(text) ?? [];
    const message = inline ?? (/^(?:--message|-[a-zA-Z]*m)$/.test(text) ? args[index + 1]?.text : undefined);
    if (message !== undefined) return isKnown(message) ? message : undefined;
  }
  return undefined;
};
