import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { diffLines, diffOfInput, parseUnifiedDiff } from './diff.js';
import { age, count, dollars, duration } from './format.js';
import { parseMarkdown, type Block } from './markdown.js';
import { parseInline, safeUrl, type Inline } from './markdown-inline.js';
import { commandOf, summaryOf } from './tool-summary.js';
import { head, isDeceptive, visible, withoutColors } from './visible.js';

const inlineText = (nodes: readonly Inline[]): string =>
  nodes
    .map((node) =>
      typeof node === 'string'
        ? node
        : node.type === 'break'
          ? '\n'
          : node.type === 'code'
            ? node.text
            : inlineText(node.children),
    )
    .join('');
const hrefs = (nodes: readonly Inline[]): readonly string[] =>
  nodes.flatMap((node) =>
    typeof node === 'string' || node.type === 'break' || node.type === 'code'
      ? []
      : [...(node.type === 'link' ? [node.href] : []), ...hrefs(node.children)],
  );
const inlinesOf = (block: Block): readonly Inline[] => {
  switch (block.type) {
    case 'heading':
    case 'paragraph':
      return block.children;
    case 'list':
      return block.items.flat().flatMap(inlinesOf);
    case 'quote':
      return block.blocks.flatMap(inlinesOf);
    case 'table':
      return [...block.head.flat(), ...block.rows.flat(2)];
    case 'code':
    case 'rule':
      return [];
  }
};
/** Text of the characters that mean something in Markdown, so that nesting and breakage are frequent. */
const markup = fc.string({
  unit: fc.constantFrom(
    'a',
    ' ',
    '\n',
    '*',
    '_',
    '`',
    '[',
    ']',
    '(',
    ')',
    '#',
    '-',
    '>',
    '|',
    '~',
    '\\',
    '1',
    '.',
    '!',
    ':',
    'http://x',
    'javascript:',
  ),
  maxLength: 300,
});

describe('Markdown', () => {
  it.each<[string, unknown]>([
    ['a **b *c*** d', ['a ', { type: 'strong', children: ['b ', { type: 'emphasis', children: ['c'] }] }, ' d']],
    ['snake_case_name 2 * 3 * 4', ['snake_case_name 2 * 3 * 4']],
    ['`` a`b `` ~~x~~', [{ type: 'code', text: 'a`b' }, ' ', { type: 'strike', children: ['x'] }]],
    ['[a](https://b.c/d_(e)) arr[0]', [{ type: 'link', href: 'https://b.c/d_(e)', children: ['a'] }, ' arr[0]']],
    ['see https://b.c/x.', ['see ', { type: 'link', href: 'https://b.c/x', children: ['https://b.c/x'] }, '.']],
    ['[a](javascript:alert(1))', ['a']],
    ['\\*a\\* **open', ['*a* **open']],
  ])('parses the line %j', (line, nodes) => {
    expect(parseInline(line)).toEqual(nodes);
  });

  it('parses blocks: headings, lists in lists, code in lists, quotes, tables and rules', () => {
    const text =
      '# T\n\n1. a\n   - b\n   ```js\n   x\n   ```\n2. c\n\n> q\n> > r\n\n|a|b|\n|:-|-:|\n|1|2|\n\n---\n```\n<b>';
    const blocks = parseMarkdown(text);
    expect(blocks.map(({ type }) => type)).toEqual(['heading', 'list', 'quote', 'table', 'rule', 'code']);
    expect(blocks[1]).toMatchObject({
      start: 1,
      items: [[{ type: 'paragraph' }, { type: 'list' }, { language: 'js', text: 'x' }], [{}]],
    });
    expect(blocks[3]).toMatchObject({ align: ['left', 'right'], head: [['a'], ['b']], rows: [[['1'], ['2']]] });
    expect(blocks.at(-1)).toEqual({ type: 'code', language: '', text: '<b>' });
  });

  it.each([
    ['[https://good.example/a](https://evil.example/b)', 'https://good.example/a (evil.example)'],
    ['[**www.good.example**](https://evil.example)', 'www.good.example (evil.example)'],
    ['[https://good.example@evil.example](https://other.example)', 'https://good.example@evil.example (other.example)'],
    ['![http://good.example](mailto:a@evil.example)', 'http://good.example (a@evil.example)'],
    ['[https://good.example](https://www.good.example:8080/long/path)', 'https://good.example'],
    ['[README.md](https://good.example/README.md)', 'README.md'],
  ])('shows where %s leads', (markdown, shown) => {
    expect(inlineText(parseInline(markdown))).toBe(shown);
  });

  it('never throws, and links lead to the web or mail only', () => {
    fc.assert(
      fc.property(markup, (text) => {
        for (const block of parseMarkdown(text)) {
          for (const href of hrefs(inlinesOf(block))) expect(href).toMatch(/^(?:https?|mailto):/u);
        }
      }),
      { numRuns: 300 },
    );
  });

  it('keeps every letter of a line', () => {
    const letters = (text: string): string => text.replaceAll(/[^a1]/gu, '');
    fc.assert(
      fc.property(
        markup.filter((text) => !/http|javascript|\(/u.test(text)),
        (text) => {
          expect(letters(inlineText(parseInline(text)))).toBe(letters(text));
        },
      ),
      { numRuns: 300 },
    );
  });

  it.each(['*a ', '[', '](', '`', '`a``', '> ', '- ', '| ', '_a*b ', '![a](', 'http://x ', '**a _b ~~'])(
    'parses 50,000 repetitions of %j in bounded work',
    (part) => {
      expect(parseMarkdown(part.repeat(50_000)).length).toBeGreaterThan(0);
    },
  );

  it.each(['javascript:alert(1)', 'data:text/html,x', ' vbscript:x', 'file:///etc/passwd', '/a', '//x'])(
    'refuses %s',
    (url) => {
      expect(safeUrl(url)).toBeUndefined();
    },
  );
});

describe('text that deceives', () => {
  it('shows characters that reorder or hide text by their code points', () => {
    expect(visible('rm \u202Eexe.txt\u200B\u0000')).toBe('rm ⟦U+202E⟧exe.txt⟦U+200B⟧⟦U+0000⟧');
    expect(visible('ls\u{E0041}\u3164')).toBe('ls⟦U+E0041⟧⟦U+3164⟧');
    expect(isDeceptive('a\u2066b')).toBe(true);
    expect(isDeceptive('\ta\r\nnaïve 日本')).toBe(false);
  });
  it('hides nothing of an input, and only control sequences of an output', () => {
    expect(visible('a\u001B[2Kb')).toBe('a⟦U+001B⟧[2Kb');
    expect(visible(withoutColors('\u001B[31mred\u001B[0m \u001B]0;title'))).toBe('red ⟦U+001B⟧]0;title');
  });
  it('cuts at a line or a character, never inside of one', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom('a', '\n', '😀', '\uD83D', '\uDE00'), maxLength: 30 }),
        fc.nat(6),
        fc.nat(20),
        (text, lines, characters) => {
          const part = head(text, lines, characters);
          expect(text.startsWith(part.text)).toBe(true);
          expect(part.isWhole).toBe(part.text === text);
          expect(part.text.isWellFormed() || !text.isWellFormed()).toBe(true);
        },
      ),
    );
  });
});

describe('diffs', () => {
  const lines = fc
    .array(fc.constantFrom('a', 'b', 'c', ''), { maxLength: 12 })
    .map((all) => all.map((line) => `${line}\n`).join(''));

  it('contains both texts, whatever they are', () => {
    fc.assert(
      fc.property(lines, lines, (before, after) => {
        const all = diffLines(before, after).filter(({ kind }) => kind !== 'gap');
        const side = (kind: string): string[] =>
          all.filter((line) => line.kind === 'same' || line.kind === kind).map(({ text }) => text);
        const isSub = (part: string[], whole: string): boolean => {
          const rest = whole === '' ? [] : whole.replace(/\n$/u, '').split('\n');
          return part.every((line) => rest.splice(0, rest.indexOf(line) + 1).length > 0);
        };
        expect(isSub(side('removed'), before) && isSub(side('added'), after)).toBe(true);
      }),
    );
  });

  it.each<[object, readonly string[]]>([
    [{ path: 'a', old_string: 'x', new_string: 'y', replace_all: true }, ['path', 'old_string', 'new_string']],
    [{ file_path: 'a', content: 'x' }, ['file_path', 'content']],
    [{ path: 'a', edits: [{ oldText: 'x', newText: 'y' }] }, ['path', 'edits']],
    [{ path: 'a', old_string: 'x', new_string: 'y', content: 'z' }, ['path', 'old_string', 'new_string']],
  ])('names the members of %j that it shows, so that the others are shown beside it', (input, members) => {
    expect(diffOfInput(input)?.members).toEqual(members);
  });
  it('leaves edits with further members as they are', () => {
    expect(diffOfInput({ path: 'a', edits: [{ oldText: 'x', newText: 'y', all: true }] })).toBeUndefined();
    expect(diffOfInput({ path: 'a', edits: [{ oldText: 'x', newText: 'y' }, 3] })).toBeUndefined();
  });
  it('reads unified diffs of several files', () => {
    const text =
      'diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\ndiff --git a/y b/y\n--- a/y\n+++ b/y\n@@ -1,0 +1 @@\n+--- c\n';
    expect(parseUnifiedDiff(text)).toMatchObject([
      { path: 'x', added: 1, removed: 1 },
      { path: 'y', added: 1, removed: 0 },
    ]);
    expect(parseUnifiedDiff('@@ mail -- me')).toBeUndefined();
  });
});

it('tells what a call is about in one line', () => {
  expect(summaryOf({ path: 'a', command: 'ls\n  -l' })).toBe('ls -l');
  expect(summaryOf({ x: 1 })).toBe('{"x":1}');
  expect(summaryOf('x'.repeat(9999))).toHaveLength(200);
  expect(commandOf({ cmd: 'ls' })).toEqual({ member: 'cmd', text: 'ls' });
});

it.each<[string, string]>([
  [age(0, 5000), 'now'],
  [age(0, 200_000), '3 min'],
  [duration(9960), '10 s'],
  [duration(192_000), '3 min 12 s'],
  [count(999), '999'],
  [count(12_340), '12.3k'],
  [count(999_700), '1M'],
  [dollars(null), 'unknown'],
  [dollars(0.0042), '$0.0042'],
  [dollars(1.5), '$1.50'],
])('formats %j', (shown, expected) => {
  expect(shown).toBe(expected);
});
