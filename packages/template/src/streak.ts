import type { ToolStatus } from '@h/turn';

const successes: ReadonlySet<ToolStatus> = new Set(['ok', 'stored']);
const failures: ReadonlySet<ToolStatus> = new Set(['failed', 'timed-out', 'invalid-input', 'unknown-tool']);

/**
 * Returns the number of consecutive failed tool calls after another call.
 *
 * A success ends the streak. A call that did not run, or whose outcome is unknown, does not change it.
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
