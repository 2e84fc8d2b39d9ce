import type { TurnPriority, TurnTrigger } from '@h/turn';

const byTrigger: ReadonlyMap<string, TurnPriority> = new Map<TurnTrigger, TurnPriority>([
  ['user', 'foreground'],
  ['manual', 'foreground'],
  ['cron', 'background'],
  ['heartbeat', 'background'],
  ['memory', 'background'],
]);

/**
 * The priority of a turn by its trigger: a person waits for what a person requested, and not for the turn of a timer.
 *
 * @example
 * ```ts
 * priorityOf('user'); // 'foreground'
 * priorityOf('cron'); // 'background'
 * priorityOf('subagent'); // 'normal'
 * ```
 */
export const priorityOf = (trigger: TurnTrigger): TurnPriority => byTrigger.get(trigger) ?? 'normal';

/** How many wait, by priority. */
export type PriorityCounts = Record<TurnPriority, number>;

export const noCounts = (): PriorityCounts => ({ foreground: 0, normal: 0, background: 0 });

/** The highest priority that is counted at least once; `undefined` if none is. */
export const highestOf = ({ foreground, normal, background }: PriorityCounts): TurnPriority | undefined =>
  foreground > 0 ? 'foreground' : normal > 0 ? 'normal' : background > 0 ? 'background' : undefined;

/** 0 for the most urgent. */
export const urgencyOf = (priority: TurnPriority): 0 | 1 | 2 =>
  priority === 'foreground' ? 0 : priority === 'normal' ? 1 : 2;
