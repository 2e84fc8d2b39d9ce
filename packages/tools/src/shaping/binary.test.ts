import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { binaryKind } from './binary.js';

const asText = (...bytes: number[]): string => Buffer.from(bytes).toString('utf8');

describe('binaryKind', () => {
  it.each([
    ['a PNG image', asText(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13)],
    ['a JPEG image', asText(0xff, 0xd8, 0xff, 0xe0, 0, 16, 0x4a, 0x46, 0x49, 0x46, 0)],
    ['a ZIP archive', asText(0x50, 0x4b, 3, 4, 20, 0, 0, 0)],
    ['binary data', asText(...Array.from({ length: 200 }, (_, index) => (index * 37) % 256))],
    ['binary data', `text and then\u0000more`],
  ])('recognises %s', (kind, text) => {
    expect(binaryKind(text)).toBe(kind);
  });

  it('recognizes an executable', () => {
    expect(binaryKind(readFileSync(process.execPath).subarray(0, 5_000).toString())).toMatch(/a program|binary data/);
  });

  it.each([
    ['plain text', 'Hello\r\n\tworld'],
    ['text in any script', 'Καλημέρα 日本語 😀 فارسی'],
    ['colored terminal output', '\u001b[31mred\u001b[0m \u0007\b'.repeat(50)],
    ['text with one invalid character', `${'good '.repeat(20)}\ufffd`],
    ['nothing', ''],
  ])('lets %s pass', (_, text) => {
    expect(binaryKind(text)).toBeUndefined();
  });
});
