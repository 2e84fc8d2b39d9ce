import type { ApprovalDecision } from '@h/turn';
import { describe, expect, it } from 'vitest';
import { permissionFor } from './outside.js';
import type { Questioner } from './view/questions.js';

const asking = (...answers: readonly ApprovalDecision['decision'][]) => {
  const asked: string[] = [];
  const questions: Questioner = {
    ask: (question) => {
      asked.push(...(question?.lines ?? []));
      return Promise.resolve({ decision: answers[asked.length - 1] ?? 'deny' });
    },
    abandon: () => undefined,
  };
  const { ask } = permissionFor(questions);
  return { asked, ask: async (path: string, access: 'read' | 'write' = 'read') => ask?.({ path, access }) };
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

  it('shows paths without control characters', async () => {
    const { ask, asked } = asking();
    await ask('/data/\u001B[2J\nx');
    expect(asked).toEqual(['? A tool wants to read /data/[2J x, which is outside the workspace.']);
  });
});
