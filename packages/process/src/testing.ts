import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

const maxWaitMs = 20_000;
const intervalMs = 50;

/** Returns the command lines of all processes on this machine, also in containers and namespaces; zombies have none. */
export const commandLines = (): string[] => {
  if (!existsSync('/proc/self/cmdline')) return execFileSync('ps', ['-Ao', 'args='], { encoding: 'utf8' }).split('\n');
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
      } catch {
        return ''; // The process has just ended.
      }
    });
};

/**
 * Waits until no process on this machine has `token` in its command line. Use it to test that a command left nothing
 * running.
 *
 * @throws Error with the command lines that are still running after 20 seconds
 */
export const waitUntilGone = async (token: string): Promise<void> => {
  const running = (): string[] => commandLines().filter((line) => line.includes(token));
  for (let waitedMs = 0; running().length > 0; waitedMs += intervalMs) {
    if (waitedMs >= maxWaitMs) throw new Error(`Still running after ${maxWaitMs} ms: ${running().join(' | ')}`);
    await delay(intervalMs);
  }
};

/**
 * Returns a number of seconds for `sleep` that no other process on this machine uses, as the token of
 * {@link waitUntilGone}.
 */
export const uniqueSeconds = (): string =>
  // oxlint-disable-next-line h/no-clock -- tests run at the same time and must not find each other's processes
  `1${Math.floor(Math.random() * 1e8)}.${process.pid}`;
