import { parse, type ParsedScript } from 'unbash';

/** The longest line that is read. */
export const maxLineChars = 256_000;

/** The parser's time grows with the square of the here-documents that are open. */
const maxHereDocuments = 500;

/** A line that was read, or why it could not be. */
export type ParsedLine =
  | { readonly ok: true; readonly script: ParsedScript }
  | { readonly ok: false; readonly problem: string };

/** Parses a line as Bash does. What Bash rejects, or what passes the limits, is a problem. */
export const parseLine = (line: string): ParsedLine => {
  if (line.length > maxLineChars) return { ok: false, problem: `it has more than ${maxLineChars} characters` };
  if (line.includes('\0')) return { ok: false, problem: 'it holds a NUL character' };
  const text = line.replaceAll('\r\n', '\n');
  if (hasManyHereDocuments(text)) return { ok: false, problem: `it has more than ${maxHereDocuments} here-documents` };
  try {
    const script = parse(text);
    const error = script.errors?.[0];
    return error === undefined ? { ok: true, script } : { ok: false, problem: error.message };
  } catch (error) {
    if (error instanceof RangeError) return { ok: false, problem: 'it is nested too deeply' };
    throw error;
  }
};

/** Counts on the lines that may open one: a shift within the text of a here-document has no delimiter behind it. */
const hasManyHereDocuments = (text: string): boolean => {
  let count = 0;
  for (let index = text.indexOf('<<'); index !== -1; index = text.indexOf('<<', index + 2)) {
    if (/[^\s<]/.test(text[index + 2] ?? '')) count += 1;
    if (count > maxHereDocuments) return true;
  }
  return false;
};
