import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { Refusal } from '../calls/refusal.js';

/** Begins every key that the proxy issues, so that secret scanners and people recognize it. */
const keyPrefix = 'hmp-';

/** A client with a key of the proxy. */
export interface KnownClient {
  readonly name: string;
  /** SHA-256 of the key, in hexadecimal. Keys have 256 random bits, so a slow hash would add nothing. */
  readonly keyHash: string;
}

/** The client of a request. */
export interface Client {
  readonly name: string;
  /** Whether the credential of the request belongs to the provider and is forwarded. */
  readonly hasOwnCredential: boolean;
}

/** Creates a key for a client. Only the hash belongs in the configuration. */
export const createKey = (): { readonly key: string; readonly keyHash: string } => {
  const key = keyPrefix + randomBytes(32).toString('base64url');
  return { key, keyHash: hashOf(key) };
};

const hashOf = (key: string): string => createHash('sha256').update(key).digest('hex');

/** Returns the credential of a request, wherever the SDKs put it. */
const credentialOf = (headers: IncomingHttpHeaders): string | undefined => {
  const apiKey = headers['x-api-key'];
  if (typeof apiKey === 'string' && apiKey !== '') return apiKey;
  return /^Bearer +(\S+)$/i.exec(headers.authorization ?? '')?.[1];
};

/**
 * Creates the check of credentials.
 *
 * Without known clients, each request must bring the provider's own credential, which is forwarded; the client is then
 * named after a hash of it.
 *
 * @throws Refusal `unauthorized`
 */
export const authenticator = (clients: readonly KnownClient[]): ((headers: IncomingHttpHeaders) => Client) => {
  const known = clients.map(({ name, keyHash }) => ({ name, hash: Buffer.from(keyHash, 'hex') }));
  return (headers) => {
    const credential = credentialOf(headers);
    if (known.length === 0) {
      const name = credential === undefined ? 'anonymous' : `key-${hashOf(credential).slice(0, 12)}`;
      return { name, hasOwnCredential: true };
    }
    if (credential === undefined) throw new Refusal('unauthorized', noKey);
    const hash = Buffer.from(hashOf(credential), 'hex');
    let found: string | undefined;
    for (const client of known) if (timingSafeEqual(client.hash, hash)) found = client.name;
    if (found === undefined) throw new Refusal('unauthorized', wrongKey);
    return { name: found, hasOwnCredential: false };
  };
};

const noKey = `The request has no key. Send a key of this proxy (${keyPrefix}…) as x-api-key or as a bearer token.`;
const wrongKey = `The key is not a key of this proxy. Create one with "h-model-proxy key NAME" and add its hash to the configuration.`;
