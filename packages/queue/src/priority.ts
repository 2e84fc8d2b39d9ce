import type { TurnPriority, TurnTrigger } from '@h/turn';

const byTrigger: ReadonlyMap<string, TurnPriority> = new Map<TurnTrigger, TurnPriority>([
  ['user', 'foreground'],
  ['manual', 'foreground'],
  ['cron', 'background'],
  ['heartbeat', 'background'],
  ['memory', 'background'],
]);

/**
 * Returns the priority of a turn by its trigger: users wait for the turns that they request, and not for those of
 * timers.
 *
 * @example
 * ```ts
 * priorityOf('user'); // 'foreground'
 * priorityOf('cron'); // 'background'
 * priorityOf('subagent'); // 'normal'
 * ```
 */
export const priorityOf = (trigger: TurnTrigger): TurnPriority => byTrigger.get(trigger) ?? 'normal';

/** Counts waiting requests by priority. */
export type PriorityCounts = Record<TurnPriority, number>;

export const noCounts = (): PriorityCounts => ({ foreground: 0, normal: 0, background: 0 });

/** The highest priority with at least one request; `undefined` if there is none. */
export const highestOf = ({ foreground, normal, background }: PriorityCounts): TurnPriority | undefined =>
  foreground > 0 ? 'foreground' : normal > 0 ? 'normal' : background > 0 ? 'background' : undefined;

/** Rank of a priority; 0 is the most urgent. */
export const urgencyOf = (priority: TurnPriority): 0 | 1 | 2 =>
  priority === 'foreground' ? 0 : priority === 'normal' ? 1 : 2;
