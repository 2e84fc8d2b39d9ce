import { spawnSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { branchName, slug } from './branch-name.js';

const at = Date.UTC(2026, 10, 20, 13, 56, 37);

describe('branchName', () => {
  it('joins prefix, task, time and id', () => {
    expect(branchName({ prefix: 'agent/', task: 'Fix the failing test!', at, id: '3f9a1c' })).toBe(
      'agent/fix-the-failing-test-20261120-135637-3f9a1c',
    );
  });
});

describe('slug', () => {
  it.each([
    ['Исправь сломанный тест', 'исправь-сломанный-тест'],
    ['修复失败的测试', '修复失败的测试'],
    ['किताब पढ़ो', 'किताब-पढ़ो'],
    ['ＦＵＬＬ width', 'full-width'],
    ['🎉🎉', 'task'],
    ['', 'task'],
    ['../../etc/passwd', 'etc-passwd'],
    ['--force', 'force'],
    ['a.lock', 'a-lock'],
    ['x'.repeat(100), 'x'.repeat(30)],
    ['make the build of everything go faster', 'make-the-build-of-everything-g'],
    [`${'a'.repeat(29)} b`, 'a'.repeat(29)],
    ['one\ntwo\u0000three\u202e', 'one-two-three'],
  ])('makes of %j %j', (text, expected) => {
    expect(slug(text)).toBe(expected);
  });

  it('gives a valid branch for every text', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 60 }),
      fc.string({ unit: 'grapheme', maxLength: 60 }),
      fc.constantFrom('@{', 'HEAD', '-', '.', '..', 'a..b', '\ud800', 'e\u0301'.repeat(40)),
    );
    const names: string[] = [];
    fc.assert(
      fc.property(text, (task) => {
        const name = slug(task);
        expect(name).toMatch(/^[\p{L}\p{N}](?:[\p{L}\p{N}\p{M}-]*[\p{L}\p{N}\p{M}])?$/u);
        expect(name.isWellFormed()).toBe(true);
        expect(Buffer.byteLength(name)).toBeLessThanOrEqual(200);
        names.push(name);
      }),
    );
    for (const name of new Set(names.slice(0, 12))) {
      expect(spawnSync('git', ['check-ref-format', '--branch', `agent/${name}-1`]).status, name).toBe(0);
    }
  });
});
