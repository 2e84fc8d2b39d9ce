import { APICallError } from '@ai-sdk/provider';
import type { ErrorInfo, JSONObject, JSONValue } from '@h/turn';
import { maxSecretLength, publicHeaders, withoutSecrets } from './secrets.js';

const maxMessageLength = 4_096;
const maxBodyLength = 16_384;
const maxCauses = 5;

/**
 * Converts a thrown value or a streamed error to plain data: status, headers and body of the HTTP response, a code,
 * and the causes.
 *
 * `code` is that of the provider if it sent one (`overloaded_error`, `insufficient_quota`), else that of the network
 * (`ECONNREFUSED`). No part of the request is included. A body over 16,384 characters is truncated and marked.
 */
export const toErrorInfo = (thrown: unknown, depth = 0): ErrorInfo => {
  if (APICallError.isInstance(thrown)) return fromApiCall(thrown, depth);
  if (thrown instanceof Error) return fromError(thrown, depth);
  if (typeof thrown === 'object' && thrown !== null) return fromFrame(thrown);
  return { name: 'Error', message: message(String(thrown)) };
};

const fromApiCall = (error: APICallError, depth: number): ErrorInfo => {
  const body = bodyOf(error.responseBody);
  return {
    ...fromError(error, depth, codeOf(body)),
    ...(error.statusCode !== undefined && { status: error.statusCode }),
    ...(error.responseHeaders && { headers: publicHeaders(error.responseHeaders) }),
    ...(body !== undefined && { body }),
  };
};

const fromError = (error: Error, depth: number, providerCode?: string): ErrorInfo => {
  const cause = error.cause !== undefined && depth < maxCauses ? toErrorInfo(error.cause, depth + 1) : undefined;
  const code = providerCode ?? text((error as { code?: unknown }).code) ?? cause?.code;
  return {
    name: error.name,
    message: message(error.message),
    ...(code !== undefined && { code }),
    ...(cause && { cause }),
  };
};

/** Converts an error event of a stream: the provider's object, or the SDK's conversion of that object. */
const fromFrame = (frame: object): ErrorInfo => {
  const {
    message: sent,
    statusCode,
    data = frame,
  } = frame as { message?: unknown; statusCode?: unknown; data?: unknown };
  const body = bodyOf(stringify(data));
  const code = codeOf(frame) ?? codeOf(body);
  return {
    name: 'StreamError',
    message: message(text(sent) ?? messageOf(body) ?? 'The provider sent an error inside the stream.'),
    ...(code !== undefined && { code }),
    ...(typeof statusCode === 'number' && { status: statusCode }),
    ...(body !== undefined && { body }),
  };
};

/** Returns the most specific name that the provider gives the error. */
const codeOf = (body: unknown): string | undefined => {
  const error = innerError(body);
  return error && (text(error['code']) ?? text(error['status']) ?? text(error['type']));
};

const messageOf = (body: unknown): string | undefined => text(innerError(body)?.['message']);

const innerError = (body: unknown): JSONObject | undefined => {
  if (typeof body !== 'object' || body === null) return undefined;
  const { error, response } = body as { error?: unknown; response?: unknown };
  if (typeof error === 'object' && error !== null) return error as JSONObject;
  if (typeof response === 'object' && response !== null) return innerError(response);
  return body as JSONObject;
};

const text = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined);

const message = (value: string): string => bounded(value, maxMessageLength);

const bodyOf = (raw: string | undefined): JSONValue | undefined => {
  if (raw === undefined || raw === '') return undefined;
  const safe = bounded(raw, maxBodyLength);
  try {
    return JSON.parse(safe) as JSONValue;
  } catch {
    return safe;
  }
};

/** Redacts secrets, then truncates the text, because a truncated secret would not match. */
const bounded = (whole: string, length: number): string => {
  const safe = withoutSecrets(whole.slice(0, length + maxSecretLength));
  if (whole.length <= length) return safe;
  return `${safe.slice(0, length).toWellFormed()} [… ${whole.length - length} more characters]`;
};

const stringify = (value: unknown): string | undefined => {
  try {
    return JSON.stringify(value);
  } catch {
    return undefined;
  }
};
