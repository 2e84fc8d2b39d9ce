import { S3Client } from '@aws-sdk/client-s3';
import { objectArtifacts, type ObjectStore } from '@h/tools/objects';
import { describeArtifactStore, describeObjectStore } from '@h/tools/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { accessKeyId, S3Server, secretAccessKey } from '../test/s3-server.js';
import { s3Objects } from './index.js';

const partBytes = 5 * 1024 ** 2;
const largeBytes = partBytes + 12_345;

let server: S3Server;
let client: S3Client;
let made = 0;

const connect = (credentials = { accessKeyId, secretAccessKey }): S3Client =>
  new S3Client({
    endpoint: server.endpoint,
    region: 'eu-central-1',
    credentials,
    forcePathStyle: true,
    maxAttempts: 3,
  });

beforeAll(async () => {
  server = await S3Server.start();
});
beforeEach(() => {
  client = connect();
});
afterEach(() => {
  client.destroy();
  server.fault = () => undefined;
});
afterAll(() => server.stop());

const fresh = (): ObjectStore => s3Objects({ client, bucket: 'bucket', prefix: `test-${(made += 1)}/`, partBytes });

async function* zeros(count: number, size = 1024 ** 2): AsyncGenerator<Uint8Array, void, undefined> {
  for (let index = 0; index < count; index += 1) yield new Uint8Array(size).fill(index);
}

const sizeOf = async (content: AsyncIterable<Uint8Array> | undefined): Promise<number> => {
  let bytes = 0;
  for await (const chunk of content ?? []) bytes += chunk.byteLength;
  return bytes;
};

describe('s3Objects', () => {
  describeObjectStore(() => ({ store: fresh(), largeBytes }));
  describeArtifactStore((options) => objectArtifacts(fresh(), options));

  it('frees the connection of a download that ends early', async () => {
    const single = new S3Client({
      endpoint: server.endpoint,
      region: 'eu-central-1',
      credentials: { accessKeyId, secretAccessKey },
      forcePathStyle: true,
      requestHandler: { httpAgent: { maxSockets: 1 } },
    });
    const store = s3Objects({ client: single, bucket: 'bucket', prefix: 'early/' });
    await store.put('key', zeros(3));
    for (let round = 0; round < 3; round += 1) {
      for await (const _ of (await store.get('key'))?.content ?? []) break;
      await (await store.get('key'))?.content[Symbol.asyncIterator]().return?.();
    }
    expect(await sizeOf((await store.get('key'))?.content)).toBe(3 * 1024 ** 2);
    single.destroy();
  });

  describe('with a service that answers something else', () => {
    const textOf = async (store: ObjectStore, offset: number, length: number): Promise<string> => {
      const chunks: Uint8Array[] = [];
      for await (const chunk of (await store.get('key', { offset, length }))?.content ?? []) {
        chunks.push(chunk);
        if (chunks.length > 10) throw new Error('The content does not end.');
      }
      return Buffer.concat(chunks).toString();
    };

    it.each(['ignored-range', 'endless'] as const)('returns no byte outside of a range: %s', async (fault) => {
      const store = fresh();
      await store.put('key', Buffer.from('0123456789'));
      server.fault = () => fault;
      expect(await textOf(store, 3, 4)).toBe('3456');
      expect(await textOf(store, 8, 2)).toBe('89');
    });

    it('confirms nothing and returns nothing if another server answers', async () => {
      const store = fresh();
      await store.put('key', Buffer.from('0123456789'));
      server.fault = () => 'login-page';
      const refused = /without an ETag/;
      await expect(store.put('key', Buffer.from('x'))).rejects.toThrow(refused);
      await expect(store.get('key')).rejects.toThrow(refused);
      await expect(store.head('key')).rejects.toThrow(refused);
      await expect(store.put('key', zeros(6))).rejects.toThrow(/without an upload id/);
      await expect(store.list('')[Symbol.asyncIterator]().next()).rejects.toThrow(/a page that is no list/);
      await expect(store.delete(['key'])).rejects.toThrow(/returned 0 confirmations for 1 objects/);
    });

    it('reports a range that begins elsewhere', async () => {
      const store = fresh();
      await store.put('key', Buffer.from('0123456789'));
      server.fault = () => 'other-range';
      await expect(textOf(store, 3, 4)).rejects.toThrow(/returned the range "bytes 0-6\/10" instead of one from 3/);
    });

    it.each([
      ['same-page', /returned the same page again/],
      ['ignored-prefix', /returned the key ".*", which does not begin with "test-/],
    ] as const)('reports a list that is wrong: %s', async (fault, message) => {
      const store = fresh();
      await s3Objects({ client, bucket: 'bucket' }).put('other', Buffer.from('x'));
      for (let index = 0; index < 6; index += 1) await store.put(`key-${index}`, Buffer.from('x'));
      server.fault = () => fault;
      const keys: string[] = [];
      const listing = (async () => {
        for await (const { key } of store.list('')) {
          keys.push(key);
          if (keys.length > 20) return;
        }
      })();
      await expect(listing).rejects.toThrow(message);
    });
  });

  it('names the bucket and the reason when the service rejects a request', async () => {
    const stranger = connect({ accessKeyId, secretAccessKey: 'wrong' });
    const store = s3Objects({ client: stranger, bucket: 'bucket' });
    const reason = /in bucket bucket failed \(SignatureDoesNotMatch/;
    await expect(store.put('key', zeros(1))).rejects.toThrow(reason);
    await expect(store.get('key')).rejects.toMatchObject({ code: 'object-store' });
    stranger.destroy();
    const missing = s3Objects({ client, bucket: 'other' });
    await expect(missing.put('key', zeros(1))).rejects.toThrow(/in bucket other failed \(NoSuchBucket/);
    // Not as an object that does not exist.
    await expect(missing.get('key')).rejects.toThrow(/in bucket other failed \(NoSuchBucket/);
    await expect(missing.get('key', { offset: 1 })).rejects.toThrow(/in bucket other failed \(NoSuchBucket/);
  });

  it.each([{}, { bucket: '' }, { client: {} }, { prefix: '/x' }, { prefix: 'a/../' }, { partBytes: 1_000 }])(
    'rejects the options %j',
    (options) => {
      expect(() =>
        s3Objects({ ...(Object.keys(options).length > 0 && { client, bucket: 'b' }), ...options } as never),
      ).toThrow(expect.objectContaining({ code: 'invalid-option' }));
    },
  );
});
