import { expect } from 'vitest';
import { createRedactor } from '../src/index.js';
import { inChunks } from './in-chunks.js';

const { redact, stream } = createRedactor();
const replacement = '[redacted]';

/** Expects that a text becomes another one, as a whole, in chunks, and when it is redacted twice. */
export const expectRedacted = (text: string, expected: string): void => {
  expect(redact(text), text).toBe(expected);
  expect(redact(expected)).toBe(expected);
  expect(inChunks(stream, text).filter((output) => output !== expected)).toEqual([]);
};

/** Expects that what is between `«` and `»` is replaced, and nothing else, and that JSON with the text remains valid. */
export const expectHidden = (marked: string): void => {
  const inJson = redact(JSON.stringify({ stdout: marked.replaceAll(/[«»]/g, ''), exitCode: 0 }));
  expect(() => JSON.parse(inJson) as unknown, inJson).not.toThrow();
  expectRedacted(marked.replaceAll(/[«»]/g, ''), marked.replaceAll(/«[^»]*»/g, replacement));
};

/** Expects that a text is preserved, as a whole and in chunks. */
export const expectPreserved = (text: string): void => expectRedacted(text, text);
