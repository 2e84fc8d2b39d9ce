import type { WasSeen } from './record.js';

/** Number of keys that are remembered: those of about 1 GB of transcripts. The oldest half is dropped beyond it. */
const maxKeys = 2_000_000;

/** Remembers keys as 53-bit hashes, so that memory is bounded. */
export const createSeen = (limit = maxKeys): WasSeen => {
  let young = new Set<number>();
  let old = new Set<number>();
  return (key) => {
    const hash = hashOf(key);
    if (young.has(hash) || old.has(hash)) return true;
    if (young.size >= limit / 2) [old, young] = [young, new Set()];
    young.add(hash);
    return false;
  };
};

/** Two multiplicative hashes with a final mix. Keys are ids of providers and tools, which are random or counted. */
const hashOf = (key: string): number => {
  let high = 0xdeadbeef;
  let low = 0x41c6ce57;
  for (let index = 0; index < key.length; index += 1) {
    const code = key.charCodeAt(index);
    high = Math.imul(high ^ code, 2654435761);
    low = Math.imul(low ^ code, 1597334677);
  }
  high = Math.imul(high ^ (high >>> 16), 2246822507) ^ Math.imul(low ^ (low >>> 13), 3266489909);
  low = Math.imul(low ^ (low >>> 16), 2246822507) ^ Math.imul(high ^ (high >>> 13), 3266489909);
  return 4_294_967_296 * (2_097_151 & low) + (high >>> 0);
};
