import type { TurnEventOf } from '@h/turn';
import type { RecoveryAction } from './observation.js';

type Asked = Pick<TurnEventOf<'model.request'>, 'model' | 'credential'>;

/** How a turn got over a failure: told from what is asked the second time, whoever decided it. */
export const recoveryOf = (before: Asked, again: Asked, compactedBetween: boolean): RecoveryAction => {
  if (again.model !== before.model) return 'fallback';
  if (again.credential !== before.credential) return 'rotate';
  return compactedBetween ? 'compact' : 'retry';
};
