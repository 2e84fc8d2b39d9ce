import { describe, expect, it } from 'vitest';
import { modulesOf } from './blocks.js';

/** The lines of code with their numbers. @type {(page: readonly string[]) => string[][]} */
const numbered = (page) =>
  modulesOf(page.join('\n')).map(({ code }) =>
    code.split('\n').flatMap((line, index) => (line === '' || line === 'export {};' ? [] : [`${index + 1} ${line}`])),
  );

describe('modulesOf', () => {
  it('makes a module of each TypeScript block, on the lines it has in the page', () => {
    const page = ['# Title', '```ts', 'one();', '```', '', '```typescript title="x"', 'two();', 'three();', '```'];
    expect(numbered(page)).toEqual([['3 one();'], ['7 two();', '8 three();']]);
  });

  it('leaves other languages alone', () => {
    expect(numbered(['```json', '{}', '```', '```bash', '```ts', 'npm test', '```', '```', 'text', '```'])).toEqual([]);
  });

  it('adds a `continued` block to the previous module', () => {
    expect(numbered(['```ts', 'one();', '```', 'and', '```ts continued', 'two();', '```'])).toEqual([
      ['2 one();', '6 two();'],
    ]);
  });

  it('puts hidden lines before the block that follows', () => {
    const page = ['<!-- ts', 'declare const one: number;', '-->', '```ts', 'one;', '```', '```ts', 'two;', '```'];
    expect(numbered(page)).toEqual([['2 declare const one: number;', '5 one;'], ['8 two;']]);
  });

  it('takes the indentation of a list away', () => {
    expect(numbered(['- item', '  ```ts', '  if (one) {', '    two();', '  }', '  ```'])).toEqual([
      ['3 if (one) {', '4   two();', '5 }'],
    ]);
  });

  it('ends a block only at its own fence', () => {
    expect(numbered(['````md', '```ts', 'no();', '```', '````', '~~~ts', 'yes();', '~~~'])).toEqual([['7 yes();']]);
  });
});
