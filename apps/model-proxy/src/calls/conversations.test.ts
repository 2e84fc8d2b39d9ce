import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Conversations, type Conversation } from './conversations.js';
import { readRequest, type WireRequest } from '../wire/wire-request.js';

const request = (entries: readonly unknown[], extra: object = {}): WireRequest => {
  const wire = readRequest('anthropic-messages', JSON.stringify({ model: 'm', messages: entries, ...extra }));
  if (!wire) throw new Error('not a request');
  return wire;
};
const user = (content: unknown) => ({ role: 'user', content });
const answerOf = (text: string) => ({ id: undefined, content: [{ type: 'text' as const, text }] });
const recognize = (known: Conversations, entries: readonly unknown[], client = 'alice'): Conversation =>
  known.recognize(client, {}, request(entries));

/** The notations in which agents repeat a text: with and without a part, with and without a cache mark. */
const notations = [
  (text: string): unknown => text,
  (text: string): unknown => [{ type: 'text', text }],
  (text: string): unknown => [{ type: 'text', text, cache_control: { type: 'ephemeral' } }],
] as const;

describe('Conversations', () => {
  it('recognizes interleaved conversations, whatever the notation of their texts', () => {
    const turns = fc.array(
      fc.record({ conversation: fc.nat(4), text: fc.constantFrom('a', 'b'), notation: fc.nat(2) }),
      {
        minLength: 1,
        maxLength: 30,
      },
    );
    fc.assert(
      fc.property(turns, (steps) => {
        const known = new Conversations();
        const histories = new Map<number, unknown[]>();
        const threads = new Map<number, string>();
        for (const [index, { conversation, text, notation }] of steps.entries()) {
          const write = notations[notation] ?? notations[0];
          const history = (histories.get(conversation) ?? []).map((entry) => {
            const { role, text: old } = entry as { readonly role: string; readonly text: string };
            return { role, content: write(old) };
          });
          const found = recognize(known, [...history, user(write(text))]);
          // Conversations with the same messages are distinguished by their answers.
          expect(found.thread).toBe(threads.get(conversation) ?? found.thread);
          expect(found.isNew).toBe(!threads.has(conversation));
          threads.set(conversation, found.thread);
          const reply = `answer ${index}`;
          found.answered(answerOf(reply));
          const own = histories.get(conversation) ?? [];
          histories.set(conversation, [...own, { role: 'user', text }, { role: 'assistant', text: reply }]);
        }
        expect(new Set(threads.values()).size).toBe(threads.size);
      }),
    );
  });

  it('continues threads of an earlier process by their links', () => {
    const before = new Conversations();
    const first = recognize(before, [user('Hi')]);
    const link = first.answered(answerOf('Hello.'));
    const after = new Conversations();
    after.restore([link]);
    const history = [user('Hi'), { role: 'assistant', content: 'Hello.' }, user('More')];
    expect(recognize(after, history).thread).toBe(first.thread);
    expect(recognize(after, history, 'bob').thread).not.toBe(first.thread);
  });

  it('separates sessions of different clients with the same name', () => {
    const known = new Conversations();
    const headers = { 'x-claude-code-session-id': 'session' };
    const ids = ['alice', 'bob', 'alice'].map((client) => known.recognize(client, headers, request([user('Hi')])).id);
    expect(ids[0]).toBe(ids[2]);
    expect(ids[0]).not.toBe(ids[1]);
  });

  it('follows previous_response_id of OpenAI Responses', () => {
    const known = new Conversations();
    const wire = (body: object): WireRequest =>
      readRequest('openai-responses', JSON.stringify({ model: 'm', ...body })) ?? request([]);
    const first = known.recognize('alice', {}, wire({ input: 'Hi' }));
    first.answered({ id: 'resp_1', content: [] });
    const second = known.recognize('alice', {}, wire({ input: 'More', previous_response_id: 'resp_1' }));
    expect(second.thread).toBe(first.thread);
  });

  it('recognizes an answer of reasoning and calls in OpenAI Responses', () => {
    const known = new Conversations();
    const wire = (input: readonly unknown[]): WireRequest =>
      readRequest('openai-responses', JSON.stringify({ model: 'm', input })) ?? request([]);
    const first = known.recognize('alice', {}, wire([user('Hi')]));
    const call = { type: 'tool-call' as const, toolCallId: 'c1', toolName: 'bash', input: {} };
    first.answered({ id: undefined, content: [{ type: 'reasoning', text: '…' }, call] });
    const items = [
      user('Hi'),
      { type: 'reasoning', id: 'rs_1', encrypted_content: 'x' },
      { type: 'function_call', call_id: 'c1', name: 'bash', arguments: '{}' },
      { type: 'function_call_output', call_id: 'c1', output: 'ok' },
    ];
    expect(known.recognize('alice', {}, wire(items)).thread).toBe(first.thread);
  });
});
