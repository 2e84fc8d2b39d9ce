import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { continued, Pastes } from './pastes.js';

const paste = (text: string): string => `\u001B[200~${text}\u001B[201~`;

/** Pasted text: without control characters except line breaks and tabs. */
const pasted = fc
  .array(fc.oneof(fc.constantFrom('\n', '\t', 'é', '日', '😀', '[20', '~'), fc.string()), { maxLength: 40 })
  .map((pieces) => pieces.join('').replaceAll(/(?![\n\t])\p{Cc}/gu, ''));

describe('Pastes', () => {
  it('returns the same text for every split of the input', () => {
    fc.assert(
      fc.property(fc.array(pasted, { maxLength: 4 }), fc.array(fc.nat(), { maxLength: 12 }), (texts, cuts) => {
        const input = Buffer.from(texts.map((text) => `a${paste(text)}b`).join(''));
        const places = [0, ...cuts.map((cut) => cut % (input.length + 1)).toSorted((a, b) => a - b), input.length];
        const pastes = new Pastes();
        const typed = places.slice(1).map((end, index) => pastes.take(input.subarray(places[index], end)));
        expect(pastes.expand(typed.join('').replaceAll('\u001B[200~', ''))).toBe(
          texts.map((text) => `a${text}b`).join(''),
        );
      }),
    );
  });

  it('turns a paste of any size into one character', () => {
    const text = 'a line of a large file\n'.repeat(100_000);
    const pastes = new Pastes();
    const typed = pastes.take(paste(text)).replace('\u001B[200~', '');
    expect(Array.from(typed)).toHaveLength(1);
    expect(pastes.expand(typed)).toBe(text);
    expect(pastes.label(`x${typed}`)).toBe('x[100,000 pasted lines]');
  });

  it('accepts line breaks of every system', () => {
    const pastes = new Pastes();
    expect(pastes.expand(pastes.take(paste('a\r\nb\rc\nd')).replace('\u001B[200~', ''))).toBe('a\nb\nc\nd');
  });

  it('adds a line break for Alt-Enter', () => {
    const pastes = new Pastes();
    const typed = pastes.take('a\u001B\rb\r');
    expect(pastes.expand(typed)).toBe('a\nb\r');
    expect(pastes.label(typed)).toBe('a↵b\r');
  });

  it('ends a paste without an end at Ctrl-C', () => {
    expect(new Pastes().take('\u001B[200~abc\u0003')).toBe('\u001B[200~abc\u0003');
  });

  it('continues a line after a backslash that is not escaped', () => {
    const pastes = new Pastes();
    expect(pastes.expand(continued('a\\') ?? '')).toBe('a\n');
    expect(continued('a\\\\')).toBeUndefined();
    expect(continued('a')).toBeUndefined();
  });
});
