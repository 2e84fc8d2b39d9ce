import { createHash } from 'node:crypto';
import type { WasSeen } from './record.js';

/** Number of keys that are remembered: those of about 1 GB of transcripts. The oldest half is dropped beyond it. */
const maxKeys = 2_000_000;

/** Remembers keys as 48-bit hashes, so that memory is bounded. */
export const createSeen = (limit = maxKeys): WasSeen => {
  let young = new Set<number>();
  let old = new Set<number>();
  return (key) => {
    const hash = createHash('sha1').update(key).digest().readUIntBE(0, 6);
    if (young.has(hash) || old.has(hash)) return true;
    if (young.size >= limit / 2) [old, young] = [young, new Set()];
    young.add(hash);
    return false;
  };
};
