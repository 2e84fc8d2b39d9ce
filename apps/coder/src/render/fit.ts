import stringWidth from 'fast-string-width';
import { wrapAnsi } from 'fast-wrap-ansi';

/** How many columns a text takes, without its colours. */
export const widthOf = (text: string): number => stringWidth(text);

/** Plain text that takes at most so many columns; what is cut off is replaced by `…`. */
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

/** A line as the rows that it takes on a terminal of this width, broken between words where that is possible. */
export const rowsOf = (line: string, columns: number): readonly string[] =>
  wrapAnsi(line, columns, { hard: true, trim: false }).split('\n');
