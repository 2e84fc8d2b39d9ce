import { createHash } from 'node:crypto';

/** 64 bits: a collision is unlikely among millions of strings. */
const digits = 16;

/** Returns a short hash of a string, the same on every machine. */
export const hashText = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, digits);
