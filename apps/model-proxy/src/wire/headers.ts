import { createBrotliDecompress, createGunzip, createInflate, createUnzip } from 'node:zlib';
import * as zlib from 'node:zlib';
import type { Transform } from 'node:stream';

/** Headers of one connection, which a proxy does not forward (RFC 9110, section 7.6.1). */
const hopByHop: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

type Header = readonly [name: string, value: string];

/** Returns the headers of `rawHeaders` as pairs, with their order, repetitions and spelling. */
export const headerPairs = (raw: readonly string[]): readonly Header[] => {
  const pairs: Header[] = [];
  for (let index = 0; index + 1 < raw.length; index += 2) pairs.push([raw[index] ?? '', raw[index + 1] ?? '']);
  return pairs;
};

/** Returns the headers that may be forwarded, without those in `dropped`. */
export const endToEnd = (raw: readonly string[], dropped: ReadonlySet<string> = new Set()): Header[] => {
  const pairs = headerPairs(raw);
  const listed = new Set(
    pairs.flatMap(([name, value]) =>
      name.toLowerCase() === 'connection' ? value.split(',').map((part) => part.trim().toLowerCase()) : [],
    ),
  );
  return pairs.filter(([name]) => {
    const key = name.toLowerCase();
    return !hopByHop.has(key) && !listed.has(key) && !dropped.has(key);
  });
};

/** zstd is available since Node 22.15. */
const createZstd = (zlib as { readonly createZstdDecompress?: () => Transform }).createZstdDecompress;

const decoders: Readonly<Record<string, (() => Transform) | undefined>> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createUnzip,
  'x-deflate': createInflate,
  br: createBrotliDecompress,
  zstd: createZstd,
};

/** Returns a decoder for a content encoding: `'identity'`, a transform, or `undefined` if the encoding is not known. */
export const decoderFor = (encoding: string | undefined): Transform | 'identity' | undefined => {
  const name = (encoding ?? 'identity').trim().toLowerCase();
  if (name === 'identity' || name === '') return 'identity';
  return Object.hasOwn(decoders, name) ? decoders[name]?.() : undefined;
};

/** Returns the encodings of an `accept-encoding` header that the proxy can decode to read a copy of the answer. */
export const readableEncodings = (accept: string): string =>
  accept
    .split(',')
    .map((part) => part.trim())
    .filter((part) => {
      const name = (part.split(';')[0] ?? '').trim().toLowerCase();
      return name === 'identity' || (Object.hasOwn(decoders, name) && decoders[name] !== undefined);
    })
    .join(', ') || 'identity';
