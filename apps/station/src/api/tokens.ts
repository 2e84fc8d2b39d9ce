import { randomBytes } from 'node:crypto';
import type { Records, TokenBody } from '../service/records.js';
import { sha256, StationError } from '../service/session-id.js';
import type { Caller, Scope } from './route.js';

/** Begins every token, so that secret scanners and people recognize it. */
const prefix = 'hst_';

/** Creates a token. Only its hash is stored, so it is shown once. */
export const createToken = async (
  records: Records,
  given: { readonly name: string; readonly tenant: string; readonly scopes: readonly Scope[] },
  now: number = Date.now(),
): Promise<string> => {
  const token = prefix + randomBytes(32).toString('base64url');
  const hash = sha256(token);
  await records.insert({ kind: 'token', id: hash, tenant: given.tenant, at: now, body: { ...given, hash } });
  return token;
};

/** Removes the tokens with a name. @returns their number */
export const revokeTokens = async (records: Records, tenant: string, name: string): Promise<number> => {
  const found = (await records.list('token', { tenant, limit: Infinity })).filter(({ body }) => body.name === name);
  for (const { id } of found) await records.delete('token', id);
  return found.length;
};

/**
 * Returns the caller of a request. The token is found by its hash, so the comparison reveals nothing about others.
 *
 * @throws StationError 401 without a known token
 */
export const callerOf = async (records: Records, header: string | null): Promise<Caller> => {
  const token = /^Bearer +(\S{1,200})$/i.exec(header ?? '')?.[1];
  if (token === undefined) {
    throw new StationError(401, 'no-token', 'The request has no token. Send "Authorization: Bearer hst_…".');
  }
  const found: TokenBody | undefined = (await records.get('token', sha256(token)))?.body;
  if (!found) throw new StationError(401, 'unknown-token', 'The token is not known. It may have been revoked.');
  return { name: found.name, tenant: found.tenant, scopes: found.scopes, token: found.hash };
};

/** @throws StationError 403 if the token does not have this right */
export const checkScope = ({ scopes }: Caller, scope: Scope): void => {
  if (scopes.includes(scope) || scopes.includes('admin')) return;
  throw new StationError(403, 'missing-scope', `The token does not have the scope "${scope}".`);
};
