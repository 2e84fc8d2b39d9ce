import { formatPatch, structuredPatch } from 'diff';
import { countLines } from './text-content.js';

/** The difference between two versions of a file, for users. */
export interface FileDiff {
  /** A unified diff; empty if nothing changed or the versions have too little in common. */
  readonly diff: string;
  readonly additions: number;
  readonly deletions: number;
  /** Whether the diff is incomplete: too many lines, lines too long, or versions too different. */
  readonly isDiffCut: boolean;
}

const maxLineChars = 500;
const maxChars = 64 * 1024;
/** Maximum number of changed lines for which the shortest diff is computed; the time grows with its square. */
const maxEdits = 4_000;

/** Compares two versions of a file. `path` is its name in the header. */
export const fileDiff = (path: string, before: string, after: string): FileDiff => {
  const patch = structuredPatch(`a/${path}`, `b/${path}`, before, after, undefined, undefined, {
    context: 3,
    maxEditLength: maxEdits,
  });
  if (patch === undefined) {
    return { diff: '', additions: countLines(after), deletions: countLines(before), isDiffCut: true };
  }
  if (patch.hunks.length === 0) return { diff: '', additions: 0, deletions: 0, isDiffCut: false };
  const lines = patch.hunks.flatMap((hunk) => hunk.lines);
  const hunks = patch.hunks.map((hunk) => ({ ...hunk, lines: hunk.lines.map(shortened) }));
  const diff = formatPatch({ ...patch, hunks }).replace(/^=+\n/u, '');
  const isTooLong = diff.length > maxChars;
  return {
    diff: isTooLong ? diff.slice(0, diff.lastIndexOf('\n', maxChars) + 1) : diff,
    additions: countOf(lines, '+'),
    deletions: countOf(lines, '-'),
    isDiffCut: isTooLong || lines.some((line) => line.length > maxLineChars),
  };
};

const countOf = (lines: readonly string[], sign: string): number =>
  lines.reduce((sum, line) => sum + (line.startsWith(sign) ? 1 : 0), 0);

const shortened = (line: string): string =>
  line.length > maxLineChars ? `${line.slice(0, maxLineChars).toWellFormed()}… [${line.length - 1} characters]` : line;
