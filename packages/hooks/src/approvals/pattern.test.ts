import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { coversCall } from './pattern.js';

describe('coversCall', () => {
  it.each([
    ['git push *', 'git push origin main', true],
    ['git push *', 'git push', true],
    ['git push *', 'git pushes', false],
    ['git push *', 'cd x && git push origin', false],
    ['git push *', 'git push; rm -rf ~', false],
    ['git push *', 'git push $(cat token)', false],
    ['git push *', 'git push `id`', false],
    ['git push *', 'git push > /etc/passwd', false],
    ['git push *', 'git push\nrm -rf ~', false],
    ['git push *', 'git push \\\nrm', false],
    ['npm run *:fix', 'npm run lint:fix', true],
    ['npm run *:fix', 'npm run :fix:fixed', false],
    ['*', 'ls -la', true],
    ['*', 'ls | sh', false],
    ['a; b', 'a; b', true],
    ['ls', 'ls -la', false],
  ])('%s and the command %j: %j', (pattern, command, expected) => {
    expect(coversCall(pattern, { command })).toBe(expected);
  });

  it.each([
    ['src/*', 'src/a.ts', true],
    ['src/*', 'src/deep/a.ts', false],
    ['src/**', 'src/deep/a.ts', true],
    ['src/**/*.ts', 'src/deep/er/a.ts', true],
    ['src/**', 'src/../../etc/passwd', false],
    ['src/../a', 'src/../a', false],
    ['**', 'a\\..\\b', false],
  ])('%s and the path %j: %j', (pattern, path, expected) => {
    expect(coversCall(pattern, { file_path: path, content: 'x' })).toBe(expected);
    expect(coversCall(pattern, { path })).toBe(expected);
  });

  it('compares other inputs by their canonical JSON', () => {
    expect(coversCall('*"repo":"a"*', { title: 'x', repo: 'a' })).toBe(true);
    expect(coversCall('*"repo":"a"*', { title: 'x', repo: 'b' })).toBe(false);
    expect(coversCall('null', undefined)).toBe(true);
  });

  it('never throws, and never covers a command that may contain another command', () => {
    const piece = fc.constantFrom('git', ' ', 'push', ';', '&&', '|', '$(', ')', '`', '>', '\n', 'x', '*');
    const text = fc.array(piece, { maxLength: 12 }).map((parts) => parts.join(''));
    fc.assert(
      fc.property(text, (command) => {
        const covered = coversCall('git *', { command });
        if (/[;&|$`>\n]/.test(command)) expect(covered).toBe(false);
      }),
    );
    fc.assert(
      fc.property(fc.string(), fc.anything(), (pattern, input) => typeof coversCall(pattern, input) === 'boolean'),
    );
  });

  it('takes linear time for hostile patterns', () => {
    const work = (count: number): number => {
      const started = process.cpuUsage();
      expect(coversCall(`${'*a'.repeat(2000)}b`, { command: 'a'.repeat(count) })).toBe(false);
      return process.cpuUsage(started).user;
    };
    work(10_000);
    // The command is 16 times as long: quadratic work would take 256 times as long.
    expect(work(160_000) / Math.max(2_000, work(10_000))).toBeLessThan(100);
  });
});
