import type { TurnPriority, TurnTrigger } from '@h/turn';

const byTrigger: ReadonlyMap<string, TurnPriority> = new Map<TurnTrigger, TurnPriority>([
  ['user', 'foreground'],
  ['manual', 'foreground'],
  ['cron', 'background'],
  ['heartbeat', 'background'],
  ['memory', 'background'],
]);

/**
 * How urgent a turn is by what set it off: somebody waits for what a person asked for, nobody for a timer's.
 *
 * @example
 * ```ts
 * priorityOf('user'); // 'foreground'
 * priorityOf('cron'); // 'background'
 * priorityOf('subagent'); // 'normal'
 * ```
 */
export const priorityOf = (trigger: TurnTrigger): TurnPriority => byTrigger.get(trigger) ?? 'normal';
