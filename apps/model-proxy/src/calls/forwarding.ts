import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Client } from '../limits/clients.js';
import { providerUrls, type ProxyConfig } from '../config.js';
import { endToEnd, headerPairs, readableEncodings } from '../wire/headers.js';
import type { Provider } from './refusal.js';
import type { Route } from './routes.js';

/** A request of a client that has passed the checks. */
export interface ClientRequest {
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
  readonly route: Route;
  readonly client: Client;
  /** Emptied when the answer begins, because a stream may outlive its request by minutes. */
  body: Buffer;
  /** Aborted when the client leaves or the proxy closes. */
  readonly signal: AbortSignal;
}

/** The body of a request before it was read, and after its answer has begun. */
export const noBody: Buffer = Buffer.alloc(0);

/** Credentials of the client, which the proxy replaces if it has keys of the provider. */
const credentialHeaders = ['authorization', 'x-api-key'] as const;

/** Headers that describe the bytes of a body, which do not apply to a changed one. */
export const bodyHeaders = ['content-length', 'content-encoding', 'content-md5', 'digest', 'content-digest'] as const;

/** Returns the base URL of a provider. */
export const baseOf = (config: ProxyConfig, provider: Provider): URL =>
  new URL(config[provider].url ?? providerUrls[provider]);

/**
 * Returns the headers of a client's request for the provider, in their order and spelling.
 *
 * @param key - replaces the credential of the client
 */
export const forwardedHeaders = (
  { rawHeaders }: IncomingMessage,
  key: { readonly provider: Provider; readonly value: string } | undefined,
  dropped: readonly string[] = [],
): (readonly [string, string])[] => {
  const removed = new Set(['host', ...dropped, ...(key ? credentialHeaders : [])]);
  const headers = endToEnd(rawHeaders, removed).map(([name, value]): readonly [string, string] =>
    name.toLowerCase() === 'accept-encoding' ? [name, readableEncodings(value)] : [name, value],
  );
  if (key?.provider === 'anthropic') headers.push(['x-api-key', key.value]);
  if (key?.provider === 'openai') headers.push(['authorization', `Bearer ${key.value}`]);
  return headers;
};

/** Headers of a client's request that also apply to another provider. */
const sharedHeaders: ReadonlySet<string> = new Set(['user-agent', 'traceparent', 'tracestate', 'baggage']);

/**
 * Returns the headers of a request in another format than that of the client.
 *
 * @param key - replaces the credential of the client, which is for the provider that the client addressed
 */
export const convertedHeaders = (
  { rawHeaders }: IncomingMessage,
  key: { readonly provider: Provider; readonly value: string } | undefined,
  body: string,
): (readonly [string, string])[] => {
  const kept = new Set<string>([...sharedHeaders, ...(key ? [] : credentialHeaders)]);
  const headers: (readonly [string, string])[] = [
    ...headerPairs(rawHeaders).filter(([name]) => kept.has(name.toLowerCase())),
    ['content-type', 'application/json'],
    ['accept-encoding', 'identity'],
    ['content-length', String(Buffer.byteLength(body))],
  ];
  if (key?.provider === 'anthropic') headers.push(['anthropic-version', '2023-06-01'], ['x-api-key', key.value]);
  if (key?.provider === 'openai') headers.push(['authorization', `Bearer ${key.value}`]);
  return headers;
};
