import type * as z from 'zod';
import { progressSchema, progressVersion, type Progress } from './schema.js';

/** The content of a progress file. */
export type ParsedProgress =
  | { readonly state: 'ready'; readonly progress: Progress }
  /** The file is incomplete or invalid. */
  | { readonly state: 'corrupt'; readonly problem: string }
  | { readonly state: 'newer'; readonly version: number };

/** Parses the text of a progress file. Never throws. */
export const parseProgress = (text: string): ParsedProgress => {
  let value: unknown;
  try {
    // Some editors begin a file with a byte order mark.
    value = JSON.parse(text.replace(/^\u{FEFF}/u, ''));
  } catch (error) {
    const what =
      text.trim() === ''
        ? 'it is empty'
        : `it is not JSON (${error instanceof Error ? error.message : 'unknown error'})`;
    return { state: 'corrupt', problem: what.slice(0, 300).toWellFormed() };
  }
  const version = (value as { readonly version?: unknown } | null)?.version;
  if (typeof version === 'number' && version > progressVersion) return { state: 'newer', version };
  const checked = progressSchema.safeParse(value);
  return checked.success
    ? { state: 'ready', progress: checked.data }
    : { state: 'corrupt', problem: issuesText(checked.error) };
};

const maxIssues = 3;

/** Describes what is invalid, and what was expected. */
export const issuesText = (error: z.ZodError): string => {
  const shown = error.issues
    .slice(0, maxIssues)
    .map(({ path, message }) => `${path.length === 0 ? 'the file' : path.join('.')}: ${message}`);
  const more = error.issues.length - shown.length;
  return `${shown.join('; ')}${more > 0 ? `; and ${more} more` : ''}`;
};
