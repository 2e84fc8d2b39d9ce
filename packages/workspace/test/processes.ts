import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { vi } from 'vitest';

/** The command lines of all processes on this machine, also in containers and namespaces; zombies have none. */
export const commandLines = (): string[] => {
  if (!existsSync('/proc/self/cmdline')) return execFileSync('ps', ['-Ao', 'args='], { encoding: 'utf8' }).split('\n');
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
      } catch {
        return ''; // It has just ended.
      }
    });
};

/** Waits until no process has this in its command line. */
export const waitUntilGone = (token: string): Promise<void> =>
  vi.waitFor(
    () => {
      const left = commandLines().filter((line) => line.includes(token));
      if (left.length > 0) throw new Error(`still running: ${left.join(' | ')}`);
    },
    { timeout: 20_000, interval: 50 },
  );

/** A number of seconds to sleep that no other process on this machine sleeps. */
export const uniqueSeconds = (): string => `1${Math.floor(Math.random() * 1e8)}.${process.pid}`;
