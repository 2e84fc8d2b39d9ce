import { describe, expect, it } from 'vitest';
import { PathLocks } from './path-locks.js';
import { isSameVersion, SeenFiles, type FileVersion } from './seen-files.js';

const version = (more: Partial<FileVersion> = {}): FileVersion => ({ size: 1n, modified: 1n, inode: 1n, ...more });

describe('isSameVersion', () => {
  it('compares the content if both are known, and size, time and file otherwise', () => {
    expect(isSameVersion(version({ hash: 'a' }), version({ hash: 'a', modified: 2n, inode: 2n }))).toBe(true);
    expect(isSameVersion(version({ hash: 'a' }), version({ hash: 'b' }))).toBe(false);
    expect(isSameVersion(version({ hash: 'a' }), version())).toBe(true);
    for (const other of [{ size: 2n }, { modified: 2n }, { inode: 2n }]) {
      expect(isSameVersion(version(), version(other))).toBe(false);
    }
  });
});

describe('SeenFiles', () => {
  it('stores the last version for each session', () => {
    const seen = new SeenFiles();
    seen.remember('alice', '/a', version({ size: 1n }));
    seen.remember('alice', '/a', version({ size: 2n }));
    seen.remember('bob', '/a', version({ size: 3n }));
    expect([
      seen.get('alice', '/a')?.size,
      seen.get('bob', '/a')?.size,
      seen.get('carol', '/a'),
      seen.get('bob', '/b'),
    ]).toEqual([2n, 3n, undefined, undefined]);
  });

  it('evicts the least recently used entries', () => {
    const seen = new SeenFiles();
    for (let file = 0; file < 3_000; file += 1) {
      seen.remember('alice', `/${file}`, version());
      seen.remember('alice', '/always', version());
    }
    expect([
      seen.get('alice', '/0'),
      seen.get('alice', '/2999') !== undefined,
      seen.get('alice', '/always') !== undefined,
    ]).toEqual([undefined, true, true]);
    for (let session = 0; session < 300; session += 1) {
      seen.remember(`session ${session}`, '/a', version());
      seen.remember('steady', '/a', version());
    }
    expect([
      seen.get('session 0', '/a'),
      seen.get('session 299', '/a') !== undefined,
      seen.get('steady', '/a') !== undefined,
    ]).toEqual([undefined, true, true]);
  });
});

describe('PathLocks', () => {
  it('serializes tasks on one path only, even if some fail', async () => {
    const locks = new PathLocks();
    const log: string[] = [];
    const task = (path: string, name: string, fails = false) =>
      locks.run(path, async () => {
        log.push(`${name} begins`);
        await Promise.resolve();
        log.push(`${name} ends`);
        if (fails) throw new Error(name);
        return name;
      });
    const results = await Promise.allSettled([task('/a', 'one', true), task('/a', 'two'), task('/b', 'three')]);
    expect(results.map((result) => result.status)).toEqual(['rejected', 'fulfilled', 'fulfilled']);
    expect(log.indexOf('one ends')).toBeLessThan(log.indexOf('two begins'));
    expect(log.indexOf('three begins')).toBeLessThan(log.indexOf('two begins'));
  });
});
