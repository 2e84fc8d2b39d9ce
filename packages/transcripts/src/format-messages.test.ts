import type { Message } from '@h/turn';
import { describe, expect, it } from 'vitest';
import { formatMessages, formatTranscript, parseTranscript } from './index.js';

const pdf = { type: 'file' as const, data: 'JVBERi0=', mediaType: 'application/pdf', filename: 'a.pdf' };
const messages: readonly Message[] = [
  { role: 'user', content: [{ type: 'text', text: 'Read it.' }, pdf] },
  { role: 'assistant', content: [{ type: 'tool-call', toolCallId: 'c1', toolName: 'read', input: { page: 2 } }] },
  {
    role: 'tool',
    content: [
      {
        type: 'tool-result',
        toolCallId: 'c1',
        toolName: 'read',
        output: { type: 'content', value: [{ type: 'text', text: 'Page 2' }, pdf] },
      },
    ],
  },
];

describe('formatMessages', () => {
  it('writes the entries of each request format', () => {
    const file = { type: 'input_file', filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBERi0=' };
    const { entries, notes } = formatMessages(messages, 'openai-responses');
    expect(notes).toEqual([]);
    expect(entries).toEqual([
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Read it.' }, file] },
      { type: 'function_call', name: 'read', arguments: '{"page":2}', call_id: 'c1' },
      {
        type: 'function_call_output',
        call_id: 'c1',
        output: [
          { type: 'input_text', text: 'Page 2' },
          { ...file, filename: 'file.pdf' },
        ],
      },
    ]);
    expect(formatMessages(messages, 'anthropic-messages').entries).toMatchObject([
      { role: 'user', content: [{ type: 'text' }, { type: 'document' }] },
      { role: 'assistant', content: [{ type: 'tool_use', id: 'c1' }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c1' }] },
    ]);
    expect(formatMessages(messages, 'openai-chat').notes).toMatchObject([
      { kind: 'dropped', what: 'a file in a result' },
    ]);
  });

  it('writes PDF files that a rollout of Codex restores', () => {
    const { text, notes } = formatTranscript(messages.slice(0, 1), { format: 'codex' });
    expect(notes).toEqual([]);
    expect(parseTranscript(text).turns[0]?.messages).toEqual(messages.slice(0, 1));
  });

  it('rejects an unknown format', () => {
    expect(() => formatMessages([], 'gemini' as never)).toThrow('"openai-responses"');
  });
});
