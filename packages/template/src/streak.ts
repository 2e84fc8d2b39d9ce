import type { ToolStatus } from '@h/turn';

const successes: ReadonlySet<ToolStatus> = new Set(['ok', 'stored']);
const failures: ReadonlySet<ToolStatus> = new Set(['failed', 'timed-out', 'invalid-input', 'unknown-tool']);

/**
 * How many tool calls in a row have failed, after one more.
 *
 * A success ends the streak. A call that did not run, or whose outcome is unknown, says nothing about it.
 *
 * @example
 * ```ts
 * ['failed', 'timed-out', 'denied', 'failed'].reduce(streakAfter, 0); // 3
 * ```
 */
export const streakAfter = (streak: number, status: ToolStatus): number => {
  if (successes.has(status)) return 0;
  return failures.has(status) ? streak + 1 : streak;
};
