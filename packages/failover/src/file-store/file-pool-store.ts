import { mkdir, readFile, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { anyFunction, nonEmptyString, checkOptions, numberFrom, required } from '@h/options';
import type { PoolState, PoolStore } from '../pool/pool-store.js';
import { withLock } from './lock.js';
import { readState } from './read-state.js';
import { writeAtomically } from './write-atomically.js';

/** Options of {@link filePoolStore}. */
export interface FilePoolStoreOptions {
  /** The file. Its folder is made where there is none. */
  readonly path: string;
  /**
   * How long another process may hold the file before it is taken for dead, in milliseconds.
   *
   * @defaultValue `5_000`, a thousand times what writing takes
   */
  readonly staleMs?: number | undefined;
  /**
   * The time, as milliseconds since 1970, to tell how old a lock is; by the clock that stamps files.
   *
   * @defaultValue `Date.now`
   */
  readonly now?: (() => number) | undefined;
}

/**
 * Keeps a pool's state in a file that all processes of a machine share.
 *
 * Each change is one step: under a lock the file is read, changed, written anew beside it and put in its place. A crash
 * leaves the old file or the new one; a lock that a dead process has left is broken. No key is ever written.
 *
 * @throws InvalidOptionError `invalid-option`
 *
 * @example
 * ```ts
 * const pool = createCredentialPool({ profiles, store: filePoolStore({ path: join(home, '.agent/credentials.json') }) });
 * ```
 */
export const filePoolStore = (options: FilePoolStoreOptions): PoolStore => {
  checkOptions('filePoolStore()', options, {
    path: required(nonEmptyString),
    staleMs: numberFrom(1, Infinity),
    now: anyFunction,
  });
  // oxlint-disable-next-line h/no-clock -- the default clock, which callers may replace
  const { path, staleMs = 5_000, now = () => Date.now() } = options;
  let known: { readonly version: string; readonly state: PoolState } | undefined;

  /** Looks at the file only when it has changed. */
  const read = async (): Promise<PoolState> => {
    const stats = await stat(path, { bigint: true }).catch(() => undefined);
    const version = stats === undefined ? '' : `${stats.ino}:${stats.mtimeNs}:${stats.size}`;
    if (known?.version === version) return known.state;
    const state = readState(stats === undefined ? '' : await readFile(path, 'utf8').catch(() => ''));
    known = { version, state };
    return state;
  };

  return {
    read,
    update: async (change) => {
      await mkdir(dirname(path), { recursive: true });
      return withLock({ path: `${path}.lock`, staleMs, now }, async () => {
        const state = change(await read());
        await writeAtomically(path, JSON.stringify(state));
        return state;
      });
    },
  };
};
