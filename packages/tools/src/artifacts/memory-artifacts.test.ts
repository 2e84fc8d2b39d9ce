import { describe, expect, it } from 'vitest';
import { describeArtifactStore } from '../testing/describe-artifact-store.js';
import { InvalidOptionError } from '@h/options';
import { memoryArtifacts } from './memory-artifacts.js';
import type { ArtifactStoreOptions } from './store.js';

describe('memoryArtifacts', () => {
  describeArtifactStore(memoryArtifacts);

  it('stores a copy of bytes', async () => {
    const store = memoryArtifacts();
    const content = new Uint8Array([1]);
    const { id } = await store.put({ session: 'alice', content });
    content[0] = 2;
    expect((await store.read('alice', id)).content).toEqual(new Uint8Array([1]));
  });

  it.each([{ ttlMs: 0 }, { maxBytes: -1 }, { ttl: 5 }])('refuses %j', (options) => {
    expect(() => memoryArtifacts(options as ArtifactStoreOptions)).toThrow(InvalidOptionError);
  });
});
