import { clipped, widthOf } from '../render/fit.js';
import type { Paper } from '../render/tool-line.js';
import type { Draft } from './line-editor.js';
import type { LiveRows } from './screen.js';

const prompt = '› ';

/** Renders the input row: the part of the draft around the cursor, or the hint if the draft is empty. */
export const inputRow = (draft: Draft, hint: string, { palette, columns }: Paper): LiveRows => {
  const room = columns - prompt.length;
  if (draft.text === '') {
    return { rows: [`${palette.cyan(prompt)}${palette.dim(clipped(hint, room))}`], cursor: prompt.length };
  }
  const text = draft.text.replaceAll(/\p{Cc}/gu, ' ');
  let start = Math.max(0, draft.cursor - room);
  if (start === 0 && widthOf(text) < room) return row(text, widthOf(text.slice(0, draft.cursor)), palette);
  while (widthOf(text.slice(start, draft.cursor)) > room - 1) start += 1;
  return row(clipped(text.slice(start, start + 2 * room), room), widthOf(text.slice(start, draft.cursor)), palette);
};

const row = (shown: string, cursor: number, palette: Paper['palette']): LiveRows => ({
  rows: [`${palette.cyan(prompt)}${shown}`],
  cursor: prompt.length + cursor,
});
