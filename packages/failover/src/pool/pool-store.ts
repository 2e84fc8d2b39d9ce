import type { MaybePromise } from '@h/turn';
import type { CooldownWindow } from './windows.js';

/** What pools share: the cooldowns of credentials and models. Never a key. */
export interface PoolState {
  readonly version: 1;
  readonly windows: Readonly<Record<string, CooldownWindow>>;
}

/**
 * Persists the state of a pool and shares it between processes.
 *
 * Contract: `update` reads, changes and writes in one step that no other process interrupts; if `change` throws,
 * nothing is written. A state that cannot be read counts as empty. A call that does not settle in time is abandoned.
 */
export interface PoolStore {
  read(): MaybePromise<PoolState>;
  /** @returns the state as it was written */
  update(change: (state: PoolState) => PoolState): MaybePromise<PoolState>;
}

export const emptyPoolState: PoolState = { version: 1, windows: {} };
