import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isMatching } from './policy.js';

const call = (input: object) => ({ name: 'write', input });
const namesOf = (name: string): readonly string[] => [name, `files__${name}`];
const rule = (path: string, decision: 'allow' | 'deny') => ({ tool: 'write', input: { path }, decision });

/** A path below a folder, and other spellings of it. */
const spelled = fc
  .array(fc.constantFrom('a', 'b', 'etc'), { minLength: 1, maxLength: 4 })
  .chain((parts) =>
    fc
      .array(fc.constantFrom('', '.', 'x/..', 'y/./../.'), { minLength: parts.length, maxLength: parts.length })
      .map((detours) => `/${parts.flatMap((part, index) => [detours[index] ?? '', part]).join('/')}`),
  );

describe('isMatching', () => {
  it('matches a denial for every spelling of a path', () => {
    fc.assert(
      fc.property(spelled, (path) => {
        expect(isMatching(rule('/etc/*', 'deny'), call({ path: `/etc${path}` }), namesOf)).toBe(true);
        expect(isMatching(rule('/etc/*', 'deny'), call({ path: `/srv/..//etc${path}` }), namesOf)).toBe(true);
      }),
    );
  });

  it('never matches a permission for a path that leaves its folder', () => {
    fc.assert(
      fc.property(spelled, (path) => {
        expect(isMatching(rule('/srv/*', 'allow'), call({ path: `/srv/..${path}` }), namesOf)).toBe(false);
        expect(isMatching(rule('/srv/*', 'allow'), call({ path: `/srv\\..\\..${path}` }), namesOf)).toBe(false);
      }),
    );
  });

  it.each([
    ['allow', [], false],
    ['allow', ['/srv/a', '/srv/b'], true],
    ['allow', ['/srv/a', '/etc/b'], false],
    ['deny', ['/srv/a', '/etc/b'], true],
    ['deny', [], false],
  ] as const)('judges lists: %s %j', (decision, path, isMatch) => {
    expect(isMatching(rule('/srv/*', decision), call({ path }), namesOf)).toBe(isMatch);
  });

  it('reads nested members, and matches no missing ones', () => {
    const nested = { tool: '*', input: { 'to.name': 'bob' }, decision: 'deny' as const };
    expect(isMatching(nested, call({ to: { name: 'bob' } }), namesOf)).toBe(true);
    expect(isMatching(nested, call({ to: {} }), namesOf)).toBe(false);
    expect(isMatching({ ...nested, input: { 'constructor.name': '*' } }, call({}), namesOf)).toBe(false);
  });
});
