import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { expandHome, shortenHome } from './home.js';

describe('shortenHome', () => {
  it.each([
    ['/home/al/x', '/home/al', '~/x'],
    ['/home/al', '/home/al', '~'],
    ['/home/al/', '/home/al', '~/'],
    ['/home/al/x', '/home/al/', '~/x'],
    ['/home/al2/x', '/home/al', '/home/al2/x'],
    ['/home/alice', '/home/al', '/home/alice'],
    ['/etc/passwd', '/', '/etc/passwd'],
    ['/etc/passwd', '', '/etc/passwd'],
    ['x/home/al/y', '/home/al', 'x/home/al/y'],
  ])('shortens %s with the home %s to %s', (path, home, expected) => {
    expect(shortenHome(path, home, { platform: 'linux' })).toBe(expected);
  });

  it.each([
    ['C:\\Users\\Al\\x', 'C:\\Users\\Al', '~\\x'],
    ['c:\\users\\al\\x', 'C:\\Users\\Al', '~\\x'],
    ['C:/Users/Al/x', 'C:\\Users\\Al\\', '~/x'],
    ['C:\\Users\\Alice', 'C:\\Users\\Al', 'C:\\Users\\Alice'],
    ['C:\\x', 'C:\\', 'C:\\x'],
  ])('shortens %s with the home %s on Windows to %s', (path, home, expected) => {
    expect(shortenHome(path, home, { platform: 'win32' })).toBe(expected);
  });

  it('is the inverse of expandHome', () => {
    const part = fc.stringMatching(/^[a-z~.]{1,5}$/);
    const path = fc.array(part, { minLength: 1, maxLength: 4 }).map((parts) => `/${parts.join('/')}`);
    fc.assert(
      fc.property(path, path, (home, rest) => {
        for (const given of [home + rest, rest, home]) {
          expect(expandHome(shortenHome(given, home, { platform: 'linux' }), home, { platform: 'linux' })).toBe(given);
        }
      }),
    );
  });
});

describe('expandHome', () => {
  it('expands only a leading tilde', () => {
    const expand = (path: string): string => expandHome(path, '/home/al', { platform: 'linux' });
    expect(['~', '~/bin', 'a~b', '/x/~/y', '~other/x', '~\\x'].map(expand)).toEqual([
      '/home/al',
      '/home/al/bin',
      'a~b',
      '/x/~/y',
      '~other/x',
      '~\\x',
    ]);
    expect(expandHome('~\\bin', 'C:\\Users\\Al', { platform: 'win32' })).toBe('C:\\Users\\Al\\bin');
  });
});
