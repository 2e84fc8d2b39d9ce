import { PassThrough } from 'node:stream';
import { describe, expect, it, vi } from 'vitest';
import { Questions } from './questions.js';
import type { View } from './view.js';

const { text } = vi.hoisted(() => ({ text: vi.fn<(options: { readonly message: string }) => Promise<string>>() }));
vi.mock('@clack/prompts', () => ({ text, isCancel: () => false }));

describe('a question', () => {
  it('shows the characters of a pattern that control the terminal', async () => {
    const ignore = (): void => undefined;
    const view: View & { hold(isHeld: boolean): void } = {
      event: ignore,
      child: ignore,
      say: ignore,
      close: ignore,
      hold: ignore,
    };
    const questions = new Questions(view, Object.assign(new PassThrough(), { setRawMode: ignore }));
    text.mockResolvedValue('n');
    await questions.ask({ pattern: '/tmp/\u001Bc/git push *' });
    expect(text.mock.calls[0]?.[0].message).toBe(String.raw`Allow it? (y/n/session/always: /tmp/\u{1b}c/git push *)`);
  });
});
