import type { WorkspacePaths } from '@h/paths';
import type { GlobPattern } from './glob-pattern.js';

/** What is looked for, and where. */
export interface GrepQuery {
  readonly paths: WorkspacePaths;
  /** Canonical path of the folder to search. */
  readonly start: string;
  readonly pattern: string;
  /** The pattern is plain text and no regular expression. */
  readonly isLiteral: boolean;
  readonly ignoreCase: boolean;
  /** How many lines around each match are wanted. */
  readonly context: number;
  /** Only files that match, by their path from `start`. */
  readonly glob: GlobPattern | undefined;
  readonly includeIgnored: boolean;
  /** How many matching lines of one file are wanted at most. */
  readonly maxPerFile: number;
  readonly maxLineChars: number;
  /** Larger files are passed over. */
  readonly maxFileBytes: number;
  /** How many files and folders the search without ripgrep looks at. */
  readonly maxVisited: number;
  readonly signal: AbortSignal;
}

/** A line that matches, or is near one that does. */
export interface FoundLine {
  readonly number: number;
  /** Cut to `maxLineChars` around the match. */
  readonly text: string;
  readonly isMatch: boolean;
}

/** A file with at least one matching line. */
export interface FoundFile {
  /** Canonical path. */
  readonly path: string;
  readonly lines: readonly FoundLine[];
}

/** Finds matching files one after the other, in the order of their names. What it returns in the end was left out. */
export type GrepEngine = (query: GrepQuery) => AsyncGenerator<FoundFile, string | undefined, void>;

/** The pattern is no regular expression, or one that cannot be searched for. */
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
