import type { IncomingMessage } from 'node:http';
import { brotliDecompress, gunzip, unzip } from 'node:zlib';
import * as zlib from 'node:zlib';
import { promisify } from 'node:util';
import { Refusal } from '../calls/refusal.js';

/**
 * Reads the body of a request. Aborting `signal` destroys the connection.
 *
 * @throws Refusal `too-large`, or `invalid-request` if the client breaks the connection
 */
export const readBody = async (incoming: IncomingMessage, maxBytes: number, signal: AbortSignal): Promise<Buffer> => {
  const tooLarge = (): Refusal =>
    new Refusal('too-large', `The request is larger than ${maxBytes} bytes. Raise maxBodyBytes, or send less.`);
  if (Number(incoming.headers['content-length'] ?? 0) > maxBytes) throw tooLarge();
  const onAbort = (): void => void incoming.destroy();
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    const chunks = await chunksOf(incoming, maxBytes, tooLarge);
    return chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
};

/** Its listeners are removed at the end: the request lives as long as its answer, and they refer to the chunks. */
const chunksOf = (incoming: IncomingMessage, maxBytes: number, tooLarge: () => Refusal): Promise<readonly Buffer[]> =>
  new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const onData = (chunk: Buffer): void => {
      bytes += chunk.length;
      if (bytes > maxBytes) return onFailure(tooLarge());
      chunks.push(chunk);
    };
    const onEnd = (): void => {
      release();
      resolve(chunks);
    };
    const onBreak = (): void =>
      onFailure(new Refusal('invalid-request', 'The client broke the connection before the request was complete.'));
    const onFailure = (failure: Refusal): void => {
      release();
      reject(failure);
    };
    const release = (): void => {
      incoming.off('data', onData).off('end', onEnd).off('error', onBreak).off('close', onBreak);
    };
    incoming.on('data', onData).on('end', onEnd).on('error', onBreak).on('close', onBreak);
  });

type Decompress = (body: Uint8Array, options: { readonly maxOutputLength: number }) => Promise<Buffer>;

const zstd = (zlib as { readonly zstdDecompress?: Parameters<typeof promisify>[0] }).zstdDecompress;

const decompressors: Readonly<Record<string, Decompress | undefined>> = {
  gzip: promisify(gunzip),
  deflate: promisify(unzip),
  br: promisify(brotliDecompress),
  zstd: zstd && (promisify(zstd) as Decompress),
};

/**
 * Returns the text of a body, decompressed.
 *
 * @throws Refusal `unsupported-encoding`, `invalid-request` or `too-large`
 */
export const textOfBody = async (body: Buffer, encoding: string | undefined, maxBytes: number): Promise<string> => {
  const name = (encoding ?? 'identity').trim().toLowerCase();
  if (name === 'identity' || name === '') return body.toString('utf8');
  const decompress = Object.hasOwn(decompressors, name) ? decompressors[name] : undefined;
  if (!decompress) {
    const known = Object.keys(decompressors).filter((key) => decompressors[key]);
    throw new Refusal(
      'unsupported-encoding',
      `The request is encoded as ${JSON.stringify(name)}, which the proxy cannot read. Send it as it is, or as ${known.join(', ')}.`,
    );
  }
  try {
    return (await decompress(body, { maxOutputLength: maxBytes })).toString('utf8');
  } catch (error) {
    const isTooLarge = error instanceof Error && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE';
    if (isTooLarge) throw new Refusal('too-large', `The decoded request is larger than ${maxBytes} bytes.`);
    throw new Refusal('invalid-request', `The request is not valid ${name}.`);
  }
};
