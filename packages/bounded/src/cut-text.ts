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
export const cutText = (text: string, maxChars: number): string => {
  if (text.length <= maxChars) return text;
  const end = Math.max(0, maxChars);
  const last = text.charCodeAt(end - 1);
  const isSplit = last >= 0xd8_00 && last <= 0xdb_ff;
  return `${text.slice(0, isSplit ? end - 1 : end)}…`;
};
