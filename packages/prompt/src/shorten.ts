import { characterStart } from '@h/bounded';

/** Fraction of the text that may be dropped to cut at the end of a line. */
const maxLossForLineEnd = 0.2;

/**
 * Truncates a string and appends a note about the omitted part.
 *
 * The result has at most `maxChars` characters and never splits a surrogate pair.
 *
 * @param hint tells in the note where the rest can be found
 */
export const shorten = (text: string, maxChars: number, hint?: string): string => {
  if (text.length <= maxChars) return text;
  const longestNote = noteFor(text.length, text.length, hint);
  if (longestNote.length >= maxChars) return longestNote.slice(0, headEnd(longestNote, maxChars)).toWellFormed();
  const end = headEnd(text, maxChars - longestNote.length);
  return text.slice(0, end) + noteFor(text.length - end, text.length, hint);
};

const noteFor = (omitted: number, total: number, hint: string | undefined): string =>
  `\n\n[Truncated: ${omitted} of ${total} characters omitted${hint === undefined ? '' : `; ${hint}`}.]`;

/** Where to cut to at most `room` characters: at a nearby line end, never inside a surrogate pair. */
const headEnd = (text: string, room: number): number => {
  const lineEnd = text.lastIndexOf('\n', room);
  if (lineEnd > 0 && lineEnd >= room * (1 - maxLossForLineEnd)) return lineEnd;
  return characterStart(text, room);
};
