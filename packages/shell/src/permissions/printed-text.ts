import { forEachChild, type SyntaxNode } from 'unbash';
import type { StrictCommand } from './strict-line.js';

/** Returns whether a command before a pipe prints nothing, or at most one letter: `echo Q` ends a session. */
export const printsNothing = (node: SyntaxNode, script: SyntaxNode): boolean =>
  node.type === 'Command' &&
  !definesFunctions(script) &&
  /^(?:echo|printf|true|:)$/.test(node.name?.text ?? '') &&
  node.args.every((word) => /^(?:-n|[A-Za-z]?|''|"")$/.test(word.text)) &&
  node.prefix.length === 0;

const definesFunctions = (node: SyntaxNode): boolean => {
  let isFound = node.type === 'Function';
  forEachChild(node, (child) => {
    isFound ||= definesFunctions(child);
  });
  return isFound;
};

/** Returns whether commands print any number of hashes. */
export const printsCommits = ([command, ...others]: readonly StrictCommand[]): boolean =>
  command?.name === 'git' &&
  others.length === 0 &&
  command.args[0]?.value === 'rev-list' &&
  command.args
    .slice(1)
    .every(({ value }) =>
      /^(?:-\d+|-n|--(?:all|reverse|no-merges|merges|first-parent|max-count=\d+)|[\w@{}~^/.][\w@{}~^/.-]*)$/.test(
        value ?? '',
      ),
    );

/** Commands that print a hash, a branch name or a number, and never a string that looks like an option. */
export const neverPrintsOptions = (commands: readonly StrictCommand[]): boolean => {
  const [command, ...others] = commands;
  if (command === undefined || others.length > 0) return false;
  if (printsCommits(commands)) return true;
  const words = command.args.map(({ value }) => value ?? '?');
  if (command.name === 'git') {
    if (words[0] === 'merge-base') return true;
    if (words[0] === 'branch') return words.join(' ') === 'branch --show-current';
    return (
      words[0] === 'rev-parse' &&
      words
        .slice(1)
        .every((word) =>
          /^(?:--(?:show-toplevel|short|abbrev-ref|verify|git-dir)|[\w@{}~^/.][\w@{}~^/.-]*)$/.test(word),
        )
    );
  }
  return (
    /^(?:pwd|nproc|whoami|hostname|id)$/.test(command.name) ||
    (command.name === 'date' &&
      words[0]?.startsWith('+') === true &&
      words[0] !== '+' &&
      !words[0].startsWith('+-') &&
      words.length === 1)
  );
};
