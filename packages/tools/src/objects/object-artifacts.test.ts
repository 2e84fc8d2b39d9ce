import { describe, expect, it } from 'vitest';
import { describeArtifactStore } from '../testing/describe-artifact-store.js';
import { describeObjectStore } from '../testing/describe-object-store.js';
import { memoryObjects } from '../../test/memory-objects.js';
import { objectArtifacts } from './object-artifacts.js';

const keysOf = async (objects: ReturnType<typeof memoryObjects>): Promise<string[]> => {
  const keys: string[] = [];
  for await (const { key } of objects.list('')) keys.push(key);
  return keys;
};

describe('memoryObjects', () => {
  describeObjectStore(() => ({ store: memoryObjects() }));
});

describe('objectArtifacts', () => {
  describeArtifactStore((options) => objectArtifacts(memoryObjects(), options));

  it('uses keys that do not reveal the session', async () => {
    const objects = memoryObjects();
    await objectArtifacts(objects, { prefix: 'team/' }).put({ session: 'alice@example.com', content: 'x' });
    for (const key of await keysOf(objects)) {
      expect(key).toMatch(/^team\/(?:data\/[0-9a-f]{32}\/art_[0-9a-f]{24}|used\/[0-9a-f]{32})$/);
    }
  });

  it('sweeps the sessions that no process used for ttlMs', async () => {
    const objects = memoryObjects();
    let now = 0;
    const open = () => objectArtifacts(objects, { ttlMs: 1_000, now: () => now });
    const [here, there] = [open(), open()];
    const { id } = await here.put({ session: 'alice', content: 'a' });
    await here.put({ session: 'bob', content: 'b' });
    now = 1_000;
    expect((await there.read('alice', id)).content).toBe('a');
    expect(await here.sweep()).toBe(0);
    now = 1_500;
    expect(await here.sweep()).toBe(1);
    expect((await here.read('alice', id)).content).toBe('a');
    expect(await keysOf(objects)).toHaveLength(2);
    now = 5_000;
    expect([await here.sweep(), await keysOf(objects)]).toEqual([1, []]);
  });

  it('counts what other processes stored towards the quota after a minute', async () => {
    const objects = memoryObjects();
    let now = 0;
    const open = () => objectArtifacts(objects, { maxBytes: 100, maxSessionBytes: 100, now: () => now });
    const [here, there] = [open(), open()];
    await here.put({ session: 'alice', content: 'x' });
    await there.put({ session: 'alice', content: 'x'.repeat(90) });
    now = 60_000;
    await expect(here.put({ session: 'alice', content: 'x'.repeat(20) })).rejects.toMatchObject({
      code: 'artifact-quota',
    });
  });

  it('stores an artifact whose media type is not a valid header', async () => {
    const store = objectArtifacts(memoryObjects());
    const mediaType = `text/plain; name="ü\r\nX: y"${'z'.repeat(1_000)}`;
    const { id } = await store.put({ session: 'alice', content: 'x', mediaType });
    expect(await store.read('alice', id)).toMatchObject({ content: 'x', mediaType: 'text/plain' });
  });
});
