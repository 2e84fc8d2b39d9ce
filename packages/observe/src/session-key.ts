import { createHash, createHmac } from 'node:crypto';

/**
 * A name for a session that says nothing about it: the same for the same session, 16 hexadecimal digits.
 *
 * With a salt it cannot be checked by guessing names.
 *
 * @example
 * ```ts
 * hashSessionKey('alice@whatsapp', process.env.SESSION_SALT);
 * ```
 */
export const hashSessionKey = (session: string, salt?: string): string =>
  (salt === undefined ? createHash('sha256') : createHmac('sha256', salt)).update(session).digest('hex').slice(0, 16);
