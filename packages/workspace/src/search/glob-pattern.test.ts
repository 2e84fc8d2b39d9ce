import * as fc from 'fast-check';
import picomatch from 'picomatch';
import { describe, expect, it } from 'vitest';
import { compileGlob, GlobPatternError } from './glob-pattern.js';

const matches = (pattern: string, path: string) => compileGlob(pattern).matches(path);

describe('compileGlob', () => {
  it.each([
    ['*.ts', ['a.ts', 'src/deep/a.ts', '.ts'], ['a.tsx', 'a.ts/b']],
    ['src/*.ts', ['src/a.ts'], ['src/b/a.ts', 'x/src/a.ts', 'a.ts']],
    ['./src/*.ts', ['src/a.ts'], ['a.ts']],
    ['./*.ts', ['a.ts'], ['src/a.ts']],
    ['/src//./*.ts', ['src/a.ts'], ['a.ts']],
    ['src/**', ['src/a', 'src/b/c'], ['src', 'x/src/a']],
    ['**', ['a', 'a/b/.c'], []],
    ['**/*', ['a', 'a/b/.c'], []],
    ['**/test/**/*.ts', ['test/a.ts', 'x/test/y/z/a.ts'], ['tests/a.ts', 'test']],
    ['a/**/b', ['a/b', 'a/x/b', 'a/x/y/b'], ['a', 'a/x', 'b', 'a/b/c']],
    ['a/**/b/**/c', ['a/b/c', 'a/b/x/b/c'], ['a/c', 'a/b']],
    ['?.md', ['a.md', '🙂.md'], ['ab.md', '.md']],
    ['[a-c]x[!0-9]', ['axy', 'cx-'], ['dxy', 'ax1', 'ax']],
    ['[^a]', ['b'], ['a']],
    ['[]a]', [']', 'a'], ['b']],
    ['[a-]', ['a', '-'], ['b']],
    ['[abc', ['[abc'], ['a']],
    ['*.{ts,tsx}', ['a.ts', 'x/a.tsx'], ['a.js']],
    ['{src,test}/**/*.{ts,{m,c}js}', ['src/a.ts', 'test/x/a.mjs', 'src/a.cjs'], ['lib/a.ts', 'src/a.js']],
    ['{a}', ['{a}'], ['a']],
    ['a{,b}', ['a', 'ab'], ['b']],
    ['a{b', ['a{b'], ['ab']],
    ['{a,{b,c}', ['{a,b', '{a,c'], ['a', 'b']],
    ['\\*.ts', ['*.ts'], ['a.ts']],
    ['\\{a,b\\}', ['{a,b}'], ['a']],
    ['a\\', ['a\\'], ['a']],
    ['*a*b*', ['ab', 'xaxbx'], ['ba']],
    ['日本*', ['日本語', 'x/日本'], ['日']],
    ['(a|b)+.ts', ['(a|b)+.ts'], ['a.ts']],
    ['.env*', ['.env', 'a/.env.local'], ['env']],
  ])('reads %j', (pattern, right, wrong) => {
    for (const path of right) expect(matches(pattern, path), path).toBe(true);
    for (const path of wrong) expect(matches(pattern, path), path).toBe(false);
  });

  it('recognizes patterns for folders', () => {
    expect(compileGlob('src/*/').foldersOnly).toBe(true);
    expect(matches('src/*/', 'src/lib')).toBe(true);
    expect(compileGlob('src/*').foldersOnly).toBe(false);
  });

  it.each([
    ['src/**/*.ts', ['src', 'src/x'], ['lib']],
    ['src/*.ts', ['src'], ['src/x', 'lib']],
    ['*.ts', ['anything', 'at/all'], []],
    ['{src,test}/a/b', ['src', 'test', 'src/a'], ['src/b', 'src/a/b', 'x']],
  ])('finds the folders below which %j can match', (pattern, right, wrong) => {
    for (const folder of right) expect(compileGlob(pattern).mayMatchBelow(folder), folder).toBe(true);
    for (const folder of wrong) expect(compileGlob(pattern).mayMatchBelow(folder), folder).toBe(false);
  });

  it.each([
    ['', 'empty'],
    ['{a,}', 'empty'],
    ['./', 'empty'],
    ['/', 'empty'],
    ['../*', '..'],
    ['a/../b', '..'],
    ['x'.repeat(1_001), '1000'],
    ['{a,b}'.repeat(9), '256'],
  ])('refuses %j', (pattern, said) => {
    expect(() => compileGlob(pattern)).toThrow(GlobPatternError);
    expect(() => compileGlob(pattern)).toThrow(said);
  });

  it('runs quickly on patterns that are exponential as regular expressions', () => {
    const name = `${'a'.repeat(250)}!`;
    const path = Array.from({ length: 15 }, () => name).join('/');
    expect(matches(`${'*a'.repeat(100)}*b`, path)).toBe(false);
    expect(matches(`${'**/*a*/'.repeat(20)}b`, path)).toBe(false);
    expect(matches(`${'?*'.repeat(120)}c`, name)).toBe(false);
  });

  it('agrees with picomatch on their common syntax', () => {
    const segment = fc
      .string({ unit: fc.constantFrom('a', 'b', '.', '*', '?', '[ab]', '[^a]'), minLength: 1, maxLength: 4 })
      .filter((text) => !text.includes('**') && text !== '.' && text !== '..');
    const pattern = fc
      .array(fc.oneof({ weight: 3, arbitrary: segment }, fc.constant('**')), { minLength: 2, maxLength: 4 })
      .map((parts) => parts.join('/'));
    const name = fc
      .string({ unit: fc.constantFrom('a', 'b', '.'), minLength: 1, maxLength: 4 })
      .filter((text) => text !== '.' && text !== '..');
    const path = fc.array(name, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('/'));
    fc.assert(
      fc.property(pattern, path, (glob, candidate) => {
        // As in shells, a trailing ** of picomatch also matches nothing.
        if (glob.endsWith('**')) return;
        // Its fast paths for a few patterns require a character behind the dot of `*.*`.
        const options = { dot: true, strictSlashes: true, fastpaths: false };
        expect(matches(glob, candidate)).toBe(picomatch(glob, options)(candidate));
      }),
      { numRuns: 3_000 },
    );
  });
});
