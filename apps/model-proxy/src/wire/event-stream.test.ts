import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { EventStreamReader, type StreamEvent } from './event-stream.js';

const read = (chunks: readonly Uint8Array[]): readonly StreamEvent[] => {
  const events: StreamEvent[] = [];
  const reader = new EventStreamReader((event) => events.push(event));
  for (const chunk of chunks) reader.push(chunk);
  return events;
};

const line = fc.string({ unit: 'grapheme', maxLength: 12 }).filter((text) => !/[\r\n]/.test(text));
const event = fc.record({
  event: fc.stringMatching(/^[a-z._]{1,12}$/),
  data: fc.array(line, { minLength: 1, maxLength: 3 }),
});

describe('EventStreamReader', () => {
  it('reads the same events for any chunks and line ends', () => {
    const lineEnds = fc.constantFrom('\n', '\r\n', '\r');
    fc.assert(
      fc.property(fc.array(event), lineEnds, fc.array(fc.nat(400)), fc.boolean(), (events, end, cuts, hasComments) => {
        const text = events
          .map(({ event: name, data }) =>
            [...(hasComments ? [': ping'] : []), `event: ${name}`, ...data.map((part) => `data: ${part}`), '', ''].join(
              end,
            ),
          )
          .join('');
        const bytes = new TextEncoder().encode(text);
        const bounds = [0, ...cuts.filter((cut) => cut < bytes.length).toSorted((a, b) => a - b), bytes.length];
        const chunks = bounds.slice(1).map((to, index) => bytes.subarray(bounds[index], to));
        // A byte order mark at the beginning of a stream is not data.
        const expected = events.map(({ event: name, data }) => ({ event: name, data: data.join('\n') }));
        expect(read(chunks)).toEqual(expected);
      }),
    );
  });

  it('reads a stream of many small chunks in linear time, and stops at an endless event', () => {
    const reader = new EventStreamReader(() => undefined);
    const chunk = new TextEncoder().encode('x'.repeat(10_000));
    for (let count = 0; count < 2000; count += 1) reader.push(chunk);
    expect(reader.isOverflown).toBe(true);
  });
});
