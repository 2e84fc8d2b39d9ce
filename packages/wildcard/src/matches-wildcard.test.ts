import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { matchesAny, matchesWildcard } from './matches-wildcard.js';

/** The definition: the rest of a pattern matches the rest of a text, by every way of sharing it out. */
const isMatch = (pattern: string, text: string): boolean => {
  if (pattern === '') return text === '';
  if (pattern.startsWith('*')) {
    return isMatch(pattern.slice(1), text) || (text !== '' && isMatch(pattern, text.slice(1)));
  }
  return text.startsWith(pattern.charAt(0)) && isMatch(pattern.slice(1), text.slice(1));
};

const patterns = fc.string({ unit: fc.constantFrom('a', 'b', '*'), maxLength: 7 });
const texts = fc.string({ unit: fc.constantFrom('a', 'b', '*'), maxLength: 9 });

describe('matchesWildcard', () => {
  it('matches what the definition matches', () => {
    fc.assert(
      fc.property(patterns, texts, (pattern, text) => {
        expect(matchesWildcard(pattern, text)).toBe(isMatch(pattern, text));
      }),
      { numRuns: 2000 },
    );
  });

  it.each([
    ['read', 'read', true],
    ['read', 'Read', false],
    ['', '', true],
    ['', 'read', false],
    ['*', '', true],
    ['a*a', 'a', false],
    ['**', 'read', true],
    ['file.*', 'fileXread', false],
  ])('%j and %j: %j', (pattern, text, expected) => {
    expect(matchesWildcard(pattern, text)).toBe(expected);
  });

  it('ends on patterns that make backtracking explode', () => {
    expect(matchesWildcard(`${'*a'.repeat(200)}b`, 'a'.repeat(5000))).toBe(false);
    expect(matchesWildcard(`${'*a'.repeat(200)}*`, 'a'.repeat(5000))).toBe(true);
  });

  it('matches with allowed characters only what it matches without a limit', () => {
    const isA = (character: string): boolean => character === 'a';
    fc.assert(
      fc.property(patterns, texts, (pattern, text) => {
        if (matchesWildcard(pattern, text, isA)) expect(matchesWildcard(pattern, text)).toBe(true);
        const isCovered = (character: string): boolean => isA(character) || pattern.includes(character);
        if (!Array.from(text).every(isCovered)) expect(matchesWildcard(pattern, text, isA)).toBe(false);
      }),
      { numRuns: 2000 },
    );
  });

  it.each([
    ['a*c', 'abc', true],
    ['a*c', 'a/c', false],
    ['a*/c', 'a/c', true],
    ['a*', 'ab/', false],
    ['*c', '/c', false],
    ['a*b*c', 'a/b_c', false],
    ['a*b*c', 'a_b/c', false],
  ])('a star of %j matches no slash in %j: %j', (pattern, text, expected) => {
    expect(matchesWildcard(pattern, text, (character) => character !== '/')).toBe(expected);
  });
});

describe('matchesAny', () => {
  it('needs one pattern that matches', () => {
    expect(matchesAny([], 'read')).toBe(false);
    expect(matchesAny(['write', 'r*'], 'read')).toBe(true);
    expect(matchesAny(['write', 'w*'], 'read')).toBe(false);
  });
});
