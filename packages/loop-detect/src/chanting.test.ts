import { describe, expect, it } from 'vitest';
import fc from 'fast-check';
import { createChantingDetector } from './chanting.js';
import type { ChantingOptions } from './options.js';

/** Returns the number of characters after which the text is reported; `undefined` if it never is. */
const caughtAt = (text: string, options?: ChantingOptions, size = 7): number | undefined => {
  const detector = createChantingDetector(options);
  for (let at = 0; at < text.length; at += size) if (detector.add(text.slice(at, at + size))) return at + size;
  return undefined;
};

const finished =
  'I have carried out all the steps of the plan. The screenshot mode should work now: there is a switch in the settings, a service that draws the icon, and a way to ask for permission. The tests pass. I am done with the task.\n';
const wait =
  "I'll execute. I will update the page so that it has the new selector. I will use write_file now.\n\nWait, write_file needs its content as an argument. I must pass the whole text. I will.\n\nOne last check: the page matches the file that I read. Yes.\n\n";
const essay = Array.from(
  { length: 60 },
  (_, index) =>
    `Point ${index} is that module number ${index * 7} depends on ${index * 3} others, which is ${index % 2 ? 'fine' : 'not fine'} for reasons of ${'abcdefgh'[index % 8]}.`,
).join(' ');

describe('createChantingDetector', () => {
  it.each([
    ['two letters', 'ny'.repeat(400), 420],
    ['a sentence', 'I will now do it. '.repeat(40), 420],
    ['a closing paragraph', finished.repeat(30), 5.2 * finished.length],
    ['a monologue of half a page', wait.repeat(30), 5.2 * wait.length],
    [
      'sentences that differ in a number',
      Array.from(
        { length: 30 },
        (_, index) => `Let me try that again, attempt ${index}. I need to check the file first. `,
      ).join(''),
      1100,
    ],
    ['a sentence in Chinese', '我现在就来修改这个文件里的代码。'.repeat(40), 420],
    ['text after a block of code', `\`\`\`ts\nconst a = 1;\n\`\`\`\n${'I will now do it. '.repeat(40)}`, 460],
    ['text with inline code', '`foo` must be renamed to `bar`, so I rename it. '.repeat(40), 420],
  ])('catches %s', (_, text, within) => {
    expect(caughtAt(text)).toBeLessThanOrEqual(within);
  });

  it.each([
    ['prose', essay],
    ['a block of code', `Here it is:\n\`\`\`ts\n${'  values.push(0);\n'.repeat(100)}\`\`\`\nDone.`],
    ['a block of code in tildes', `~~~\n${'a\n'.repeat(800)}~~~`],
    ['a table', '| yes | no | yes | no | passed the test |\n'.repeat(60)],
    ['a list', '- The test passes.\n'.repeat(60)],
    ['a numbered list', '1. The test passes now.\n'.repeat(60)],
    ['a quote', '> The test passes now.\n'.repeat(60)],
    ['headings', '## The same heading\n'.repeat(60)],
    ['a rule', '-'.repeat(2000)],
    ['a rule within a line', `a ${'='.repeat(2000)}`],
    ['dots that wait', `Loading ${'.'.repeat(2000)}`],
    ['blanks', ' '.repeat(3000)],
    ['empty lines', '\n'.repeat(3000)],
    ['a passage that occurs four times', `${finished.repeat(4)}And now for something else. ${essay}`],
    [
      'a short sentence nine times among others',
      Array.from(
        { length: 9 },
        (_, index) => `File ${index} is repaired in ${index * 17} places. The tests pass now. `,
      ).join(''),
    ],
  ])('lets %s pass', (_, text) => {
    expect(caughtAt(text)).toBeUndefined();
  });

  it('returns the same for every split into chunks', () => {
    const texts = fc.constantFrom(finished.repeat(8), wait.repeat(8), 'ny'.repeat(300), essay);
    fc.assert(
      fc.property(texts, fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 1, maxLength: 20 }), (text, sizes) => {
        const detector = createChantingDetector();
        let found = false;
        for (let at = 0, turn = 0; at < text.length; turn += 1) {
          const size = sizes[turn % sizes.length] ?? 1;
          found = detector.add(text.slice(at, at + size)) || found;
          at += size;
        }
        expect(found).toBe(caughtAt(text) !== undefined);
      }),
      { numRuns: 40 },
    );
  });

  it('never reports text without repeated sentences', () => {
    const word = fc.constantFrom('alpha', 'beta', 'gamma', 'delta', 'epsilon');
    fc.assert(
      fc.property(fc.array(fc.array(word, { minLength: 3, maxLength: 8 }), { maxLength: 80 }), (sentences) => {
        expect(
          caughtAt(sentences.map((words, index) => `${index}th ${words.join(' ')} ${index * 31}.`).join(' ')),
        ).toBeUndefined();
      }),
      { numRuns: 50 },
    );
  });

  it('keeps its result until it is reset', () => {
    const detector = createChantingDetector();
    expect(detector.add('ny'.repeat(400))).toBe(true);
    expect(detector.add('Something else.')).toBe(true);
    detector.reset();
    expect(detector.add('Something else.')).toBe(false);
  });

  it('applies its options', () => {
    const text = 'I will now do it. '.repeat(40);
    expect(caughtAt(text, { minChars: 100 }, 1)).toBeLessThan(130);
    expect(caughtAt(text, { rounds: 41 }, 1)).toBeUndefined();
    expect(caughtAt(finished.repeat(4), { rounds: 3 })).toBeLessThan(3.2 * finished.length);
    expect(
      caughtAt(
        Array.from({ length: 4 }, (_, index) => `${'abcd'[index]}. All of the tests in this folder pass now. `).join(
          '',
        ),
        { sentences: 4 },
      ),
    ).toBeDefined();
    expect(
      caughtAt(
        Array.from({ length: 4 }, (_, index) => `${'abcd'[index]}. All of the tests in this folder pass now. `).join(
          '',
        ),
        { sentences: 5 },
      ),
    ).toBeUndefined();
  });

  it.each([{ rounds: 1 }, { minChars: 0 }, { sentences: 0.5 }, { laps: 3 }])('refuses %o', (options) => {
    expect(() => createChantingDetector(options as ChantingOptions)).toThrow(/createChantingDetector\(\)/);
  });

  it('takes linear time', () => {
    const took = (text: string): number => {
      const before = process.cpuUsage();
      createChantingDetector().add(text);
      return process.cpuUsage(before).user;
    };
    const hostile = [
      `a${'='.repeat(400_000)}`,
      '\u{1f600}!'.repeat(150_000),
      '`'.repeat(400_000),
      ' .'.repeat(200_000),
    ];
    for (const text of hostile) {
      took(text.slice(0, 50_000));
      expect(took(text)).toBeLessThan(Math.max(40 * took(text.slice(0, text.length / 8)), 400_000));
    }
  });
});
