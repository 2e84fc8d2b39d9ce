import * as fc from 'fast-check';
import type { Message } from '@h/turn';
import { describe, expect, it } from 'vitest';
import { formatMessages, readMessages, type RequestFormat } from './index.js';

const formats: readonly RequestFormat[] = ['anthropic-messages', 'openai-chat', 'openai-responses'];

const text = fc.string({ minLength: 1 }).filter((value) => value.trim() !== '');
const id = fc.stringMatching(/^[a-z]{1,8}$/);
const turn = fc
  .record({ question: text, answer: text, id, name: id, input: fc.dictionary(id, fc.jsonValue()), result: text })
  .map(({ question, answer, id: toolCallId, name: toolName, input, result }): readonly Message[] => [
    { role: 'user', content: [{ type: 'text', text: question }] },
    {
      role: 'assistant',
      content: [
        { type: 'text', text: answer },
        { type: 'tool-call', toolCallId, toolName, input },
      ],
    },
    {
      role: 'tool',
      content: [{ type: 'tool-result', toolCallId, toolName, output: { type: 'text', value: result } }],
    },
  ]);

/** Objects with the members and types of entries, with any values. */
const entry = fc.dictionary(
  fc.constantFrom('role', 'type', 'content', 'tool_calls', 'output', 'call_id', 'summary', 'refusal', 'audio'),
  fc.oneof(
    fc.constantFrom('user', 'assistant', 'system', 'tool', 'message', 'reasoning', 'function_call_output'),
    fc.array(
      fc.record({
        type: fc.constantFrom('text', 'input_text', 'tool_use', 'tool_result', 'image', 'x', 'refusal'),
        text: fc.jsonValue(),
        content: fc.jsonValue(),
      }),
      { maxLength: 3 },
    ),
    fc.jsonValue(),
  ),
);

/** Content as parts. */
const partsOf = ({ role, content }: Message): unknown => ({
  role,
  content: typeof content === 'string' ? [{ type: 'text', text: content }] : content,
});

describe('readMessages', () => {
  it.each(formats)('reads what formatMessages writes: %s', (format) => {
    fc.assert(
      fc.property(fc.array(turn, { minLength: 1, maxLength: 3 }), (turns) => {
        const messages = turns.flat();
        const { messages: read, opaque, notes } = readMessages(formatMessages(messages, format).entries, format);
        expect(opaque).toEqual([]);
        expect(notes).toEqual([]);
        // In JSON, -0 is 0.
        expect(JSON.parse(JSON.stringify(read.map(partsOf)))).toEqual(JSON.parse(JSON.stringify(messages)));
      }),
      { numRuns: 50 },
    );
  });

  it.each(formats)('reads a message from every entry, whatever its members: %s', (format) => {
    fc.assert(
      fc.property(fc.oneof(entry, fc.jsonValue()), (value) => {
        const { messages, opaque } = readMessages([value], format);
        expect(messages.length).toBeGreaterThan(0);
        const { notes } = formatMessages(messages, format);
        if (opaque.length === 0 || messages[0]?.role === 'system') return;
        expect(notes.map(({ kind }) => kind)).toContain('dropped');
      }),
      { numRuns: 300 },
    );
  });

  it.each([
    ['anthropic-messages', { role: 'assistant', content: [{ type: 'server_tool_use', id: 's' }] }, /server_tool_use/],
    ['anthropic-messages', { role: 'user', content: [{ type: 'image', source: { type: 'file' } }] }, /image/],
    ['openai-chat', { role: 'assistant', content: null, audio: { id: 'a' } }, /audio/],
    ['openai-chat', { role: 'tool', tool_call_id: 'c', content: [{ type: 'image_url' }] }, /image_url/],
    ['openai-chat', { role: 'function', name: 'f', content: 'x' }, /function/],
    ['openai-responses', { type: 'item_reference', id: 'i' }, /item_reference/],
    ['openai-responses', 7, /not an object/],
  ] as const)('preserves content that only %s has: %j', (format, value, what) => {
    const { messages, opaque } = readMessages([value], format);
    expect(opaque).toEqual([expect.stringMatching(what)]);
    expect(JSON.stringify(messages)).toContain('opaque');
  });

  it('reads items of Responses without a type, and strings', () => {
    const { messages } = readMessages(['Hi.', { role: 'assistant', content: 'Hello.' }], 'openai-responses');
    expect(messages.map(partsOf)).toEqual([
      { role: 'user', content: [{ type: 'text', text: 'Hi.' }] },
      { role: 'assistant', content: [{ type: 'text', text: 'Hello.' }] },
    ]);
  });

  it('rejects an unknown format', () => {
    expect(() => readMessages([], 'gemini' as never)).toThrow('"openai-responses"');
  });
});
