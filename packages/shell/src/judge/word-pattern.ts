import { matchesWildcard } from '@h/wildcard';
import { programName, unknownText } from '../read/words/field.js';

/** Returns whether a command matches a pattern word by word. */
export type WordPattern = (argv: readonly string[]) => boolean;

/**
 * Compiles a pattern such as `npm run *`: the words of a command, in order. `*` matches any text within a word; at the
 * end it matches all further words, or none. A program is named without its folder.
 *
 * @param isStrict - whether a star never matches words that are unknown until the command runs, and paths with `..`
 */
export const wordPattern = (pattern: string, isStrict: boolean): WordPattern => {
  const words = pattern.trim().split(/\s+/);
  const isOpen = words.length > 1 && words.at(-1) === '*';
  const wanted = isOpen ? words.slice(0, -1) : words;
  const isUsable = (word: string): boolean =>
    !isStrict || (!word.includes(unknownText) && !/(?:^|\/)\.\.(?:\/|$)/.test(word));
  return (argv) => {
    if (argv.length < wanted.length || (!isOpen && argv.length > wanted.length)) return false;
    const covers = (word: string, index: number): boolean => {
      const text = argv[index] ?? '';
      const given = index === 0 && !word.includes('/') ? programName(text) : text;
      return word === given || (word.includes('*') && isUsable(given) && matchesWildcard(word, given));
    };
    return wanted.every(covers) && argv.slice(wanted.length).every(isUsable);
  };
};
