import type { Writable } from 'node:stream';
import type { AuditFile } from './read/find-files.js';
import type { OnBytes } from './read/read-entries.js';

/** Share of the work between two redraws. */
const redrawShare = 0.005;
const barChars = 30;

/** Draws a progress bar on a terminal, and nothing elsewhere. */
export const createProgress = (
  stream: Writable & { readonly isTTY?: boolean },
  files: readonly AuditFile[],
): { readonly add: OnBytes; readonly end: () => void } => {
  const total = files.reduce((sum, { size }) => sum + size, 0);
  if (stream.isTTY !== true || total === 0) return { add: () => undefined, end: () => undefined };
  let done = 0;
  let drawn = 0;
  return {
    add: (bytes) => {
      done += bytes;
      const share = Math.min(1, done / total);
      if (share - drawn < redrawShare) return;
      drawn = share;
      const filled = Math.round(share * barChars);
      stream.write(`\r${'█'.repeat(filled)}${'░'.repeat(barChars - filled)} ${Math.round(share * 100)} %`);
    },
    end: () => void stream.write('\r\u001B[K'),
  };
};
