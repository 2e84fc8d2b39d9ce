import { visibleLine } from '@h/options';

/**
 * Makes an untrusted name safe to show in a message: one line, no invisible characters, at most `maxChars` long.
 *
 * A repository chooses its file names, and a model reads the error messages that contain them.
 */
export const printable = (text: string, maxChars = 300): string => {
  // Truncated first, so that a name of 10 MB is not escaped in full.
  const start = visibleLine(text.slice(0, maxChars + 1));
  return start.length <= maxChars ? start : `${start.slice(0, Math.max(0, maxChars - 1)).toWellFormed()}…`;
};
