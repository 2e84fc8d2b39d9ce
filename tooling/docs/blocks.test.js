import { describe, expect, it } from 'vitest';
import { modulesOf } from './blocks.js';

/** Returns the lines of code with their numbers. @type {(page: readonly string[]) => string[][]} */
const numbered = (page) =>
  modulesOf(page.join('\n')).map(({ code }) =>
    code.split('\n').flatMap((line, index) => (line === '' || line === 'export {};' ? [] : [`${index + 1} ${line}`])),
  );

describe('modulesOf', () => {
  it('creates a module from each TypeScript block, with the line numbers of the page', () => {
    const page = ['# Title', '```ts', 'one();', '```', '', '```typescript title="x"', 'two();', 'three();', '```'];
    expect(numbered(page)).toEqual([['3 one();'], ['7 two();', '8 three();']]);
  });

  it('ignores other languages', () => {
    expect(numbered(['```json', '{}', '```', '```bash', '```ts', 'npm test', '```', '```', 'text', '```'])).toEqual([]);
  });

  it('adds a `continued` block to the previous module', () => {
    expect(numbered(['```ts', 'one();', '```', 'and', '```ts continued', 'two();', '```'])).toEqual([
      ['2 one();', '6 two();'],
    ]);
  });

  it('inserts hidden lines before the next block', () => {
    const page = ['<!-- ts', 'declare const one: number;', '-->', '```ts', 'one;', '```', '```ts', 'two;', '```'];
    expect(numbered(page)).toEqual([['2 declare const one: number;', '5 one;'], ['8 two;']]);
  });

  it('removes the indentation of a list', () => {
    expect(numbered(['- item', '  ```ts', '  if (one) {', '    two();', '  }', '  ```'])).toEqual([
      ['3 if (one) {', '4   two();', '5 }'],
    ]);
  });

  it('returns which blocks are programs, and what they print', () => {
    const page = ['```ts run', 'one();', '```', '', '```text output', '1', '2', '```', '```ts', 'two();', '```'];
    expect(modulesOf(page.join('\n'))).toMatchObject([{ runs: true, output: '1\n2' }, { runs: false }]);
  });

  it('ends a block only at its own fence', () => {
    expect(numbered(['````md', '```ts', 'no();', '```', '````', '~~~ts', 'yes();', '~~~'])).toEqual([['7 yes();']]);
  });
});
