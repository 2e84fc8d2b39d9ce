import { createHash } from 'node:crypto';

/**
 * Encloses a text in delimiters that it cannot close: they contain the text's hash, which no text can contain.
 *
 * Equal texts get equal delimiters, so that a repeated question is recognized.
 */
export const delimited = (what: string, text: string): string => {
  const mark = createHash('sha256').update(text).digest('hex').slice(0, 12);
  return `<<<${what} ${mark}>>>\n${text}\n<<<end of ${what} ${mark}>>>\n`;
};
