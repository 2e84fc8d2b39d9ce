import { describe, expect, it } from 'vitest';
import { questionText, type Question } from './question.js';

const question = (name: string, input: unknown, reason = 'It writes.'): Question => ({
  type: 'approval.request',
  turn: 'turn',
  at: 0,
  id: 'question',
  reason,
  call: { id: 'call', name, input, hash: 'hash' } as NonNullable<Question['call']>,
});

describe('questionText', () => {
  it('shows the whole call, whatever the length of its first members', () => {
    const text = questionText(question('run', { note: 'x'.repeat(100_000), command: 'rm -rf /srv' }));
    expect(text).toContain('rm -rf /srv');
  });

  it('shows characters that hide or reorder text, or control a terminal', () => {
    const hidden = [
      '\u202e',
      '\u200b',
      '\u2066',
      '\u009b',
      '\u007f',
      '\u00ad',
      '\ufeff',
      '\u2028',
      '\u{e0041}',
      '\u001b',
    ];
    const text = questionText(question(`run${hidden.join('')}`, { path: hidden.join('') }, hidden.join('')));
    for (const character of hidden) expect(text).not.toContain(character);
    expect(text).toContain(String.raw`"path": "\u{202e}`);
  });
});
