import { describe, expect, it } from 'vitest';
import { inChunks } from '../../test/in-chunks.js';
import { createRedactor } from '../create-redactor.js';

const { redact, stream } = createRedactor();

/** Texts whose secret is found at the beginning or at the end of a line. */
const texts = [
  'rocommunity ZyAGcHD0V0lC4w 10.0.0.0/24',
  'radtest joe dzgb3Jno3I9b localhost 0 7tEthxk4iGkt',
  'crypto isakmp key NuSf04zHgMjyFRYmN3 address 198.51.100.7',
  'A001 LOGIN joe@example.org 6q0Kup-Ia7Jm',
  '$ sudo cat /etc/node-token\nK10a1ba6199f8901c3f5a9e0e57e475d46182::server:bd83aab0cde7',
  'Access Key              Secret Key\nAKIAQ3EGRIN5T7XHUWZ4    APdv/0gCzYzZrmPRfa2Mkz66E23mN7sOdn4DAt5V2QU=',
  '"app" "kW3Ewvm!29Q6kYx"\n"stats" "khEWvmJ29Q6kYx"',
  '---> USER joe\n---> PASS QwbK4e=wONkz',
];

/** Documents with a text in a string. */
const documents: readonly (readonly [name: string, document: (text: string) => string])[] = [
  ['a compact document', (text) => JSON.stringify({ output: text })],
  ['an indented document', (text) => JSON.stringify({ id: 1, content: [{ type: 'text', text }], n: 2 }, null, 2)],
  ['a list', (text) => JSON.stringify(['ok', text, 'done'])],
  ['a document within a document', (text) => JSON.stringify({ result: JSON.stringify({ output: text }) })],
  ['a document in a log', (text) => `2026-11-30 10:00:01 INFO result ${JSON.stringify({ output: text })} in 3 ms`],
];

describe.each(documents)('a string of %s', (_, document) => {
  it.each(texts)('is redacted as a text of its own: %j', (text) => {
    const redacted = redact(document(text));

    expect(redact(text)).not.toBe(text);
    expect(redacted).toBe(document(redact(text)));
    expect(new Set(inChunks(stream, document(text)))).toEqual(new Set([redacted]));
  });
});

describe('strings', () => {
  it.each([
    ['that are too long', `{"output": "${'word '.repeat(1000)}", "next": "x"}`],
    ['that do not end', '{"output": "rocommunity and other words 12'],
    ['with many backslashes', `{"a": "${'\\\\'.repeat(80)}", "b": "v 1.2.3"}`],
    ['whose escapes are invalid', '{"a": "C:\\users\\joe 2024-05-01", "b": "\\u12"}'],
    ['that are code', 'call("a", "b 12 c", [1, "d 3"])'],
  ])('%s are preserved', (_, text) => {
    expect(redact(text)).toBe(text);
    expect(new Set(inChunks(stream, text))).toEqual(new Set([text]));
  });
});
