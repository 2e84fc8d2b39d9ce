import type { TurnEvents } from '@h/turn';
import { event, failure, sampleTurn } from '@h/turn/testing';
import { describe, expect, it } from 'vitest';
import { gitLines } from './git-lines.js';
import { paletteFor } from './palette.js';

const palette = paletteFor({ isTerminal: false, environment: {} });
const linesOf = <Type extends keyof TurnEvents>(type: Type, payload: TurnEvents[Type]): readonly string[] =>
  gitLines(event(type, payload), palette);

describe('gitLines', () => {
  it('shows the branch and its origin', () => {
    expect(linesOf('git.branch', { branch: 'agent/x', created: true, from: 'main', uncommitted: 1 })).toEqual([
      '⎇ on branch agent/x (from main, 1 file not committed)',
    ]);
    expect(linesOf('git.branch', { branch: 'agent/x', created: true, from: undefined, uncommitted: 0 })).toEqual([
      '⎇ on branch agent/x',
    ]);
  });

  it('shows the first line of a commit message', () => {
    const commit = { branch: 'agent/x', commit: '0123456789abcdef', message: 'Fix it\n\nLong text', files: ['a', 'b'] };
    expect(linesOf('git.commit', commit)).toEqual(['⎇ committed 2 files as 0123456789 on agent/x: Fix it']);
  });

  it('warns of uncommitted files', () => {
    const files = ['.env', 'b', 'c', 'd', 'e', 'f', 'g'].map((path) => ({ path, reason: 'secret' }));
    expect(linesOf('git.left-out', { files })).toEqual([
      '! not committed: .env (secret), b (secret), c (secret), d (secret), e (secret), 2 more',
    ]);
    expect(linesOf('git.changes', { files: [], count: 1, mixed: ['a.js'] })).toEqual([
      '⎇ uncommitted before the turn: a.js',
    ]);
    expect(linesOf('git.changes', { files: [{ path: 'a', change: 'added' }], count: 1, mixed: [] })).toEqual([]);
  });

  it('shows the final branch of the work tree', () => {
    expect(linesOf('git.restored', { to: 'main', branchDeleted: false })).toEqual(['⎇ back on main']);
    expect(linesOf('git.restored', { to: 'main', branchDeleted: true })).toEqual([
      '⎇ back on main; the branch had no changes and was deleted',
    ]);
    expect(linesOf('git.restored', { kept: '2 changed files are not committed' })).toEqual([
      '! still on the branch: 2 changed files are not committed',
    ]);
  });

  it('shows an error of git', () => {
    expect(linesOf('git.failed', { operation: 'commit', error: failure('No\nspace') })).toEqual(['! git: No space']);
  });

  it('ignores other events', () => {
    expect(sampleTurn().flatMap((other) => gitLines(other, palette))).toEqual([]);
  });
});
