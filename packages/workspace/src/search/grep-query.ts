import type { WorkspacePaths } from '@h/paths';
import type { GlobPattern } from './glob-pattern.js';

/** A search: what to find, and where. */
export interface GrepQuery {
  readonly paths: WorkspacePaths;
  /** Canonical path of the folder to search. */
  readonly start: string;
  readonly pattern: string;
  /** Whether the pattern is plain text instead of a regular expression. */
  readonly isLiteral: boolean;
  readonly ignoreCase: boolean;
  /** Number of context lines around each match. */
  readonly context: number;
  /** Only matching files, by their path from `start`. */
  readonly glob: GlobPattern | undefined;
  readonly includeIgnored: boolean;
  /** Maximum number of matching lines per file. */
  readonly maxPerFile: number;
  readonly maxLineChars: number;
  /** Larger files are skipped. */
  readonly maxFileBytes: number;
  /** Maximum number of files and folders that the built-in search visits. */
  readonly maxVisited: number;
  readonly signal: AbortSignal;
}

/** A matching line or a context line. */
export interface FoundLine {
  readonly number: number;
  /** Truncated to `maxLineChars` around the match. */
  readonly text: string;
  readonly isMatch: boolean;
}

/** A file with at least one matching line. */
export interface FoundFile {
  /** Canonical path. */
  readonly path: string;
  readonly lines: readonly FoundLine[];
}

/** Yields matching files in the order of their names. Returns a note about what was not searched. */
export type GrepEngine = (query: GrepQuery) => AsyncGenerator<FoundFile, string | undefined, void>;

/** The pattern is not a regular expression, or is not supported. */
export class GrepPatternError extends Error {
  override readonly name = 'GrepPatternError';
  readonly code = 'invalid-pattern';
}

/** Returns at most `maxChars` characters of a line around the match, with `…` at each cut. */
export const excerpt = (line: string, place: number, maxChars: number): string => {
  if (line.length <= maxChars) return line;
  const start = Math.max(0, Math.min(place - Math.floor(maxChars / 4), line.length - maxChars));
  const end = start + maxChars;
  return `${start > 0 ? '…' : ''}${line.slice(start, end).toWellFormed()}${end < line.length ? '…' : ''}`;
};
