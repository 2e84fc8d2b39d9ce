import { jsonDepth } from '@h/bounded';
import { StationError } from '../service/session-id.js';

/** Deeper values would overflow the stack of the code that validates and hashes them. */
const maxDepth = 200;

/** Reads the body of a request as JSON. @throws StationError 400 if it is not JSON, or nested too deep */
export const jsonOf = async (request: Request, maxBytes: number): Promise<unknown> => {
  const text = await textOf(request, maxBytes);
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

/** Reads the body of a request. @throws StationError 413 if it is too large, 400 if the client leaves within it */
export const textOf = async (request: Request, maxBytes: number): Promise<string> => {
  if (Number(request.headers.get('content-length') ?? 0) > maxBytes) throw tooLarge(maxBytes);
  const decoder = new TextDecoder();
  let [text, bytes] = ['', 0];
  try {
    for await (const chunk of request.body ?? []) {
      bytes += chunk.byteLength;
      if (bytes > maxBytes) throw tooLarge(maxBytes);
      text += decoder.decode(chunk, { stream: true });
    }
  } catch (error) {
    if (error instanceof StationError) throw error;
    throw new StationError(400, 'incomplete-body', 'The connection ended within the body.');
  }
  return text + decoder.decode();
};

const tooLarge = (maxBytes: number): StationError =>
  new StationError(413, 'too-large', `The request exceeds ${maxBytes} bytes.`);
