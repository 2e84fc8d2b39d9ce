import { jsonDepth } from '@h/bounded';
import { StationError } from '../service/session-id.js';

/** Deeper values would overflow the stack of the code that validates and hashes them. */
const maxDepth = 200;

/** Reads the body of a request as JSON. @throws StationError 400 if it is not JSON, or nested too deep */
export const jsonOf = async (request: Request, maxBytes: number): Promise<unknown> => {
  const text = (await textOf(request, maxBytes)).replace(/^\uFEFF/, '');
  if (text === '') return undefined;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new StationError(400, 'invalid-json', 'The body is not JSON.');
  }
  if (jsonDepth(text) > maxDepth) {
    throw new StationError(400, 'too-deep', `The body is nested deeper than ${maxDepth} levels.`);
  }
  return value;
};

/**
 * Reads the body of a request as it was sent: signatures cover a byte order mark, too.
 *
 * @throws StationError 413 if it is too large, 415 if it is compressed, 400 if it is not UTF-8 or the client leaves
 * within it
 */
export const textOf = async (request: Request, maxBytes: number): Promise<string> => {
  if (Number(request.headers.get('content-length') ?? 0) > maxBytes) throw tooLarge(maxBytes);
  const encoding = request.headers.get('content-encoding') ?? 'identity';
  if (encoding.toLowerCase() !== 'identity') {
    const message = `Bodies with the content-encoding ${JSON.stringify(encoding)} are not supported. Send it uncompressed.`;
    throw new StationError(415, 'encoded-body', message);
  }
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  let [text, bytes] = ['', 0];
  try {
    for await (const chunk of request.body ?? []) {
      bytes += chunk.byteLength;
      if (bytes > maxBytes) throw tooLarge(maxBytes);
      text += decoder.decode(chunk, { stream: true });
    }
    return text + decoder.decode();
  } catch (error) {
    if (error instanceof StationError) throw error;
    if (error instanceof TypeError && 'code' in error && error.code === 'ERR_ENCODING_INVALID_ENCODED_DATA') {
      throw new StationError(400, 'invalid-encoding', 'The body is not UTF-8.');
    }
    throw new StationError(400, 'incomplete-body', 'The connection ended within the body.');
  }
};

const tooLarge = (maxBytes: number): StationError =>
  new StationError(413, 'too-large', `The request exceeds ${maxBytes} bytes.`);
