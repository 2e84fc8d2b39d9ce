import type { JSONValue } from './json.js';

/**
 * An error as plain data that can be put into an event and a journal.
 *
 * `status`, `headers` and `body` are those of an HTTP response. `code` is stable and meant for code (`'session-busy'`,
 * `'ECONNRESET'` …); `message` is meant for people.
 */
export interface ErrorInfo {
  readonly name: string;
  readonly message: string;
  readonly code?: string | undefined;
  readonly status?: number | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly body?: JSONValue | undefined;
  /** The operator that failed, if one did. */
  readonly operator?: string | undefined;
  readonly cause?: ErrorInfo | undefined;
}
