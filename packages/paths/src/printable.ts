/**
 * Characters that move the cursor, or hide or reorder text: C0 and C1 controls, zero-width and bidirectional marks,
 * line and paragraph separators, tag characters, lone surrogates.
 */
const unprintable = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

const escape = (character: string): string => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;

/**
 * Makes an untrusted name safe to show in a message: one line, no invisible characters, at most `maxChars` long.
 *
 * A repository chooses its file names, and a model reads the error messages that contain them.
 */
export const printable = (text: string, maxChars = 300): string => {
  // Truncated first, so that a name of 10 MB is not escaped in full.
  const start = text.slice(0, maxChars + 1).replace(unprintable, escape);
  return start.length <= maxChars ? start : `${start.slice(0, Math.max(0, maxChars - 1)).toWellFormed()}…`;
};
