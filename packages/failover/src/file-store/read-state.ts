import { emptyPoolState, type PoolState } from '../pool/pool-store.js';
import { reasonActions } from '../reason-actions.js';
import type { CooldownWindow } from '../pool/windows.js';

/** Parses a stored state. Any other content counts as an empty state, and invalid windows are left out. */
export const readState = (text: string): PoolState => {
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
