import { PassThrough } from 'node:stream';
import { describe, expect, it, vi } from 'vitest';
import { Questions, type Question } from './questions.js';
import type { View } from './view.js';

interface Asked {
  readonly message: string;
  readonly validate: (answer: string) => string | undefined;
}

const { text } = vi.hoisted(() => ({ text: vi.fn<(options: Asked) => Promise<string>>() }));
vi.mock('@clack/prompts', () => ({ text, isCancel: () => false }));

const ask = async (question: Question): Promise<Asked> => {
  const ignore = (): void => undefined;
  const view: View & { hold(isHeld: boolean): void } = {
    event: ignore,
    child: ignore,
    say: ignore,
    close: ignore,
    hold: ignore,
  };
  text.mockResolvedValueOnce('n');
  await new Questions(view, Object.assign(new PassThrough(), { setRawMode: ignore })).ask(question);
  return text.mock.lastCall?.[0] as Asked;
};

describe('a question', () => {
  it('names the answers that it accepts', async () => {
    expect((await ask({})).validate('x')).toBe('Answer y, n, session or always, or "n, reason".');
    expect((await ask({ message: 'Resume it?' })).validate('x')).toBe('Answer y or n.');
  });

  it('shows the characters of a pattern that control the terminal', async () => {
    const { message } = await ask({ pattern: '/tmp/\u001Bc/git push *' });
    expect(message).toBe(String.raw`Allow it? (y/n/session/always: /tmp/\u{1b}c/git push *)`);
  });
});
