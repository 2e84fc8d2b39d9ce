import { createHash } from 'node:crypto';

/**
 * Puts a text between delimiters that it cannot close: they carry its own hash, which no text can contain.
 *
 * The same text always gets the same delimiters, so that a question which was put before is recognized.
 */
export const delimited = (what: string, text: string): string => {
  const mark = createHash('sha256').update(text).digest('hex').slice(0, 12);
  return `<<<${what} ${mark}>>>\n${text}\n<<<end of ${what} ${mark}>>>\n`;
};
