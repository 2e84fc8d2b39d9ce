import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { outputWindow, type CapturedOutput } from './output-window.js';

const capture = (maxChars: number, ...chunks: readonly (string | Uint8Array)[]): CapturedOutput => {
  const window = outputWindow({ maxChars });
  for (const chunk of chunks) window.write(typeof chunk === 'string' ? new TextEncoder().encode(chunk) : chunk);
  return window.read();
};

/** Splits bytes at the given places. */
const chunksOf = (bytes: Uint8Array, ends: readonly number[]): Uint8Array[] => {
  const cuts = [0, ...ends.map((end) => end % (bytes.length + 1)).toSorted((a, b) => a - b), bytes.length];
  return cuts.slice(1).map((end, index) => bytes.subarray(cuts[index], end));
};

const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 400 }),
  fc.string({ unit: fc.constantFrom('a', 'é', '漢', '😀', '\n'), maxLength: 400 }),
);
const cuts = fc.array(fc.nat(2_000), { maxLength: 8 });
/** Invalid UTF-8, repeated so that errors add up: overlong, a surrogate, beyond Unicode, and cut off. */
const invalid = fc
  .constantFrom('e08080', 'f0808080', 'eda080', 'f4908080', 'f5808080', 'c2', 'e282', 'f09f98', '80')
  .map((sequence) => Buffer.from(sequence.repeat(200), 'hex'));

describe('outputWindow', () => {
  it('stores an output that fits unchanged', () => {
    expect(capture(10, 'hello\n')).toEqual({ text: 'hello\n', bytes: 6, omittedBytes: 0, binary: false });
  });

  it('stores both ends of a longer output and the number of omitted bytes', () => {
    const { text: kept, bytes, omittedBytes } = capture(100, `first${'.'.repeat(10_000)}last`);
    expect(kept).toMatch(/^first\.+\n\[… 9,\d{3} bytes omitted …\]\n\.+last$/);
    expect(kept.replace(/\n\[.*\]\n/, '').length + omittedBytes).toBe(bytes);
  });

  it('cuts at the end of a line if that costs little', () => {
    const line = `${'x'.repeat(20)}\n`;
    const [head, tail] = capture(1_000, line.repeat(200)).text.split(/\n\[… .* bytes omitted …\]\n/);
    expect(head?.endsWith('\n')).toBe(true);
    expect(tail?.startsWith('x'.repeat(20))).toBe(true);
  });

  it.each([`\n${'x'.repeat(600_000)}`, `${'x'.repeat(600_000)}\nx`])(
    'cuts within a line that is longer than the limit',
    (output) => {
      expect(capture(100, output).text.length).toBeGreaterThan(90);
    },
  );

  it('stores an output that grows chunk by chunk up to the limit unchanged', () => {
    const line = `${'x'.repeat(998)}é`;
    expect(capture(100_000, ...Array.from({ length: 100 }, () => line))).toMatchObject({
      text: line.repeat(100),
      omittedBytes: 0,
    });
  });

  it('decodes characters that are split between chunks and across the end of the buffer', () => {
    const output = '漢😀é'.repeat(2_000);
    const bytes = new TextEncoder().encode(output);
    const kept = capture(500, ...Array.from(bytes, (byte) => Uint8Array.of(byte))).text;
    expect(kept).not.toContain('\u{fffd}');
    expect(kept.isWellFormed()).toBe(true);
  });

  it('preserves a byte order mark and replaces invalid UTF-8', () => {
    expect(capture(10, '\u{feff}a').text).toBe('\u{feff}a');
    expect(capture(10, Uint8Array.of(0x61, 0xff, 0x62)).text).toBe('a\u{fffd}b');
  });

  it('stores the end alone, or the beginning alone', () => {
    const window = (headShare: number): string => {
      const { write, read } = outputWindow({ maxChars: 80, headShare });
      write(Buffer.from(`first${'.'.repeat(500)}last`));
      return read().text;
    };
    expect(window(0)).toMatch(/^\n\[… .* bytes omitted …\]\n\.+last$/);
    expect(window(1)).toMatch(/^first\.+\n\[… .* bytes omitted …\]\n$/);
  });

  it('refuses a bad option', () => {
    expect(() => outputWindow({ maxChars: -1 })).toThrow('"maxChars" must be an integer from 0; received -1.');
  });

  it('detects output that is not text', () => {
    expect(capture(10, Uint8Array.of(0x7f, 0x45, 0, 0)).binary).toBe(true);
    expect(capture(10, 'text').binary).toBe(false);
  });

  it('never exceeds its limit', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.uint8Array({ maxLength: 2_000 }), invalid),
        cuts,
        fc.nat(300),
        (bytes, ends, maxChars) => {
          const kept = capture(maxChars, ...chunksOf(bytes, ends));
          expect(kept.text.length).toBeLessThanOrEqual(maxChars);
          expect(kept.bytes).toBe(bytes.length);
        },
      ),
    );
  });

  it('accounts for every byte and never splits a character', () => {
    fc.assert(
      fc.property(text, cuts, fc.integer({ min: 40, max: 300 }), (written, ends, maxChars) => {
        const bytes = new TextEncoder().encode(written.toWellFormed());
        const kept = capture(maxChars, ...chunksOf(bytes, ends));
        expect(kept.text.isWellFormed()).toBe(true);
        const shown = kept.omittedBytes === 0 ? kept.text : kept.text.replace(/\n\[… [\d,]+ bytes omitted …\]\n/, '');
        expect(Buffer.byteLength(shown) + kept.omittedBytes).toBe(bytes.length);
        expect(kept.omittedBytes > 0).toBe(written.length > maxChars);
      }),
    );
  });
});
