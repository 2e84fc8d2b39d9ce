import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { defaultMessage, tidyMessage } from './commit-message.js';

describe('defaultMessage', () => {
  it('tells the task and the files', () => {
    expect(
      defaultMessage({ task: 'Fix the test\n\nIt fails on Sundays.', files: ['a.ts', 'b.ts'], isComplete: true }),
    ).toBe('Fix the test\n\n- a.ts\n- b.ts');
  });

  it('marks work that was not completed, and lists no more files than one wants to read', () => {
    const files = Array.from({ length: 25 }, (_, index) => `${index}`);
    const message = defaultMessage({ task: '***\n', files, isComplete: false });
    expect(message).toMatch(/^WIP: Change 25 files\n\n- 0\n[^]*- 19\n- and 5 more$/);
  });
});

describe('tidyMessage', () => {
  it.each([
    ['--amend --no-edit', 'amend --no-edit'],
    ['# Fix', 'Fix'],
    ['-', ''],
    ['\n\n  Fix it  \nbody', 'Fix it\n\nbody'],
    ['---\nReal subject\n\ntext', 'Real subject\n\ntext'],
    ['a\tb\u0007c\u001b[31m\u202e', 'a bc[31m'],
    ['one\r\ntwo\rthree', 'one\n\ntwo\nthree'],
    ['x'.repeat(100), `${'x'.repeat(71)}…`],
    [`${'x'.repeat(70)}😀😀`, `${'x'.repeat(70)}…`],
  ])('makes of %j %j', (text, expected) => {
    expect(tidyMessage(text)).toBe(expected);
  });

  it('gives a subject of one short line for every text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 200 }), fc.constantFrom(1, 50), (piece, times) => {
        const text = piece.repeat(times);
        const message = tidyMessage(text);
        expect(message).not.toMatch(/^[\s#-]/);
        expect(message.isWellFormed()).toBe(true);
        expect((message.split('\n')[0] ?? '').length).toBeLessThanOrEqual(72);
        expect(message.length).toBeLessThanOrEqual(4_000);
      }),
    );
  });
});
