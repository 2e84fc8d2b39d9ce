import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RecentSessions } from './recent-sessions.js';

const maxTotalBytes = 1 << 24;
const minBytes = 1 << 10;

describe('RecentSessions', () => {
  it('returns a value once', () => {
    const recent = new RecentSessions<string>();
    recent.put('alice', 'history', 10);
    expect([recent.take('alice'), recent.take('alice')]).toEqual(['history', undefined]);
  });

  it('limits the number of values without content', () => {
    const recent = new RecentSessions<number>();
    for (let index = 0; index < 100_000; index += 1) recent.put(`${index}`, index, 0);
    const stored = Array.from({ length: 100_000 }, (_, index) => recent.take(`${index}`)).filter(
      (each) => each !== undefined,
    );
    expect(stored.length).toBe(maxTotalBytes / minBytes);
  });

  it('stores the latest values that fit, whatever was stored and taken before', () => {
    const step = fc.record({
      session: fc.constantFrom('a', 'b', 'c', 'd', 'e'),
      bytes: fc.integer({ min: minBytes, max: maxTotalBytes + maxTotalBytes / 4 }),
      isTaken: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(step), (steps) => {
        const recent = new RecentSessions<number>();
        let expected: { readonly session: string; readonly bytes: number }[] = [];
        for (const { session, bytes, isTaken } of steps) {
          const before = expected.find((each) => each.session === session);
          expected = expected.filter((each) => each !== before);
          if (isTaken) expect(recent.take(session)).toBe(before?.bytes);
          else {
            recent.put(session, bytes, bytes - minBytes);
            if (bytes <= maxTotalBytes) expected.push({ session, bytes });
          }
          while (expected.reduce((sum, each) => sum + each.bytes, 0) > maxTotalBytes) expected.shift();
        }
        for (const { session, bytes } of expected) expect(recent.take(session)).toBe(bytes);
        for (const session of ['a', 'b', 'c', 'd', 'e']) expect(recent.take(session)).toBeUndefined();
      }),
    );
  });
});
