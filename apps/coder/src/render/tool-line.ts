import type { ToolCall, ToolOutcome, ToolStatus } from '@h/turn';
import { callText } from './call-text.js';
import { clipped, widthOf } from './fit.js';
import type { Palette } from './palette.js';
import { oneLine } from './printable.js';
import { duration } from './quantity.js';

/** Palette and width of the output. */
export interface Paper {
  readonly palette: Palette;
  /** The width in columns; `Infinity` disables truncation. */
  readonly columns: number;
}

/** A tool call with its outcome. */
export interface FinishedCall {
  readonly call: ToolCall;
  readonly outcome: ToolOutcome;
  readonly durationMs: number;
}

/** Formats a finished tool call: `✓ bash npm test · 1.2 s`, `✗ bash npm test · 1.2 s · failed: exit code 1`. */
export const toolLine = ({ call, outcome, durationMs }: FinishedCall, { palette, columns }: Paper): string => {
  const [mark, color] = marks[outcome.status];
  const name = oneLine(call.name);
  const time = duration(durationMs);
  const room = columns - `${mark} ${name}  · ${time}`.length;
  const problem = clipped(problemOf(outcome), Math.max(0, Math.floor(room / 2)));
  const about = clipped(callText(call.input), room - (problem === '' ? 0 : widthOf(problem) + 3));
  const parts = [
    `${palette[color](mark)} ${palette.bold(name)}${about === '' ? '' : ` ${about}`}`,
    palette.dim(time),
    ...(problem === '' ? [] : [palette[color](problem)]),
  ];
  return parts.join(palette.dim(' · '));
};

const marks: Readonly<Record<ToolStatus, readonly [mark: string, color: 'green' | 'red' | 'yellow']>> = {
  ok: ['✓', 'green'],
  stored: ['✓', 'green'],
  failed: ['✗', 'red'],
  'timed-out': ['✗', 'red'],
  'invalid-input': ['✗', 'red'],
  'unknown-tool': ['✗', 'red'],
  interrupted: ['✗', 'red'],
  denied: ['⊘', 'yellow'],
  skipped: ['⊘', 'yellow'],
  cancelled: ['⊘', 'yellow'],
};

/** Describes the problem of a call; empty for a successful call. */
const problemOf = (outcome: ToolOutcome): string => {
  switch (outcome.status) {
    case 'ok':
    case 'stored':
      return exitOf(outcome);
    case 'failed':
      return `failed: ${exitOf(outcome) || oneLine(outcome.error.message)}`;
    case 'timed-out':
      return `timed out after ${duration(outcome.timeoutMs)}`;
    case 'invalid-input':
      return `invalid input: ${oneLine(outcome.issues.join('; '))}`;
    case 'unknown-tool':
      return 'unknown tool';
    default:
      return `${outcome.status}: ${oneLine(outcome.reason)}`;
  }
};

/** Describes how a failed command ended, if the tool reports it. */
const exitOf = ({ details }: ToolOutcome): string => {
  if (typeof details !== 'object' || details === null || Array.isArray(details)) return '';
  const { exitCode, signal } = details as { readonly exitCode?: unknown; readonly signal?: unknown };
  if (typeof exitCode === 'number' && exitCode !== 0) return `exit code ${exitCode}`;
  return typeof signal === 'string' ? `ended by ${oneLine(signal)}` : '';
};
