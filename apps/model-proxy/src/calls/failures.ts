import type { IncomingMessage, ServerResponse } from 'node:http';
import { UpstreamFailure } from './attempts.js';
import { formats } from '../formats/convert.js';
import { bodyHeaders } from './forwarding.js';
import { endToEnd } from '../wire/headers.js';
import { objectOf, parseJson, stringOf } from '../wire/json-value.js';
import { foreignErrorText, Refusal } from './refusal.js';
import type { FormatName } from './routes.js';

/** Largest failed answer that is held while another attempt is made. */
const maxFailureBytes = 1_000_000;

/** Reads a failed answer. @throws Refusal `unreachable` if it is too large or interrupted */
export const readFailure = async (from: IncomingMessage, format: FormatName): Promise<UpstreamFailure> => {
  const { statusCode: status = 502, statusMessage = '', rawHeaders } = from;
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of from as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > maxFailureBytes) throw new Refusal('unreachable', 'The provider failed with an oversized answer.');
      chunks.push(chunk);
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ECONNRESET') throw error;
    throw new Refusal('unreachable', `The provider broke off its answer with status ${status}. Try again.`);
  }
  return new UpstreamFailure({ status, statusMessage, rawHeaders, body: Buffer.concat(chunks), format });
};

/** Headers that describe the body of a failure, which is converted. */
const foreignHeaders: ReadonlySet<string> = new Set([...bodyHeaders, 'content-type']);

/** Sends a failure as it was received, or in the error format of the client's provider. */
export const sendFailure = (
  { status, statusMessage, rawHeaders, body, format }: UpstreamFailure,
  wanted: FormatName,
  outgoing: ServerResponse,
): void => {
  outgoing.sendDate = false;
  const { provider } = formats[wanted];
  const isForeign = formats[format].provider !== provider;
  const headers = endToEnd(rawHeaders, isForeign ? foreignHeaders : undefined).flat();
  if (isForeign) headers.push('content-type', 'application/json');
  outgoing.writeHead(status, statusMessage, headers);
  outgoing.end(isForeign ? foreignErrorText(provider, status, messageIn(body)) : body);
};

const messageIn = (body: Buffer): string =>
  stringOf(objectOf(objectOf(parseJson(body.toString('utf8')))['error'])['message']) ?? 'The provider failed.';
