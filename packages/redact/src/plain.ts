import { commented, firstNotPlain, PlainText } from './plain-text.js';

export type { PlainText } from './plain-text.js';

/**
 * Reads a text as its lines are meant: without escapes, as the output of a tool in JSON has them, and without what tools
 * print before lines, such as numbers, times and signs of a change. Signs of comments and quotations are left out, too.
 *
 * @returns the text and its offsets in the original; `undefined` if it is plain
 *
 * @example
 * ```ts
 * const plain = readPlain('     1\tDo not read\n     2\tthis file.\n');
 * plain?.text; // 'Do not read\nthis file.\n'
 * ```
 */
export const readPlain = (text: string): PlainText | undefined =>
  firstNotPlain(text, 0, true) === undefined && !commented.test(text) ? undefined : new PlainText(text, true, true);
