import { ProtocolError, SdkError, SdkErrorCode, SdkHttpError } from '@modelcontextprotocol/client';
import { TurnError } from '@h/turn';
import { truncate } from '../truncate.js';

/** Why a server did not answer. */
export type ConnectionErrorCode = 'mcp-unavailable' | 'mcp-disconnected' | 'mcp-closed';

/** The server cannot be reached, or disconnected during a request. */
export class McpConnectionError extends TurnError {
  readonly server: string;

  constructor(code: ConnectionErrorCode, server: string, message: string, options?: ErrorOptions) {
    super(code, message, options);
    this.server = server;
  }
}

/** Codes of errors that a transport reports as the response to a request. They are outside of the codes of JSON-RPC. */
const wireErrorCode = { streamEnded: -40_001, tooLarge: -40_002, invalidAnswer: -40_003 } as const;

/** The error of a JSON-RPC response. */
export interface WireError {
  readonly code: number;
  readonly message: string;
}

/** The response stream of a request ended without its response. */
export const streamEndedError: WireError = {
  code: wireErrorCode.streamEnded,
  message: 'The connection ended before the response arrived.',
};

/** The answer to a request is not valid JSON-RPC. */
export const invalidAnswerError: WireError = {
  code: wireErrorCode.invalidAnswer,
  message: 'The server sent an answer with neither a valid result nor a valid error',
};

/** A message of the server is larger than the limit. */
export const tooLargeError = (maxBytes: number): WireError => ({
  code: wireErrorCode.tooLarge,
  message: `The server sent a message of more than ${maxBytes} bytes. Request less, or raise "maxMessageBytes".`,
});

/** A message of an HTTP server is larger than the limit. */
export class MessageTooLargeError extends Error {
  override readonly name = 'MessageTooLargeError';

  constructor(maxBytes: number) {
    super(tooLargeError(maxBytes).message);
  }
}

/** Returns whether a message of the server was larger than the limit. */
export const isTooLarge = (error: unknown): error is Error =>
  error instanceof MessageTooLargeError || (error instanceof ProtocolError && error.code === wireErrorCode.tooLarge);

/** Error codes of requests that were not delivered. */
const undelivered: readonly unknown[] = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH'];

/** Returns whether the call certainly did not run: it was not delivered, or its session was unknown. */
export const isUndelivered = (error: unknown): boolean => {
  if (error instanceof SdkHttpError) {
    return error.status === 404 || (error.status === 400 && /session/i.test(error.message));
  }
  if (error instanceof SdkError && error.code === SdkErrorCode.NotConnected) return true;
  if (error instanceof Error && error.message === 'Not connected') return true;
  return undelivered.includes(networkCodeOf(error));
};

/** Returns whether the connection ended during the call, so that the call may have taken effect. */
export const isDisconnected = (error: unknown): boolean =>
  error instanceof SyntaxError ||
  (error instanceof SdkError && error.code === SdkErrorCode.ConnectionClosed) ||
  (error instanceof ProtocolError && error.code === wireErrorCode.streamEnded) ||
  (error instanceof TypeError && networkCodeOf(error) !== undefined);

const networkCodeOf = (error: unknown): string | undefined => {
  const { code } = ((error instanceof Error ? error.cause : undefined) ?? {}) as { readonly code?: unknown };
  return typeof code === 'string' ? code : undefined;
};

/** Returns the message of an error, with the status of HTTP and without the details of a schema library. */
export const messageOf = (error: unknown): string => {
  if (error instanceof SdkHttpError) return httpMessage(error);
  if (hasIssues(error)) return `Invalid message${described(error.issues)}`;
  return error instanceof Error ? withoutIssues(error.message) : String(error);
};

const invalidCodes: readonly unknown[] = [SdkErrorCode.InvalidResult, SdkErrorCode.ClientHttpUnexpectedContent];

/** Returns whether the server answered a request with something that the protocol does not allow. */
export const isInvalidResult = (error: unknown): error is Error =>
  hasIssues(error) ||
  (error instanceof SdkError && invalidCodes.includes(error.code)) ||
  (error instanceof ProtocolError && error.code === wireErrorCode.invalidAnswer);

/** Returns whether the server answered a request with a status of HTTP that reports a failure. */
export const isHttpFailure = (error: unknown): error is SdkHttpError => error instanceof SdkHttpError;

/** Maximum number of characters of the body of a failed response in a message. */
const maxBody = 500;

/** The SDK puts the whole body into the message, and the status into none. */
const httpMessage = ({ message, status, statusText = '' }: SdkHttpError): string => {
  const detail = message.replace(/^Error POSTing to endpoint: /u, '');
  const line = `The server answered with HTTP ${status} ${statusText}`.trimEnd();
  return detail === '' ? line : `${line}: ${truncate(detail, { maxChars: maxBody })}`;
};

/** A problem that a schema library has found. */
interface Issue {
  readonly path: readonly PropertyKey[];
  readonly message: string;
}

/** Maximum number of problems in a message. A schema library reports thousands of lines for one wrong part. */
const maxIssues = 3;

const hasIssues = (error: unknown): error is Error & { readonly issues: readonly Issue[] } =>
  error instanceof Error && 'issues' in error && Array.isArray(error.issues);

const described = (issues: readonly Issue[]): string => {
  const shown = issues
    .slice(0, maxIssues)
    .map(({ path, message }) => (path.length === 0 ? message : `${path.join('.')}: ${message}`));
  if (issues.length > maxIssues) shown.push(`and ${issues.length - maxIssues} more`);
  return `: ${shown.join('; ')}`;
};

/** Messages of the SDK may end with all problems as JSON. */
const withoutIssues = (message: string): string => {
  const from = message.indexOf(': [');
  if (from === -1) return message;
  try {
    return message.slice(0, from) + described(JSON.parse(message.slice(from + 2)) as Issue[]);
  } catch {
    return message;
  }
};
