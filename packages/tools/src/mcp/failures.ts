import { ProtocolError, SdkError, SdkErrorCode, SdkHttpError } from '@modelcontextprotocol/client';
import { TurnError } from '@h/turn';

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
export const wireErrorCode = { streamEnded: -40_001, tooLarge: -40_002, invalidAnswer: -40_003 } as const;

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
  message:
    'The server sent an answer with neither a valid result nor a valid error; whether the request took effect is unknown.',
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

export const messageOf = (error: unknown): string => {
  if (isInvalidResult(error)) return withoutIssues(error.message);
  return error instanceof Error ? error.message : String(error);
};

/** Returns whether the server answered with a result that the protocol does not allow. */
export const isInvalidResult = (error: unknown): error is SdkError =>
  error instanceof SdkError && error.code === SdkErrorCode.InvalidResult;

/** Maximum number of problems of an invalid result in a message. */
const maxProblems = 3;

/** The message of the SDK ends with all problems as JSON, thousands of lines for one wrong part of a result. */
const withoutIssues = (message: string): string => {
  const from = message.indexOf(': [');
  if (from === -1) return message;
  try {
    const problems = (JSON.parse(message.slice(from + 2)) as Issue[]).map(
      ({ path, message: problem }) => `${path.join('.')}: ${problem}`,
    );
    const more = problems.length > maxProblems ? `; and ${problems.length - maxProblems} more` : '';
    return `${message.slice(0, from)}: ${problems.slice(0, maxProblems).join('; ')}${more}`;
  } catch {
    return message;
  }
};

interface Issue {
  readonly path: readonly PropertyKey[];
  readonly message: string;
}
