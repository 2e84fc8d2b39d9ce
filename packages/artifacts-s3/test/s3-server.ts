import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { crc32 } from 'node:zlib';

export const accessKeyId = 'AKIDEXAMPLE';
export const secretAccessKey = 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY';

/** A request that the server has received. */
export interface ReceivedRequest {
  readonly method: string;
  readonly action: string;
  readonly bytes: number;
}

interface StoredObject {
  readonly content: Buffer;
  readonly etag: string;
  readonly metadata: Readonly<Record<string, string>>;
}

interface Upload {
  readonly key: string;
  readonly metadata: Readonly<Record<string, string>>;
  readonly parts: Map<number, { readonly content: Buffer; readonly etag: string; readonly crc: string }>;
}

/** What a test makes of a request: `undefined` lets it pass. */
export type Fault =
  | 'unavailable'
  | 'cut'
  | 'conflict'
  | 'cut-answer'
  | 'lost-answer'
  | 'ignored-range'
  | 'other-range'
  | 'endless'
  | 'same-page'
  | 'ignored-prefix'
  | 'login-page'
  | undefined;

class S3Error extends Error {
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, message = code) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

const hash = (content: string | Uint8Array): string => createHash('sha256').update(content).digest('hex');
const hmac = (key: string | Uint8Array, content: string): Buffer => createHmac('sha256', key).update(content).digest();
const crcOf = (content: Uint8Array): string => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(crc32(content));
  return bytes.toString('base64');
};
const etagOf = (content: Uint8Array): string => `"${createHash('md5').update(content).digest('hex')}"`;
const escapeUri = (text: string): string =>
  encodeURIComponent(text).replaceAll(/[!'()*]/g, (each) => `%${each.charCodeAt(0).toString(16).toUpperCase()}`);
const escapeXml = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');

/**
 * A strict S3 server in the process: it recomputes every signature (version 4) and checksum, limits pages to five keys
 * and parts to at least 5 MiB, and rejects what it does not know. Objects are in memory.
 */
export class S3Server {
  readonly requests: ReceivedRequest[] = [];
  readonly uploads = new Map<string, Upload>();
  readonly objects = new Map<string, StoredObject>();
  fault: (request: ReceivedRequest) => Fault = () => undefined;
  readonly #server = createServer((request, response) => void this.#answer(request, response));
  #uploadCount = 0;

  static async start(): Promise<S3Server> {
    const server = new S3Server();
    server.#server.listen(0, '127.0.0.1');
    await once(server.#server, 'listening');
    return server;
  }

  get endpoint(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  connections(): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#server.getConnections((error, count) => (error === null ? resolve(count) : reject(error)));
    });
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const body = Buffer.concat(chunks);
      const url = new URL(request.url ?? '', this.endpoint);
      checkSignature(request, url, body);
      const content = contentOf(request, body);
      const action = [...url.searchParams.keys()].filter((name) => name !== 'x-id').toSorted()[0] ?? 'object';
      const received = { method: request.method ?? '', action, bytes: content.byteLength };
      this.requests.push(received);
      const fault = this.fault(received);
      if (fault === 'cut') return void request.socket.destroy();
      if (fault === 'unavailable') throw new S3Error(503, 'SlowDown');
      if (fault === 'login-page') {
        return void response.writeHead(200, { 'content-type': 'text/html' }).end('<html>Log in</html>');
      }
      if (fault === 'conflict') throw new S3Error(409, 'ConditionalRequestConflict');
      const [bucket = '', ...path] = decodeURIComponent(url.pathname).slice(1).split('/');
      if (bucket !== 'bucket') throw new S3Error(404, 'NoSuchBucket');
      this.#route(request, response, url.searchParams, path.join('/'), content, fault);
    } catch (error) {
      const { status, code, message } =
        error instanceof S3Error ? error : new S3Error(500, 'InternalError', String(error));
      send(response, status, `<Error><Code>${code}</Code><Message>${escapeXml(message)}</Message></Error>`);
    }
  }

  #route(
    request: IncomingMessage,
    response: ServerResponse,
    query: URLSearchParams,
    key: string,
    content: Buffer,
    fault: Fault,
  ): void {
    const lose = fault === 'lost-answer';
    const done = (xml: string, headers: Record<string, string> = {}): void => {
      if (lose) request.socket.destroy();
      else send(response, 200, xml, headers);
    };
    const { method } = request;
    const uploadId = query.get('uploadId') ?? '';
    if (key === '' && method === 'GET' && query.get('list-type') === '2') return done(this.#list(query, fault));
    if (key === '' && method === 'POST' && query.has('delete')) return done(this.#delete(content.toString()));
    if (key === '') throw new S3Error(501, 'NotImplemented');
    if (method === 'POST' && query.has('uploads')) {
      const id = `upload-${(this.#uploadCount += 1)}`;
      this.uploads.set(id, { key, metadata: metadataOf(request), parts: new Map() });
      return done(`<InitiateMultipartUploadResult><UploadId>${id}</UploadId></InitiateMultipartUploadResult>`);
    }
    if (uploadId !== '') {
      const upload = this.uploads.get(uploadId);
      if (upload?.key !== key) throw new S3Error(404, 'NoSuchUpload');
      if (method === 'PUT') {
        const [etag, crc] = [etagOf(content), crcOf(content)];
        upload.parts.set(Number(query.get('partNumber')), { content, etag, crc });
        return done('', { etag, 'x-amz-checksum-crc32': crc });
      }
      if (method === 'DELETE') {
        this.uploads.delete(uploadId);
        return send(response, 204, '');
      }
      if (method === 'POST') return done(this.#complete(request, uploadId, upload, content.toString()));
    }
    if (method === 'PUT') {
      this.#checkAbsent(request, key);
      const etag = etagOf(content);
      this.objects.set(key, { content, etag, metadata: metadataOf(request) });
      return done('', { etag });
    }
    if (method !== 'GET' && method !== 'HEAD') throw new S3Error(501, 'NotImplemented');
    this.#read(request, response, key, fault);
  }

  #read(request: IncomingMessage, response: ServerResponse, key: string, fault: Fault): void {
    const found = this.objects.get(key);
    if (found === undefined) throw new S3Error(404, 'NoSuchKey');
    const { content, etag, metadata } = found;
    const given = fault === 'ignored-range' ? undefined : request.headers.range;
    const range = /^bytes=(?<from>\d+)-(?<to>\d*)$/.exec(given ?? '')?.groups;
    if (given !== undefined && range === undefined) throw new S3Error(400, 'InvalidArgument');
    const from = Number(range?.['from'] ?? 0);
    if (range !== undefined && from >= content.byteLength) throw new S3Error(416, 'InvalidRange');
    const to = Math.min(content.byteLength, range?.['to'] ? Number(range['to']) + 1 : Infinity);
    const slice = content.subarray(from, to);
    for (const [name, value] of Object.entries(metadata)) response.setHeader(`x-amz-meta-${name}`, value);
    if (fault !== 'endless') response.setHeader('content-length', slice.byteLength);
    response.setHeader('etag', etag);
    const first = fault === 'other-range' ? 0 : from;
    if (range !== undefined) response.setHeader('content-range', `bytes ${first}-${to - 1}/${content.byteLength}`);
    response.writeHead(range === undefined ? 200 : 206);
    if (fault === 'endless') {
      const write = (): void => void (response.destroyed || response.write(slice, () => setImmediate(write)));
      return write();
    }
    if (fault === 'cut-answer') {
      response.write(slice.subarray(0, slice.byteLength / 2), () => request.socket.destroy());
      return;
    }
    response.end(request.method === 'HEAD' ? undefined : slice);
  }

  #checkAbsent(request: IncomingMessage, key: string): void {
    const condition = request.headers['if-none-match'];
    if (condition !== undefined && condition !== '*') throw new S3Error(501, 'NotImplemented');
    if (condition === '*' && this.objects.has(key)) throw new S3Error(412, 'PreconditionFailed');
  }

  #complete(request: IncomingMessage, uploadId: string, { key, metadata, parts }: Upload, xml: string): string {
    const listed = [...xml.matchAll(/<Part>(?<part>.*?)<\/Part>/gs)].map(({ groups }) => groups?.['part'] ?? '');
    if (listed.length === 0) throw new S3Error(400, 'MalformedXML');
    const contents = listed.map((part, index) => {
      const value = (name: string): string =>
        new RegExp(`<${name}>(.*?)</${name}>`).exec(part)?.[1]?.replaceAll('&quot;', '"') ?? '';
      const stored = parts.get(Number(value('PartNumber')));
      const isKnown = stored?.etag === value('ETag') && stored.crc === value('ChecksumCRC32');
      if (!isKnown) throw new S3Error(400, 'InvalidPart');
      if (Number(value('PartNumber')) !== index + 1) throw new S3Error(400, 'InvalidPartOrder');
      const isLast = index === listed.length - 1;
      if (!isLast && stored.content.byteLength < 5 * 1024 ** 2) throw new S3Error(400, 'EntityTooSmall');
      return stored.content;
    });
    this.#checkAbsent(request, key);
    const tags = listed.map((_, index) => parts.get(index + 1)?.etag.replaceAll('"', '') ?? '').join('');
    const etag = `${etagOf(Buffer.from(tags, 'hex')).slice(0, -1)}-${listed.length}"`;
    this.objects.set(key, { content: Buffer.concat(contents), etag, metadata });
    this.uploads.delete(uploadId);
    return `<CompleteMultipartUploadResult><Key>${key}</Key><ETag>${etag.replaceAll('"', '&quot;')}</ETag></CompleteMultipartUploadResult>`;
  }

  #list(query: URLSearchParams, fault: Fault): string {
    const prefix = fault === 'ignored-prefix' ? '' : (query.get('prefix') ?? '');
    const after = fault === 'same-page' ? '' : (query.get('continuation-token') ?? '');
    const keys = [...this.objects.keys()].filter((key) => key.startsWith(prefix) && key > after).toSorted();
    const page = keys.slice(0, 5);
    const rest = keys.length > 5 ? `<NextContinuationToken>${page.at(-1)}</NextContinuationToken>` : '';
    const contents = page.map(
      (key) => `<Contents><Key>${key}</Key><Size>${this.objects.get(key)?.content.byteLength}</Size></Contents>`,
    );
    return `<ListBucketResult><IsTruncated>${rest !== ''}</IsTruncated>${rest}${contents.join('')}</ListBucketResult>`;
  }

  #delete(xml: string): string {
    const keys = Array.from(xml.matchAll(/<Key>(?<key>.*?)<\/Key>/g), ({ groups }) => groups?.['key'] ?? '');
    for (const key of keys) this.objects.delete(key);
    return `<DeleteResult>${keys.map((key) => `<Deleted><Key>${key}</Key></Deleted>`).join('')}</DeleteResult>`;
  }
}

const send = (response: ServerResponse, status: number, xml: string, headers: Record<string, string> = {}): void => {
  response.writeHead(status, { 'content-type': 'application/xml', ...headers });
  response.end(status === 204 || xml === '' ? undefined : `<?xml version="1.0"?>${xml}`);
};

const metadataOf = ({ headers }: IncomingMessage): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      name.startsWith('x-amz-meta-') ? [[name.slice('x-amz-meta-'.length), String(value)]] : [],
    ),
  );

/** Returns the content, whose checksum must be present and correct. */
const contentOf = ({ headers, method }: IncomingMessage, body: Buffer): Buffer => {
  if (headers['content-encoding']?.includes('aws-chunked') === true) throw new S3Error(501, 'NotImplemented');
  const given = headers['x-amz-checksum-crc32'];
  if (given === undefined ? method === 'PUT' : given !== crcOf(body)) throw new S3Error(400, 'BadDigest');
  return body;
};

/** Recomputes the signature of a request, as the documentation of AWS Signature Version 4 describes it. */
const checkSignature = ({ headers, method }: IncomingMessage, url: URL, body: Buffer): void => {
  const given =
    /^AWS4-HMAC-SHA256 Credential=(?<id>[^/]+)\/(?<scope>[^,]+), SignedHeaders=(?<names>[^,]+), Signature=(?<signature>[0-9a-f]{64})$/.exec(
      headers.authorization ?? '',
    )?.groups;
  if (given === undefined) throw new S3Error(403, 'AccessDenied');
  const { id = '', scope = '', names = '', signature = '' } = given;
  const [date = '', region = '', service = ''] = scope.split('/');
  const time = String(headers['x-amz-date']);
  const payload = String(headers['x-amz-content-sha256']);
  if (payload !== hash(body)) throw new S3Error(400, 'XAmzContentSHA256Mismatch');
  const signed = names.split(';');
  const isComplete = ['host', 'x-amz-date', 'x-amz-content-sha256'].every((name) => signed.includes(name));
  const unsigned = Object.keys(headers).filter((name) => name.startsWith('x-amz-') && !signed.includes(name));
  if (!isComplete || unsigned.length > 0) throw new S3Error(403, 'AccessDenied', `Unsigned: ${unsigned.join(' ')}`);
  const query = [...url.searchParams]
    .map(([name, value]) => `${escapeUri(name)}=${escapeUri(value)}`)
    .toSorted()
    .join('&');
  const headerLines = signed.map((name) => `${name}:${String(headers[name]).trim()}\n`).join('');
  const request = [method, url.pathname, query, headerLines, names, payload].join('\n');
  const text = ['AWS4-HMAC-SHA256', time, scope, hash(request)].join('\n');
  const key = hmac(hmac(hmac(hmac(`AWS4${secretAccessKey}`, date), region), service), 'aws4_request');
  const expected = hmac(key, text).toString('hex');
  const isEqual = timingSafeEqual(Buffer.from(expected), Buffer.from(signature));
  if (id !== accessKeyId || !isEqual || !time.startsWith(date)) throw new S3Error(403, 'SignatureDoesNotMatch');
};
