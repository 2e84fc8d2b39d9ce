import { matchesWildcard } from '@h/wildcard';
import { subjectOf, type CallSubject } from './subject.js';

/**
 * Returns whether a pattern covers a call.
 *
 * The pattern must match the whole subject; `*` matches any characters, with exceptions. In a command, `*` matches no
 * character that starts another command, an expansion or a redirection: `git push *` does not cover `git push; ls`. A
 * command pattern that ends in ` *` also covers the command without arguments. In a path, `*` matches within one folder
 * and `**` across folders; no pattern covers a path with `..`.
 *
 * @example
 * ```ts
 * coversCall('git push *', { command: 'git push origin main' }); // true
 * ```
 */
export const coversCall = (pattern: string, input: unknown): boolean => {
  const subject = subjectOf(input);
  return subject !== undefined && covers(pattern, subject);
};

const covers = (pattern: string, subject: CallSubject): boolean => {
  switch (subject.kind) {
    case 'command':
      return (
        matchesWildcard(pattern, subject.text, inCommand) ||
        (pattern.endsWith(' *') && covers(pattern.slice(0, -2), subject))
      );
    case 'path':
      return !subject.text.split(/[/\\]/).includes('..') && coversPath(pattern, subject.text);
    case 'other':
      return matchesWildcard(pattern, subject.text);
  }
};

/** Returns whether the shell passes this character on unchanged. */
const inCommand = (character: string): boolean => !';&|<>$`(){}\\\n\r'.includes(character);

/** In a pattern with `**`, a single `*` also matches across folders: the pattern already covers subfolders. */
const coversPath = (pattern: string, path: string): boolean =>
  matchesWildcard(pattern, path, pattern.includes('**') ? undefined : (character) => !'/\\'.includes(character));
