import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { ensureFolder, LockHeldError, readRegularFile, UnsafeFileError, withLock } from '@h/files';
import { nonEmptyString, checkOptions, numberFrom, required, maxTimerMs } from '@h/options';
import { TurnError } from '@h/turn';
import { emptyPoolState, type PoolState, type PoolStore } from '../pool/pool-store.js';
import type { CooldownWindow } from '../pool/windows.js';
import { reasonActions } from '../reason-actions.js';

/** Options of {@link filePoolStore}. */
export interface FilePoolStoreOptions {
  /** The file. Its folder is created if it does not exist. */
  readonly path: string;
  /**
   * How long the file stays locked by a process on another machine that no longer responds, in milliseconds, at least
   * 100. On the same machine a lock ends with its process. An update waits three times as long for other processes.
   *
   * @defaultValue `5_000`, a thousand times the duration of a write
   */
  readonly leaseMs?: number | undefined;
}

/**
 * Keeps a pool's state in a file that all processes of a machine share.
 *
 * Each change is one step: under a lock the file is read, changed, written to a temporary file and renamed. A crash
 * leaves the old file or the new one; a lock that a dead process has left is broken. No key is ever written.
 *
 * @throws InvalidOptionError `invalid-option`
 *
 * @example
 * ```ts
 * const store = filePoolStore({ path: join(home, '.agent/cooldowns.json') });
 * const pool = createCredentialPool({ profiles, store });
 * ```
 */
export const filePoolStore = (options: FilePoolStoreOptions): PoolStore => {
  checkOptions('filePoolStore()', options, {
    path: required(nonEmptyString),
    leaseMs: numberFrom(100, maxTimerMs),
  });
  const { path, leaseMs = 5_000 } = options;
  const toError = (error: Error): TurnError =>
    error instanceof LockHeldError
      ? new TurnError('store-locked', `The credential store ${path} could not be locked. ${error.message}`)
      : new TurnError('store-locked', `The credential store ${path} was not updated. ${error.message}`);
  let known: { readonly version: string; readonly state: PoolState } | undefined;

  /** Looks at the file only when it has changed. */
  const read = async (): Promise<PoolState> => {
    const stats = await stat(path, { bigint: true }).catch(ifMissing);
    const version = stats === undefined ? '' : `${stats.ino}:${stats.mtimeNs}:${stats.size}`;
    if (known?.version === version) return known.state;
    const state = readState((await readRegularFile(path).catch(ifMissing))?.text ?? '');
    known = { version, state };
    return state;
  };

  return {
    read,
    update: async (change) => {
      await ensureFolder(dirname(path));
      return withLock(`${path}.lock`, { leaseMs, waitMs: 3 * leaseMs, toError }, async (lock) => {
        const state = change(await read());
        await lock.replaceFile(path, JSON.stringify(state));
        return state;
      });
    },
  };
};

/** A file that cannot be read now may be read later, and must not be replaced by an empty state. */
const ifMissing = (error: NodeJS.ErrnoException): undefined => {
  if (error instanceof UnsafeFileError || error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined;
  throw error;
};

/** Parses a stored state. Any other content counts as an empty state, and invalid windows are left out. */
const readState = (text: string): PoolState => {
  const found = parse(text) as Partial<PoolState> | undefined;
  if (
    typeof found !== 'object' ||
    found === null ||
    found.version !== 1 ||
    typeof found.windows !== 'object' ||
    found.windows === null
  ) {
    return emptyPoolState;
  }
  return {
    version: 1,
    windows: Object.fromEntries(Object.entries(found.windows).filter(([, window]) => isWindow(window))),
  };
};

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
};

const isWindow = (window: unknown): window is CooldownWindow => {
  const { reason, since, until, level } = (window ?? {}) as Partial<CooldownWindow>;
  return (
    typeof reason === 'string' &&
    Object.hasOwn(reasonActions, reason) &&
    [since, until, level].every((number) => Number.isFinite(number))
  );
};
