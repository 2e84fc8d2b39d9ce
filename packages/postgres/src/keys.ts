import { createHash } from 'node:crypto';

/** The longest name that is a key as it is. PostgreSQL limits an index entry to 2,704 bytes. */
const maxKeyBytes = 500;

/**
 * Returns the key of a name in an index.
 *
 * A short name is its own key. Others, with a NUL character or a lone surrogate, which PostgreSQL does not store, or
 * too long for an index, are hashed. A key that begins with `~` is always a hash.
 */
export const keyOf = (name: string): string => {
  const isPlain =
    name.length <= maxKeyBytes &&
    Buffer.byteLength(name) <= maxKeyBytes &&
    !name.startsWith('~') &&
    !name.includes('\0') &&
    name.isWellFormed();
  return isPlain ? name : `~${createHash('sha256').update(Buffer.from(name, 'utf16le')).digest('hex')}`;
};

/** Encodes any string so that PostgreSQL can store it; `decodeName` returns it. */
export const encodeName = (name: string): string => JSON.stringify(name);

export const decodeName = (name: string): string => JSON.parse(name) as string;
