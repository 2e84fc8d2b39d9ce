import { S3Client } from '@aws-sdk/client-s3';
import { contentFiles, ObjectStoreError, type ObjectStore } from '@h/tools/objects';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { accessKeyId, S3Server, secretAccessKey, type Fault, type ReceivedRequest } from '../test/s3-server.js';
import { s3Objects } from './index.js';

const partBytes = 5 * 1024 ** 2;

let server: S3Server;
let client: S3Client;
let made = 0;

beforeAll(async () => {
  server = await S3Server.start();
});
beforeEach(() => {
  client = new S3Client({
    endpoint: server.endpoint,
    region: 'eu-central-1',
    credentials: { accessKeyId, secretAccessKey },
    forcePathStyle: true,
    maxAttempts: 3,
  });
});
afterEach(() => {
  client.destroy();
  server.fault = () => undefined;
  server.requests.length = 0;
});
afterAll(() => server.stop());

const fresh = (): ObjectStore => s3Objects({ client, bucket: 'bucket', prefix: `test-${(made += 1)}/`, partBytes });

/** Makes the first requests that match fail. */
const failing = (fault: Fault, times: number, matches: (request: ReceivedRequest) => boolean): void => {
  let left = times;
  server.fault = (request) => {
    if (left === 0 || !matches(request)) return undefined;
    left -= 1;
    return fault;
  };
};

async function* zeros(count: number, size = 1024 ** 2): AsyncGenerator<Uint8Array, void, undefined> {
  for (let index = 0; index < count; index += 1) yield new Uint8Array(size).fill(index);
}

const sizeOf = async (content: AsyncIterable<Uint8Array> | undefined): Promise<number> => {
  let bytes = 0;
  for await (const chunk of content ?? []) bytes += chunk.byteLength;
  return bytes;
};

describe('s3Objects with a failing service', () => {
  it('uploads 100 MB in parts with bounded memory, and stores equal content once', async () => {
    const files = contentFiles(fresh());
    const file = await files.put(() => zeros(100));
    expect(file).toMatchObject({ bytes: 100 * 1024 ** 2, isNew: true });
    const uploads = server.requests.filter(({ action }) => action === 'partNumber');
    expect(uploads).toHaveLength(20);
    expect(Math.max(...server.requests.map(({ bytes }) => bytes))).toBe(partBytes);
    expect(await files.put(() => zeros(100))).toMatchObject({ address: file.address, isNew: false });
    expect(server.requests.filter(({ action }) => action === 'partNumber')).toHaveLength(20);
    expect(await sizeOf(await files.read(file.address))).toBe(100 * 1024 ** 2);
    server.objects.clear();
  });

  it('leaves no unfinished upload, whatever fails', async () => {
    const store = fresh();
    const failures: readonly [string, string][] = [
      ['PUT', 'partNumber'],
      ['POST', 'uploadId'],
      ['POST', 'uploads'],
    ];
    for (const [method, action] of failures) {
      failing('unavailable', 100, (request) => request.method === method && request.action === action);
      await expect(store.put('key', zeros(11))).rejects.toThrow(ObjectStoreError);
      expect([server.uploads.size, await store.head('key')]).toEqual([0, undefined]);
    }
    server.fault = () => undefined;
    await store.put('key', zeros(1));
    expect(await store.put('key', zeros(11), { ifAbsent: true })).toEqual({ isStored: false });
    expect(server.uploads.size).toBe(0);
  });

  it.each(['unavailable', 'cut', 'lost-answer'] as const)('repeats requests whose answer is: %s', async (fault) => {
    const store = fresh();
    for (const action of ['object', 'partNumber', 'uploads', 'uploadId']) {
      failing(fault, 1, (request) => request.action === action);
      expect(await store.put(`key-${action}`, zeros(11))).toEqual({ isStored: true });
      expect((await store.head(`key-${action}`))?.bytes).toBe(11 * 1024 ** 2);
    }
    failing(fault, 1, ({ method }) => method === 'GET');
    expect(await sizeOf((await store.get('key-object'))?.content)).toBe(11 * 1024 ** 2);
  });

  it('waits while another upload of the key is in progress', async () => {
    const store = fresh();
    failing('conflict', 2, ({ method }) => method === 'PUT');
    expect(await store.put('key', zeros(1), { ifAbsent: true })).toEqual({ isStored: true });
    failing('conflict', 100, ({ method }) => method === 'PUT');
    await expect(store.put('other', zeros(1), { ifAbsent: true })).rejects.toMatchObject({ code: 'object-store' });
  });

  it('reports a download that is cut', async () => {
    const store = fresh();
    await store.put('key', zeros(2));
    server.fault = ({ method }) => (method === 'GET' ? 'cut-answer' : undefined);
    await expect(sizeOf((await store.get('key'))?.content)).rejects.toThrow(/^Reading key to its end failed/);
  });
});
