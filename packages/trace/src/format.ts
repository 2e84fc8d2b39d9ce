import type { Usage } from '@h/turn';

/** Formats a duration: `3 ms`, `4.2 s`, `2 min 5 s`. */
export const formatDuration = (milliseconds: number): string => {
  if (milliseconds < 1) return milliseconds === 0 ? '0 ms' : `${milliseconds.toFixed(2)} ms`;
  if (milliseconds < 1000) return `${Math.round(milliseconds)} ms`;
  if (milliseconds < 59_950) return `${(milliseconds / 1000).toFixed(1)} s`;
  const seconds = Math.round(milliseconds / 1000);
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor((seconds % 3600) / 60)];
  return hours > 0 ? `${hours} h ${minutes} min` : `${minutes} min ${seconds % 60} s`;
};

/** Formats tokens: `12,000 → 240 tokens`, with the cached share. */
export const formatUsage = ({ input, output, cacheRead }: Usage): string => {
  const cached = input > 0 && cacheRead > 0 ? ` (${Math.round((cacheRead / input) * 100)} % cached)` : '';
  return `${count(input)} → ${count(output)} tokens${cached}`;
};

export const formatCost = (cost: number): string => `$${cost.toFixed(cost !== 0 && cost < 0.01 ? 5 : 4)}`;

export const count = (value: number): string => Math.round(value).toLocaleString('en-US');

/**
 * Formats a string as one line for a terminal. Control characters, which could move the cursor or set colors, become
 * spaces.
 */
export const oneLine = (text: string, maxChars: number): string => {
  const line = text
    .slice(0, maxChars * 4)
    // oxlint-disable-next-line eslint/no-control-regex -- control characters are removed here
    .replaceAll(/[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]+/g, ' ')
    .trim();
  return line.length > maxChars ? `${line.slice(0, maxChars - 1)}…` : line;
};
