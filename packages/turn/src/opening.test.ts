import { firstValueFrom, last } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { harness } from './harness.js';
import { memorySessions } from './memory-sessions.js';
import type { Message } from './messages.js';
import { scriptedModel, user } from './testing/index.js';

describe('a session that is loaded', () => {
  const turnOn = (messages: readonly Message[]) => {
    const sessions = memorySessions({ alice: messages });
    const agent = harness({ model: scriptedModel(['Hello.', 'Hello.']), sessions }).pipe();
    return { sessions, end: () => firstValueFrom(agent.turn({ session: 'alice', input: 'Hi' }).pipe(last())) };
  };

  it.each<[string, unknown, RegExp]>([
    [
      'a role that does not exist',
      { role: 'wizard', content: 'Hi' },
      /Message 1 of the loaded session is not valid: at role, found "wizard"/,
    ],
    ['content of the wrong kind', { role: 'user', content: 7 }, /Message 1 .*content, found 7/],
    [
      'a part without its id',
      { role: 'assistant', content: [{ type: 'tool-call', toolName: 'ls', input: {} }] },
      /content\[0\]\.toolCallId, found nothing/,
    ],
    ['nothing at all', null, /Message 1 .*at the top, found null/],
  ])('is refused with the place when it holds %s, and let go', async (_, message, expected) => {
    const { sessions, end } = turnOn([user('Hi'), message as Message]);
    const ended = await end();
    expect(ended).toMatchObject({ type: 'turn.end', outcome: 'error', error: { code: 'invalid-input' } });
    expect(ended.type === 'turn.end' && ended.error?.message).toMatch(expected);
    expect(() => sessions.delete('alice')).not.toThrow();
  });

  it('may hold everything that the schemas know', async () => {
    const { end } = turnOn([
      { role: 'system', content: 'Be kind.' },
      { role: 'user', content: [{ type: 'text', text: 'Hi' }], metadata: { internal: true } },
      {
        role: 'assistant',
        content: [
          { type: 'reasoning', text: 'Hm.', providerOptions: { anthropic: { signature: 'x' } } },
          { type: 'text', text: 'Hi.' },
        ],
      },
    ]);
    expect(await end()).toMatchObject({ outcome: 'completed' });
  });
});
