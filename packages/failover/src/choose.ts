import type { CredentialPool } from './pool/credential-pool.js';
import type { Lease } from './pool/profile-picker.js';
import type { ErrorReason } from '@h/provider-errors';
import type { TurnMemory } from './turn-memory.js';

/** Somebody who can be asked now. */
export interface Free {
  readonly kind: 'ask';
  /** Their place in the chain. */
  readonly place: number;
  readonly lease: Lease;
  /** Why those before them cannot be asked, where there are any. */
  readonly because: ErrorReason | undefined;
}

/** Who is free first, of all that are left alone. */
export interface Busy {
  readonly place: number;
  readonly profile: string | undefined;
  /** When, as milliseconds since 1970; nothing while somebody else tries them. */
  readonly until: number | undefined;
  readonly reason: ErrorReason;
}

/** Finds who comes next: who was asked last, then those after it in the chain, then those before it. Nobody when all are given up. */
export const choose = (
  { chain, current, givenUp, session }: TurnMemory,
  pool: CredentialPool,
): Free | Busy | undefined => {
  let first: Busy | undefined;
  let because: ErrorReason | undefined;
  for (let offset = 0; offset < chain.length; offset += 1) {
    const place = (current + offset) % chain.length;
    const candidate = chain[place];
    if (candidate === undefined || givenUp.has(candidate.model)) continue;
    const found = pool.acquire({ provider: candidate.provider, model: candidate.model, session });
    if ('release' in found) return { kind: 'ask', place, lease: found, because };
    because ??= found.reason;
    if (first === undefined || (found.until ?? -Infinity) < (first.until ?? -Infinity)) first = { place, ...found };
  }
  return first;
};

/** When the first one is free, for those who will not wait. */
export const availableAt = (memory: TurnMemory, pool: CredentialPool): number | undefined => {
  const found = choose(memory, pool);
  if (found === undefined) return undefined;
  if (!('lease' in found)) return found.until;
  found.lease.release();
  return undefined;
};
