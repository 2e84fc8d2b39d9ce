import type { TurnEventOf } from '@h/turn';
import type { RecoveryAction } from './observation.js';

type Asked = Pick<TurnEventOf<'model.request'>, 'model' | 'credential'>;

/** Returns how a turn recovered from a failure, determined from the next request. */
export const recoveryOf = (before: Asked, again: Asked, compactedBetween: boolean): RecoveryAction => {
  if (again.model !== before.model) return 'fallback';
  if (again.credential !== before.credential) return 'rotate';
  return compactedBetween ? 'compact' : 'retry';
};
