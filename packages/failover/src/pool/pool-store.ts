import type { MaybePromise } from '@h/turn';
import type { CooldownWindow } from './windows.js';

/** What pools share: which credentials and models are left alone, and until when. Never a key. */
export interface PoolState {
  readonly version: 1;
  readonly windows: Readonly<Record<string, CooldownWindow>>;
}

/**
 * Keeps the state of a pool beyond the process, and shares it between processes.
 *
 * Contract: `update` reads, changes and writes as one step, which no other process interrupts; what it was given is not
 * written where `change` throws. A state that cannot be read is an empty one.
 */
export interface PoolStore {
  read(): MaybePromise<PoolState>;
  /** @returns the state as it was written */
  update(change: (state: PoolState) => PoolState): MaybePromise<PoolState>;
}

export const emptyPoolState: PoolState = { version: 1, windows: {} };
