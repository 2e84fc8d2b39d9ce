import { createHash } from 'node:crypto';

/** How many hexadecimal digits are kept: 64 bits, so that among millions of texts no two are likely to share a hash. */
const digits = 16;

/** A short hash of a text, the same on every machine. */
export const hashText = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, digits);
