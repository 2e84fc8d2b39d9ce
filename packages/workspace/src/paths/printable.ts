/**
 * Everything that moves the cursor, hides text or turns it around: C0 and C1 controls, zero-width and bidirectional
 * marks, line and paragraph separators, tag characters, lone surrogates.
 */
const unprintable = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

const escape = (character: string): string => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;

/**
 * A name from outside as it may stand in a message: one line, nothing invisible, never longer than `maxChars`.
 *
 * File names are chosen by whoever wrote the repository, and error messages are read by a model.
 */
export const printable = (text: string, maxChars = 300): string => {
  // Cut first: escaping 10 MB only to throw it away would be work done for an attacker.
  const start = text.slice(0, maxChars + 1).replace(unprintable, escape);
  return start.length <= maxChars ? start : `${start.slice(0, Math.max(0, maxChars - 1)).toWellFormed()}…`;
};
