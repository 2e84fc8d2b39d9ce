import { maxTimerMs } from '@h/options';
import * as z from 'zod';

const durations: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};
const sizes: Readonly<Record<string, number>> = { B: 1, kB: 1_000, KB: 1_000, MB: 1_000_000, GB: 1_000_000_000 };

const scaled = (text: string, units: Readonly<Record<string, number>>): number => {
  const [, amount = '', unit = ''] = /^(\d+)([A-Za-z]+)$/.exec(text) ?? [];
  return Number(amount) * (units[unit] ?? Number.NaN);
};

/** A duration such as `30s`, `10m` or `24h`, in milliseconds. */
export const duration = z
  .string()
  .regex(/^\d{1,9}(?:ms|s|m|h|d)$/, 'must be a number and a unit: ms, s, m, h or d, such as 10m')
  .transform((text, context) => {
    const value = scaled(text, durations);
    if (value >= 1 && value <= maxTimerMs) return value;
    context.addIssue({ code: 'custom', message: 'must be between 1ms and 24d' });
    return z.NEVER;
  });

/** A size such as `512kB` or `100MB`, in bytes. */
export const size = z
  .string()
  .regex(/^\d{1,9}(?:B|kB|KB|MB|GB)$/, 'must be a number and a unit: B, kB, MB or GB, such as 100MB')
  .transform((text) => scaled(text, sizes));

/** Shows milliseconds in the largest unit that divides them. */
export const showDuration = (ms: number): string => {
  const [unit = 'ms', factor = 1] =
    Object.entries(durations)
      .toReversed()
      .find(([, factor]) => ms % factor === 0) ?? [];
  return `${ms / factor}${unit}`;
};
