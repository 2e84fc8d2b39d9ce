import { describe, expect, it } from 'vitest';
import { cutConnections, testSchema } from '../test/database.js';
import { liveEvents } from './live-events.js';
import type { StreamItem } from './stream-reader.js';

const collect = async (items: AsyncIterable<StreamItem>, onItem?: (item: StreamItem) => void) => {
  const all: StreamItem[] = [];
  for await (const item of items) {
    all.push(item);
    onItem?.(item);
  }
  return all;
};

const eventsOf = (items: readonly StreamItem[]) => items.flatMap((item) => (item.type === 'event' ? [item.event] : []));

describe('liveEvents', () => {
  it('replays stored events, then follows the writer of another process to its end', async () => {
    const schema = testSchema();
    const writer = liveEvents(schema.connect(), { batchMs: 1 }).write('turn-1');
    for (const event of ['a', 'b']) await writer.append(event);
    await writer.flush();
    const items = await collect(liveEvents(schema.connect()).read('turn-1'), (item) => {
      if (item.type !== 'caught-up' || item.seq !== 2) return;
      void writer.append('c').then(() => writer.end('completed'));
    });
    expect(items.filter(({ type }) => type !== 'caught-up')).toEqual([
      { type: 'event', seq: 1, event: 'a' },
      { type: 'event', seq: 2, event: 'b' },
      { type: 'event', seq: 3, event: 'c' },
      { type: 'ended', status: 'completed' },
    ]);
    expect(items[2]).toEqual({ type: 'caught-up', seq: 2 });
  });

  it('gives every reader each event once, whatever number it begins after and however often connections are cut', async () => {
    const schema = testSchema();
    const count = 400;
    const readers = Array.from({ length: 4 }, (_, index) =>
      collect(liveEvents(schema.connect()).read('turn', { after: index * 50 })),
    );
    const writer = liveEvents(schema.connect(), { batchMs: 0 }).write('turn');
    for (let number = 1; number <= count; number += 1) {
      await writer.append(number);
      if (number % 20 === 0) await writer.flush();
      if (number % 100 === 0) await cutConnections(schema);
    }
    await writer.end('completed');
    for (const [index, items] of (await Promise.all(readers)).entries()) {
      expect(eventsOf(items)).toEqual(Array.from({ length: count - index * 50 }, (_, each) => each + 1 + index * 50));
    }
  });

  it('skips deltas that were dropped, and keeps the numbers of the other events', async () => {
    const schema = testSchema();
    const live = liveEvents(schema.connect());
    const writer = live.write('turn');
    for (const delta of ['H', 'e']) await writer.append(delta, { isDelta: true });
    await writer.append('Hello');
    await writer.append('!', { isDelta: true });
    await writer.dropDeltas();
    await writer.end('errored');
    expect(await collect(live.read('turn'))).toEqual([
      { type: 'event', seq: 3, event: 'Hello' },
      { type: 'ended', status: 'errored' },
    ]);
  });

  it('continues a stream behind its last event after the writer has died', async () => {
    const schema = testSchema();
    const first = liveEvents(schema.connect()).write('turn');
    await first.append('a');
    await first.flush();
    const second = liveEvents(schema.connect()).write('turn');
    await second.append('b');
    await second.end('completed');
    const items = await collect(liveEvents(schema.connect()).read('turn', { after: 1 }));
    expect(items[0]).toEqual({ type: 'event', seq: 2, event: 'b' });
  });

  it('rejects a writer that was suspended, whatever it had not written, and one with an earlier fence', async () => {
    const schema = testSchema();
    // The batch of a suspended process is written by no timer.
    const suspended = liveEvents(schema.connect(), { batchMs: 10_000 });
    const later = liveEvents(schema.connect());
    const first = suspended.write('turn');
    await first.append('a');
    await first.flush();
    await first.append('delta', { isDelta: true });
    await first.append('b');
    const second = later.write('turn', { fence: 2 });
    await second.complete(['a', 'b'], (stored, given) => stored === given);
    await second.flush();
    await expect(first.flush()).rejects.toMatchObject({ code: 'stream-taken' });
    for (const call of [first.append('c'), first.dropDeltas(), first.end('errored')]) {
      await expect(call).rejects.toMatchObject({ code: 'stream-taken' });
    }
    const earlier = suspended.write('turn', { fence: 1 });
    await earlier.append('x');
    await expect(earlier.flush()).rejects.toMatchObject({ code: 'stream-taken' });
    await second.append('c');
    await second.end('completed');
    // One that was suspended before it opened the stream does not open it again after its end.
    const same = suspended.write('turn', { fence: 2 });
    await same.append('x');
    await expect(same.flush()).rejects.toMatchObject({ code: 'stream-taken' });
    const items = await collect(liveEvents(schema.connect()).read('turn'));
    expect([eventsOf(items), items.at(-1)]).toEqual([['a', 'b', 'c'], { type: 'ended', status: 'completed' }]);
  });

  it('stops reading when the signal is aborted, also before the stream exists', async () => {
    const abort = new AbortController();
    const items = await collect(liveEvents(testSchema().connect()).read('none', { signal: abort.signal }), () =>
      abort.abort(),
    );
    expect(items).toEqual([{ type: 'caught-up', seq: 0 }]);
  });

  it('removes streams that have ended', async () => {
    const live = liveEvents(testSchema().connect());
    await live.write('open').append('a');
    await live.write('ended').end('completed');
    expect(await live.prune(0)).toBe(1);
    await expect(live.prune(-1)).rejects.toMatchObject({ code: 'invalid-option' });
  });
});
