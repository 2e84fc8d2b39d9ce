import type { ApprovalDecision } from '@h/turn';
import { describe, expect, it } from 'vitest';
import { permissionFor } from './outside.js';
import type { Questioner } from '../view/questions.js';

const asking = (...answers: readonly ApprovalDecision['decision'][]) => {
  const asked: string[] = [];
  const patterns: (string | undefined)[] = [];
  const questions: Questioner = {
    ask: (question) => {
      asked.push(...(question?.lines ?? []));
      patterns.push(question?.pattern);
      return Promise.resolve({ decision: answers[asked.length - 1] ?? 'deny' });
    },
    abandon: () => undefined,
  };
  const { ask } = permissionFor(questions);
  return { asked, patterns, ask: async (path: string, access: 'read' | 'write' = 'read') => ask?.({ path, access }) };
};

describe('permissionFor', () => {
  it('denies if no terminal is attached', () => {
    expect(permissionFor(undefined)).toEqual({ externalDirectory: 'deny' });
  });

  it('asks each time', async () => {
    const { ask, asked } = asking('once', 'deny');
    expect(await ask('/data/a')).toBe(true);
    expect(await ask('/data/a')).toBe(false);
    expect(asked).toEqual(Array(2).fill('? A tool wants to read /data/a, which is outside the workspace.'));
  });

  it('stops asking about a folder that is always allowed for the same access', async () => {
    const { ask, asked } = asking('always', 'deny', 'deny', 'deny');
    expect(await ask('/data/one/a')).toBe(true);
    expect(await ask('/data/one/b')).toBe(true);
    expect(await ask('/data/one/deep/c')).toBe(true);
    expect(asked).toHaveLength(1);
    expect(await ask('/data/one-more/a')).toBe(false);
    expect(await ask('/data/a')).toBe(false);
    expect(await ask('/data/one/a', 'write')).toBe(false);
  });

  it('shows what hides in a path, and the folder that a lasting answer covers', async () => {
    const { ask, asked, patterns } = asking();
    await ask('/data/\u001B[2J\n\u200Bx');
    expect(asked).toEqual([
      String.raw`? A tool wants to read /data/\u{1b}[2J\u{a}\u{200b}x, which is outside the workspace.`,
    ]);
    await ask('/etc', 'write');
    expect(patterns).toEqual(['read /data/*', 'write /*']);
  });
});
