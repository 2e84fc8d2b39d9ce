import type { JSONValue } from '@h/turn';

/** Minimum time between two reports, in milliseconds. */
const intervalMs = 250;

/** Maximum size of `latest`, in bytes. */
const maxBytes = 400;

/** Reports the progress of a command as `{ bytes, latest }`, at most four times per second. */
export const throttledProgress = (progress: (value: JSONValue) => void): ((chunk: Uint8Array) => void) => {
  let bytes = 0;
  let reportedAt = Number.NEGATIVE_INFINITY;
  return (chunk) => {
    bytes += chunk.length;
    const now = monotonicMs();
    if (now - reportedAt < intervalMs) return;
    reportedAt = now;
    progress({ bytes, latest: new TextDecoder().decode(chunk.subarray(-maxBytes)) });
  };
};

/** Milliseconds of a monotonic clock. */
const monotonicMs = (): number =>
  // oxlint-disable-next-line h/no-clock -- limits the rate of reports about a real process
  performance.now();
