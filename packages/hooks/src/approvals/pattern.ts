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
        matches(pattern.split('*'), subject.text, inCommand) ||
        (pattern.endsWith(' *') && covers(pattern.slice(0, -2), subject))
      );
    case 'path':
      return !subject.text.split(/[/\\]/).includes('..') && coversPath(pattern, subject.text);
    case 'other':
      return matchesName(pattern, subject.text);
  }
};

/** Returns whether a pattern, in which `*` matches any characters, matches the whole text. */
export const matchesName = (pattern: string, text: string): boolean => matches(pattern.split('*'), text, () => true);

/** Returns whether the shell passes this character on unchanged. */
const inCommand = (character: string): boolean => !';&|<>$`(){}\\\n\r'.includes(character);

const coversPath = (pattern: string, path: string): boolean => {
  const deep = pattern.split('**');
  if (deep.length === 1) {
    return matches(pattern.split('*'), path, (character) => character !== '/' && character !== '\\');
  }
  // In a pattern with `**`, a single `*` also matches across folders: the pattern already covers subfolders.
  return matches(
    deep.flatMap((part) => part.split('*')),
    path,
    () => true,
  );
};

/**
 * Returns whether the text consists of these parts with only allowed characters between them. Each part matches at its
 * earliest position, without backtracking.
 */
const matches = (parts: readonly string[], text: string, isAllowed: (character: string) => boolean): boolean => {
  const [first = '', ...rest] = parts;
  if (rest.length === 0) return first === text;
  const last = rest.pop() ?? '';
  if (text.length < first.length + last.length || !text.startsWith(first) || !text.endsWith(last)) return false;
  const end = text.length - last.length;
  let place = first.length;
  for (const part of rest) {
    const found = text.indexOf(part, place);
    if (found === -1 || found + part.length > end || !isClear(text, place, found, isAllowed)) return false;
    place = found + part.length;
  }
  return isClear(text, place, end, isAllowed);
};

const isClear = (text: string, from: number, to: number, isAllowed: (character: string) => boolean): boolean => {
  for (let index = from; index < to; index += 1) if (!isAllowed(text.charAt(index))) return false;
  return true;
};
