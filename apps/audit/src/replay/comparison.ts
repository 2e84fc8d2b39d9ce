import type { AuditRecord } from '../read/record.js';
import { replay, type Replayed } from './replay.js';
import { runOf } from './run.js';
import type { Stack } from './stack.js';

/** A session in a pipeline without operators, and in one with them. */
export interface Comparison {
  readonly without: Replayed;
  readonly with: Replayed;
}

/**
 * Replays a session without operators and with those of a stack.
 *
 * @throws the reason of the signal if it aborts
 */
export const compareWith = async (
  stack: Stack,
  id: string,
  records: readonly AuditRecord[],
  signal?: AbortSignal,
): Promise<Comparison> => {
  const run = runOf(id, records);
  return {
    without: await replay(run, { operators: [], signal }),
    with: await replay(run, { operators: stack(), signal }),
  };
};

/** Adds up the comparisons of sessions; `undefined` without any. */
export const sumOf = (comparisons: readonly Comparison[]): Comparison | undefined =>
  comparisons.length === 0
    ? undefined
    : { without: added(comparisons.map((one) => one.without)), with: added(comparisons.map((one) => one.with)) };

const added = (parts: readonly Replayed[]): Replayed => {
  const sum = (of: (part: Replayed) => number): number => parts.reduce((total, part) => total + of(part), 0);
  return {
    modelCalls: sum(({ modelCalls }) => modelCalls),
    toolCalls: sum(({ toolCalls }) => toolCalls),
    denied: countsOf(parts.map(({ denied }) => denied)),
    approvals: sum(({ approvals }) => approvals),
    outcomes: countsOf(parts.map(({ outcomes }) => outcomes)),
    compactions: sum(({ compactions }) => compactions),
    tokens: sum(({ tokens }) => tokens),
    largest: Math.max(...parts.map(({ largest }) => largest)),
  };
};

const countsOf = (parts: readonly Readonly<Record<string, number>>[]): Readonly<Record<string, number>> => {
  const total: Record<string, number> = {};
  for (const part of parts) for (const [key, count] of Object.entries(part)) total[key] = (total[key] ?? 0) + count;
  return total;
};
