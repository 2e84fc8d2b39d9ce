/** Codes of errors that a transport reports as the response to a request. They are outside of the codes of JSON-RPC. */
export const wireErrorCode = { streamEnded: -40_001, tooLarge: -40_002 } as const;

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

/** A message of the server is larger than the limit. */
export const tooLargeError = (maxBytes: number): WireError => ({
  code: wireErrorCode.tooLarge,
  message: `The server sent a message of more than ${maxBytes} bytes. Request less, or raise "maxMessageBytes".`,
});
