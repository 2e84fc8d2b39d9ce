import { createHash, createHmac } from 'node:crypto';

/**
 * Returns a hash of a session name: 16 hexadecimal digits, always the same for the same session and salt.
 *
 * A secret salt prevents verification of guessed names.
 *
 * @example
 * ```ts
 * hashSessionKey('alice@whatsapp', process.env.SESSION_SALT);
 * ```
 */
export const hashSessionKey = (session: string, salt?: string): string =>
  (salt === undefined ? createHash('sha256') : createHmac('sha256', salt)).update(session).digest('hex').slice(0, 16);
