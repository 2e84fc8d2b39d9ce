/** How much of the kept text may be given up for a cut at the end of a line. */
const maxLossForLineEnd = 0.2;

/**
 * The beginning of a text that is too long, with a note that says so.
 *
 * The result is never longer than `maxChars`, and no character is cut in half.
 *
 * @param hint says in a few words where the rest is, for the note
 */
export const shorten = (text: string, maxChars: number, hint?: string): string => {
  if (text.length <= maxChars) return text;
  const longestNote = noteFor(text.length, text.length, hint);
  if (longestNote.length >= maxChars) return longestNote.slice(0, headEnd(longestNote, maxChars)).toWellFormed();
  const end = headEnd(text, maxChars - longestNote.length);
  return text.slice(0, end) + noteFor(text.length - end, text.length, hint);
};

const noteFor = (omitted: number, total: number, hint: string | undefined): string =>
  `\n\n[Cut here: ${omitted} of ${total} characters are left out${hint === undefined ? '' : `; ${hint}`}.]`;

/** Where to cut so that at most `room` characters stay: after a line if one ends near, never inside a surrogate pair. */
const headEnd = (text: string, room: number): number => {
  const lineEnd = text.lastIndexOf('\n', room);
  if (lineEnd > 0 && lineEnd >= room * (1 - maxLossForLineEnd)) return lineEnd;
  const code = text.charCodeAt(room - 1);
  return code >= 0xd800 && code <= 0xdbff ? room - 1 : room;
};
