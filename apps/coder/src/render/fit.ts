import stringWidth from 'fast-string-width';
import { wrapAnsi } from 'fast-wrap-ansi';

/** Returns the width of a string in columns, ignoring escape sequences. */
export const widthOf = (text: string): number => stringWidth(text);

/** Truncates plain text to `columns` and marks the cut with `…`. */
export const clipped = (text: string, columns: number): string => {
  if (widthOf(text) <= columns) return text;
  if (columns < 1) return '';
  let result = '';
  let width = 0;
  for (const { segment } of new Intl.Segmenter().segment(text)) {
    width += widthOf(segment);
    if (width > columns - 1) break;
    result += segment;
  }
  return `${result}…`;
};

/** Wraps a line into rows of this width, between words if possible. */
export const rowsOf = (line: string, columns: number): readonly string[] =>
  wrapAnsi(line, columns, { hard: true, trim: false }).split('\n');
