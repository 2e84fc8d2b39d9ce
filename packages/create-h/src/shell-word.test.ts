import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { shellWord } from './shell-word.js';

it('quotes any path for a shell, and leaves ordinary ones as they are', () => {
  expect(shellWord('my-agent', 'linux')).toBe('my-agent');
  expect(shellWord(String.raw`C:\my agents\one`, 'win32')).toBe(String.raw`"C:\my agents\one"`);
  const path = fc.oneof(
    fc.constantFrom('$(touch x)', `a'b"c`, '`id`', 'new\nline', '$HOME', '日本語', 'a;b', '~', '*'),
    fc.string({ minLength: 1 }),
  );
  fc.assert(
    fc.property(path, (text) => {
      fc.pre(!text.includes('\0'));
      expect(execFileSync('sh', ['-c', `printf %s ${shellWord(text, 'linux')}`]).toString()).toBe(text);
    }),
    { numRuns: 30 },
  );
});
