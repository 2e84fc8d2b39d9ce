import { createHash } from 'node:crypto';
import type { OptionCheck } from '@h/options';

/** A random identifier. */
// oxlint-disable-next-line h/no-clock -- identifies a process or a claim, never something in a turn
export const newId = (): string => crypto.randomUUID().replaceAll('-', '');

/** Hashes a name, which may contain any characters, for use in subjects and keys. */
export const hashOf = (name: string): string =>
  createHash('sha256').update(Buffer.from(name, 'utf16le')).digest('hex').slice(0, 40);

export const bucketName: OptionCheck = {
  expected: 'a name of A-Z a-z 0-9 _ -',
  accepts: (value) => typeof value === 'string' && /^[\w-]{1,200}$/.test(value),
};
