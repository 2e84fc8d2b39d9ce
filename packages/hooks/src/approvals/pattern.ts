import { subjectOf, type CallSubject } from './subject.js';

/**
 * Whether a pattern covers a call.
 *
 * `*` stands for any text, and the pattern for the whole subject. What it matches is limited: in a
 * command it never holds anything with which a shell begins another command, expands or redirects (`git push *` does
 * not cover `git push; rm -rf ~`), and in a path it stays within a folder (`**` goes deeper) and covers nothing with
 * `..`. A command pattern that ends in ` *` covers the command without arguments too.
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
        matches(pieces(pattern, '*'), subject.text, inCommand) ||
        (pattern.endsWith(' *') && covers(pattern.slice(0, -2), subject))
      );
    case 'path':
      return !subject.text.split(/[/\\]/).includes('..') && coversPath(pattern, subject.text);
    case 'other':
      return matches(pieces(pattern, '*'), subject.text, () => true);
  }
};

/** Where a shell does nothing but pass the word on. */
const inCommand = (character: string): boolean => !';&|<>$`(){}\\\n\r'.includes(character);

const coversPath = (pattern: string, path: string): boolean => {
  const deep = pattern.split('**');
  if (deep.length === 1) {
    return matches(pieces(pattern, '*'), path, (character) => character !== '/' && character !== '\\');
  }
  // A single star beside a double one may go deeper too: it only makes the pattern wider where it says that it is wide.
  return matches(
    deep.flatMap((part) => pieces(part, '*')),
    path,
    () => true,
  );
};

const pieces = (pattern: string, star: string): readonly string[] => pattern.split(star);

/**
 * Whether the text is these pieces with allowed characters between them: each piece as early as it can be, without
 * going back.
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
