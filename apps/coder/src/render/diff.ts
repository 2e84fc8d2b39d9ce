import type { JSONValue } from '@h/turn';
import { clipped } from './fit.js';
import { printable } from './printable.js';
import type { Paper } from './tool-line.js';

/** A file change in the details of a tool result. */
export interface FileChange {
  readonly path: string;
  readonly diff: string;
  readonly additions: number;
  readonly deletions: number;
}

/** Returns the file changes in the details of a tool result: one, several under `files`, or none. */
export const changesIn = (details: JSONValue | undefined): readonly FileChange[] => {
  if (typeof details !== 'object' || details === null) return [];
  if (Array.isArray(details)) return details.flatMap(changesIn);
  const { path, diff, additions, deletions, files } = details as { readonly [key: string]: JSONValue | undefined };
  if (
    typeof path === 'string' &&
    typeof diff === 'string' &&
    typeof additions === 'number' &&
    typeof deletions === 'number'
  ) {
    return additions + deletions === 0 ? [] : [{ path, diff, additions, deletions }];
  }
  return Array.isArray(files) ? files.flatMap(changesIn) : [];
};

/** Maximum number of lines shown of a diff. */
const maxLines = 40;

/** Formats a unified diff with line numbers and colors, truncated to 40 lines. */
export const diffLines = ({ diff }: FileChange, { palette, columns }: Paper): readonly string[] => {
  const changes = numbered(diff);
  const width = Math.max(0, ...changes.map(({ number }) => number.length));
  const shown = changes.slice(0, maxLines).map(({ sign, number, text }) => {
    const line = clipped(`${number.padStart(width)} ${sign} ${text}`, columns - indent.length).trimEnd();
    return `${indent}${sign === '+' ? palette.green(line) : sign === '-' ? palette.red(line) : palette.dim(line)}`;
  });
  const left = changes.length - shown.length;
  return left === 0 ? shown : [...shown, `${indent}${palette.dim(`… ${left} more lines`)}`];
};

const indent = '    ';

interface Change {
  readonly sign: '+' | '-' | ' ' | '…';
  readonly number: string;
  readonly text: string;
}

/** Numbers the lines of a unified diff: removed lines by the old file, all others by the new file. */
const numbered = (diff: string): readonly Change[] => {
  const changes: Change[] = [];
  let before = 0;
  let after = 0;
  for (const raw of diff.split('\n')) {
    const hunk = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/.exec(raw);
    if (hunk) {
      if (before + after > 0) changes.push({ sign: '…', number: '', text: '' });
      before = Number(hunk[1]);
      after = Number(hunk[2]);
      continue;
    }
    const sign = raw.charAt(0);
    const isHeader = before + after === 0;
    if (isHeader || (sign !== '+' && sign !== '-' && sign !== ' ')) continue;
    const text = printable(raw.slice(1)).replaceAll('\t', '  ');
    changes.push({ sign, number: String(sign === '-' ? before : after), text });
    if (sign !== '+') before += 1;
    if (sign !== '-') after += 1;
  }
  return changes;
};
