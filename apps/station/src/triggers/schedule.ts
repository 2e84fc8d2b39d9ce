import { Cron } from 'croner';
import type { TriggerConfig } from '../config/schema.js';

/** A trigger with ticks. */
export type TimedTrigger = Extract<TriggerConfig, { readonly type: 'cron' | 'heartbeat' }>;

/** The ticks of a trigger. All processes compute the same ones. */
export interface Schedule {
  /** The first tick after a time, in milliseconds since 1970; `undefined` after the last tick. */
  next(after: number): number | undefined;
  /** The latest tick at or before a time. */
  latest(at: number): number | undefined;
}

/** @throws Error if the expression or the time zone of a cron trigger is invalid */
export const scheduleOf = (trigger: TimedTrigger): Schedule => {
  if (trigger.type === 'heartbeat') {
    const { every } = trigger;
    return {
      next: (after) => Math.floor(after / every) * every + every,
      latest: (at) => Math.floor(at / every) * every,
    };
  }
  const cron = new Cron(trigger.schedule, { timezone: trigger.timezone, paused: true });
  // Computes a run, because an unknown time zone is noticed only then.
  cron.nextRun();
  return {
    next: (after) => cron.nextRun(new Date(after))?.getTime(),
    // A run at the reference itself is excluded, so the reference is the next second.
    latest: (at) =>
      cron
        .previousRuns(2, new Date(at + 1_000))
        .map((date) => date.getTime())
        .find((tick) => tick <= at),
  };
};
