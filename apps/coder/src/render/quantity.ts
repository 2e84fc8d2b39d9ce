/** Formats a duration: `12 ms`, `1.2 s`, `2 min 5 s`, `1 h 2 min`. */
export const duration = (milliseconds: number): string => {
  if (milliseconds < 999.5) return `${Math.max(0, Math.round(milliseconds))} ms`;
  const tenths = Math.round(milliseconds / 100);
  if (tenths < 600) return `${(tenths / 10).toFixed(1)} s`;
  const seconds = Math.round(milliseconds / 1000);
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  return `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`;
};

/** Formats a running duration in tenths of a second, so that its width stays stable. */
export const elapsed = (milliseconds: number): string =>
  milliseconds < 60_000 ? `${(Math.max(0, milliseconds) / 1000).toFixed(1)} s` : duration(milliseconds);

/** Formats a whole number with thousands separators: `12,345`. */
export const grouped = (count: number): string => String(Math.round(count)).replaceAll(/\B(?=(?:\d{3})+$)/g, ',');

/** Formats a count with its noun: `1 step`, `2 steps`. */
export const counted = (count: number, thing: string, things = `${thing}s`): string =>
  `${grouped(count)} ${count === 1 ? thing : things}`;
