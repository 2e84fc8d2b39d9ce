import { parse, type ParsedScript } from 'unbash';

/** Maximum length of a line. */
export const maxLineChars = 256_000;

/** Limited because the parser's time grows with the square of open here-documents. */
const maxHereDocuments = 500;

/** A parsed line, or the reason why it could not be parsed. */
export type ParsedLine =
  | { readonly ok: true; readonly script: ParsedScript }
  | { readonly ok: false; readonly problem: string };

/** Parses a line as Bash does. Invalid syntax and exceeded limits are problems. */
export const parseLine = (line: string): ParsedLine => {
  if (line.length > maxLineChars) return { ok: false, problem: `it has more than ${maxLineChars} characters` };
  if (line.includes('\0')) return { ok: false, problem: 'it contains a NUL character' };
  const text = line.replaceAll(/(?<!\\)\r\n/g, '\n');
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

/** Counts lines that may open a here-document: a shift inside its text has no delimiter after it. */
const hasManyHereDocuments = (text: string): boolean => {
  let count = 0;
  for (let index = text.indexOf('<<'); index !== -1; index = text.indexOf('<<', index + 2)) {
    if (/[^\s<]/.test(text[index + 2] ?? '')) count += 1;
    if (count > maxHereDocuments) return true;
  }
  return false;
};
