import {
  toErrorInfo,
  type ErrorInfo,
  type JSONObject,
  type JSONValue,
  type ModelDriver,
  type ModelDriverOutput,
} from '@h/turn';
import { catchError, defer, map, of } from 'rxjs';
import type { CredentialPool } from '../pool/credential-pool.js';

/**
 * Wraps a driver so that its errors never quote a key of the pool, as providers ("Incorrect API key provided: …") and
 * HTTP clients do. `failover({ pool })` does this for what is stored and observed; operators and hooks before it receive
 * the error as the driver returned it, unless the driver is wrapped.
 *
 * @example
 * ```ts
 * harness({ model: redactKeys(languageModel({ resolve }), pool) });
 * ```
 */
export const redactKeys =
  (driver: ModelDriver, pool: Pick<CredentialPool, 'redact'>): ModelDriver =>
  (request, context) =>
    defer(() => driver(request, context)).pipe(
      // A client that rejects a header quotes it, too.
      catchError((error: unknown) => of<ModelDriverOutput>({ type: 'error', error: toErrorInfo(error) })),
      map((output): ModelDriverOutput =>
        output.type === 'error' ? { ...output, error: withoutKeys(output.error, pool) } : output,
      ),
    );

/** Returns an error without the keys of the pool, in each of its strings. */
export const withoutKeys = (error: ErrorInfo, pool: Pick<CredentialPool, 'redact'>): ErrorInfo =>
  redacted(error as unknown as JSONValue, (text) => pool.redact(text)) as unknown as ErrorInfo;

const redacted = (value: JSONValue | undefined, redact: (text: string) => string): JSONValue | undefined => {
  if (typeof value === 'string') return redact(value);
  if (Array.isArray(value)) return (value as readonly JSONValue[]).map((item) => redacted(item, redact) as JSONValue);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value as JSONObject).map(([name, member]) => [redact(name), redacted(member, redact)]),
  );
};
