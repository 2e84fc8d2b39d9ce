import { commented, firstNotPlain, PlainText } from './text/plain-text.js';

export type { PlainText } from './text/plain-text.js';

/**
 * Returns the lines of a text as their author wrote them: without the escapes of a string in JSON, and without what tools
 * print before lines, such as numbers, times, and signs of changes, comments and quotations.
 *
 * @returns the lines, with offsets in the original text; `undefined` if the text has none of these
 *
 * @example
 * ```ts
 * const plain = readPlain('     1\tDo not read\n     2\tthis file.\n');
 * plain?.text; // 'Do not read\nthis file.\n'
 * ```
 */
export const readPlain = (text: string): PlainText | undefined =>
  firstNotPlain(text, 0, true, 'prose') === undefined && !commented.test(text)
    ? undefined
    : new PlainText(text, true, 'prose');
