import type { JSONValue } from '@h/turn';
import { monotonicMs } from '../process/machine.js';

/** Nobody reads faster. */
const intervalMs = 250;

/** How much of the latest output is shown, in bytes. */
const maxBytes = 400;

/**
 * Tells how far a command is, as `{ bytes, latest }`, at most four times a second: a command can write faster than anybody
 * can be told.
 */
export const throttledProgress = (progress: (value: JSONValue) => void): ((chunk: Uint8Array) => void) => {
  let bytes = 0;
  let toldAt = Number.NEGATIVE_INFINITY;
  return (chunk) => {
    bytes += chunk.length;
    const now = monotonicMs();
    if (now - toldAt < intervalMs) return;
    toldAt = now;
    progress({ bytes, latest: new TextDecoder().decode(chunk.subarray(-maxBytes)) });
  };
};
