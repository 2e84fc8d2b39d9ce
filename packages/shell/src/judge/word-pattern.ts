import { programName, unknownText } from '../read/field.js';

/** Whether a command, word by word, is one that a pattern names. */
export type WordPattern = (argv: readonly string[]) => boolean;

/**
 * Reads a pattern such as `npm run *`: the words of a command, in order. `*` matches any text within a
 * word; at the end it stands for all further words, or none. A program is named without its folder.
 *
 * @param isStrict Whether a star leaves out what it may not be meant for: words that are only known when they run, and
 * paths that lead out with `..`.
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
      return word === given || (word.includes('*') && isUsable(given) && matches(word.split('*'), given));
    };
    return wanted.every(covers) && argv.slice(wanted.length).every(isUsable);
  };
};

/** Whether a text is these pieces with anything between them: each as early as it can be, without going back. */
const matches = (pieces: readonly string[], text: string): boolean => {
  const first = pieces[0] ?? '';
  const last = pieces.at(-1) ?? '';
  if (text.length < first.length + last.length || !text.startsWith(first) || !text.endsWith(last)) return false;
  let place = first.length;
  for (const piece of pieces.slice(1, -1)) {
    const found = text.indexOf(piece, place);
    if (found === -1) return false;
    place = found + piece.length;
  }
  return place <= text.length - last.length;
};
