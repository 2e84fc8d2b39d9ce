/**
 * Shortens a string to `maxChars` UTF-16 units and appends an ellipsis (`…`) if anything was cut.
 *
 * A surrogate pair is never split: if the limit falls inside one, the whole character is dropped.
 *
 * @example
 * ```ts
 * cutText('connection refused', 10); // 'connection…'
 * ```
 */
export const cutText = (text: string, maxChars: number): string =>
  text.length <= maxChars ? text : `${text.slice(0, characterStart(text, Math.max(0, maxChars)))}…`;

/**
 * Shortens a string to at most `maxChars` UTF-16 units: its beginning, a note with the number of characters that are
 * left out, and its end, which gets two fifths because errors appear there.
 *
 * A surrogate pair is never split. A limit without room for the note cuts off the end.
 *
 * @example
 * ```ts
 * cutMiddle(log, 2000); // '…\n[… 48211 characters left out …]\n…'
 * ```
 */
export const cutMiddle = (text: string, maxChars: number): string => {
  if (text.length <= maxChars) return text;
  const note = (count: number): string => `\n[… ${count} characters left out …]\n`;
  const room = maxChars - note(text.length).length;
  if (room <= 0) return text.slice(0, characterStart(text, Math.max(0, maxChars)));
  const headEnd = characterStart(text, Math.ceil(room * 0.6));
  const tailStart = characterEnd(text, text.length - Math.floor(room * 0.4));
  return `${text.slice(0, headEnd)}${note(tailStart - headEnd)}${text.slice(tailStart)}`;
};

/** Returns the index, or the previous one if the index is inside a surrogate pair. */
export const characterStart = (text: string, index: number): number => (isInPair(text, index) ? index - 1 : index);

const characterEnd = (text: string, index: number): number => (isInPair(text, index) ? index + 1 : index);

const isInPair = (text: string, index: number): boolean =>
  isSurrogate(text.charCodeAt(index - 1), 0xd800) && isSurrogate(text.charCodeAt(index), 0xdc00);

const isSurrogate = (code: number, first: number): boolean => code >= first && code < first + 0x400;
