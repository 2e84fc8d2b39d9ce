import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { WriteQueue, type WriteQueueOptions } from './write-queue.js';

/** A queue of numbers, what it has written, and a gate that each write waits for. */
const queueOf = (options: Omit<WriteQueueOptions<number>, 'write'> = {}) => {
  const written: (readonly number[])[] = [];
  const gates: ((error?: Error) => void)[] = [];
  const queue = new WriteQueue<number>({
    ...options,
    write: async (batch) => {
      await new Promise<void>((resolve, reject) => {
        gates.push((error) => (error ? reject(error) : resolve()));
      });
      written.push([...batch]);
    },
  });
  /** Lets the current write end. */
  const release = async (error?: Error): Promise<void> => {
    await new Promise(setImmediate);
    gates.shift()?.(error);
    await new Promise(setImmediate);
  };
  return { queue, written, release };
};

describe('WriteQueue', () => {
  it('writes items of one tick together, and those that arrive during a write after it', async () => {
    const { queue, written, release } = queueOf();
    const first = [queue.add(1), queue.add(2)];
    await Promise.resolve();
    await Promise.resolve();
    const second = [queue.add(3), queue.add(4)];
    await release();
    await Promise.all(first);
    expect(written).toEqual([[1, 2]]);
    expect(queue.isWriting).toBe(true);
    await release();
    await Promise.all(second);
    await queue.idle();
    expect(written).toEqual([
      [1, 2],
      [3, 4],
    ]);
    expect(queue.isWriting).toBe(false);
  });

  it('writes nothing after a failure, and rejects everything with it', async () => {
    const { queue, written, release } = queueOf({ maxItems: 1 });
    const results = Promise.allSettled([queue.add(1), queue.add(2), queue.add(3)]);
    await release();
    await release(new Error('The disk is full.'));
    expect((await results).map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected']);
    await expect(queue.add(4)).rejects.toThrow('The disk is full.');
    expect(queue.failure?.message).toBe('The disk is full.');
    expect(written).toEqual([[1]]);
  });

  it('keeps the first of several failures and makes an error of what is none', async () => {
    const { queue, written } = queueOf();
    expect(queue.fail('no error').message).toBe('no error');
    expect(queue.fail(new Error('later')).message).toBe('no error');
    await expect(queue.add(1)).rejects.toThrow('no error');
    expect(written).toEqual([]);
  });

  it('writes every item once and in order, in batches within the limits', async () => {
    const limits = fc.record({ maxItems: fc.integer({ min: 1, max: 5 }), maxSize: fc.integer({ min: 1, max: 40 }) });
    const items = fc.array(fc.integer({ min: 0, max: 50 }), { maxLength: 60 });
    await fc.assert(
      fc.asyncProperty(limits, items, fc.array(fc.nat(20)), async ({ maxItems, maxSize }, given, pauses) => {
        const written: number[][] = [];
        const queue = new WriteQueue<number>({
          maxItems,
          maxSize,
          sizeOf: (item) => item,
          startsBatch: (item) => item % 7 === 0,
          write: async (batch) => {
            await Promise.resolve();
            written.push([...batch]);
          },
        });
        for (const [index, item] of given.entries()) {
          void queue.add(item);
          if (pauses.includes(index)) await new Promise(setImmediate);
        }
        await queue.idle();
        expect(written.flat()).toEqual(given);
        for (const batch of written) {
          expect(batch.length).toBeLessThanOrEqual(maxItems);
          if (batch.length > 1) expect(batch.reduce((sum, size) => sum + size)).toBeLessThanOrEqual(maxSize);
          expect(batch.slice(1).some((item) => item % 7 === 0)).toBe(false);
        }
      }),
    );
  });
});
