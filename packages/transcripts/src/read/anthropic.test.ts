import { noUsage, type Message } from '@h/turn';
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { anyConversations } from '../../test/conversations.js';
import { formatTranscript, parseTranscript, type Transcript } from '../index.js';

type Notes = Pick<Transcript, 'notes'>;
const told = ({ notes }: Notes): readonly string[] =>
  notes.map(({ kind, what, count, firstAt }) => `${kind}: ${what} ×${count} @${firstAt}`);
const image = { type: 'base64', media_type: 'image/png', data: 'AAEC' };

const request = {
  model: 'claude',
  system: [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } }],
  messages: [
    {
      role: 'user',
      content: [
        { type: 'text', text: 'See:' },
        { type: 'image', source: image },
        { type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } },
        { type: 'document', source: { type: 'url', url: 'https://example.com/a.pdf' }, title: 'a.pdf' },
        { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'plain' } },
        { type: 'image', source: { type: 'file', file_id: 'f-1' } },
      ],
    },
    {
      id: 'msg_1',
      role: 'assistant',
      model: 'claude-2',
      usage: { input_tokens: 3, cache_read_input_tokens: 4, output_tokens: 5 },
      content: [
        { type: 'thinking', thinking: 'Hm.', signature: 'sig' },
        { type: 'redacted_thinking', data: 'sealed' },
        { type: 'text', text: 'Looking.', citations: [{ type: 'char_location' }] },
        { type: 'server_tool_use', id: 's1', name: 'web_search', input: {} },
        { type: 'tool_use', id: 't1', name: 'ls', input: { path: 'a' } },
        { type: 'tool_use', id: 't2', name: 'look', input: {} },
      ],
    },
    {
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 't2', content: [{ type: 'image', source: image }], is_error: true },
        { type: 'tool_result', tool_use_id: 't1', content: 'a.txt', cache_control: { type: 'ephemeral' } },
        { type: 'text', text: 'And now?' },
      ],
    },
    { role: 'system', content: 'Hurry.' },
    { role: 'assistant', content: 'Done.' },
  ],
};

it('reads a request to Anthropic', () => {
  const transcript = parseTranscript(JSON.stringify(request));
  expect(transcript.format).toBe('anthropic-messages');
  const result = (toolCallId: string, toolName: string, output: object) => ({
    type: 'tool-result',
    toolCallId,
    toolName,
    output,
  });
  expect(transcript.turns.flatMap(({ messages }) => messages)).toEqual([
    { role: 'system', content: 'Be brief.' },
    {
      role: 'user',
      content: [
        { type: 'text', text: 'See:' },
        { type: 'file', data: 'AAEC', mediaType: 'image/png' },
        { type: 'file', data: new URL('https://example.com/a.png'), mediaType: 'image/*' },
        {
          type: 'file',
          data: new URL('https://example.com/a.pdf'),
          mediaType: 'application/pdf',
          filename: 'a.pdf',
        },
        { type: 'file', data: Buffer.from('plain').toString('base64'), mediaType: 'text/plain' },
      ],
    },
    {
      role: 'assistant',
      content: [
        { type: 'reasoning', text: 'Hm.', providerOptions: { anthropic: { signature: 'sig' } } },
        { type: 'reasoning', text: '', providerOptions: { anthropic: { redactedData: 'sealed' } } },
        { type: 'text', text: 'Looking.' },
        { type: 'tool-call', toolCallId: 't1', toolName: 'ls', input: { path: 'a' } },
        { type: 'tool-call', toolCallId: 't2', toolName: 'look', input: {} },
      ],
    },
    {
      role: 'tool',
      content: [
        result('t2', 'look', {
          type: 'content',
          value: [{ type: 'file', data: 'AAEC', mediaType: 'image/png' }],
          providerOptions: { transcript: { isError: true } },
        }),
        result('t1', 'ls', { type: 'text', value: 'a.txt' }),
      ],
    },
    { role: 'user', content: [{ type: 'text', text: 'And now?' }] },
    { role: 'system', content: 'Hurry.' },
    { role: 'assistant', content: 'Done.' },
  ]);
  expect(transcript.turns[0]).toMatchObject({
    model: 'claude-2',
    usage: { ...noUsage, input: 7, cacheRead: 4, output: 5 },
  });
  expect(told(transcript)).toEqual([
    'dropped: a mark of the prompt cache ×2 @0',
    'dropped: a block of the type image in a message ×1 @1',
    'dropped: citations of a text ×1 @2',
    'dropped: a block of the type server_tool_use in an answer ×1 @2',
  ]);
});

it('writes only what Anthropic accepts', () => {
  fc.assert(
    fc.property(anyConversations, (messages) => {
      const { text } = formatTranscript(messages, { format: 'anthropic-messages' });
      const asked: string[] = [];
      const answered: string[] = [];
      JSON.parse(text, (_, value: unknown) => {
        const block = (value ?? {}) as Readonly<Record<string, unknown>>;
        if (block['type'] === 'text' && typeof block['text'] === 'string') expect(block['text'].trim()).not.toBe('');
        if (block['type'] === 'thinking') expect(block['signature']).toEqual(expect.any(String));
        if (block['type'] === 'tool_result') answered.push(String(block['tool_use_id']));
        if (block['type'] === 'tool_use') {
          asked.push(String(block['id']));
          expect(block['id']).toMatch(/^[\w-]+$/);
          expect(block['input']).toEqual(expect.objectContaining({}));
        }
        if (block['role'] !== undefined) expect(block['content']).not.toEqual([]);
        return value;
      });
      expect(new Set(asked).size).toBe(asked.length);
      expect(new Set(answered)).toEqual(new Set(asked));
    }),
    { numRuns: 150 },
  );
});

it('notes what Anthropic does not accept', () => {
  const messages: readonly Message[] = [
    { role: 'user', content: 'Go.', metadata: { internal: true } },
    {
      role: 'assistant',
      content: [
        { type: 'reasoning', text: 'Unsigned.' },
        { type: 'text', text: ' ' },
        { type: 'tool-call', toolCallId: 'functions.ls:0', toolName: 'ls', input: 'a' },
      ],
    },
    {
      role: 'tool',
      content: [
        { type: 'tool-result', toolCallId: 'functions.ls:0', toolName: 'ls', output: { type: 'json', value: [1] } },
      ],
    },
    { role: 'user', content: [{ type: 'file', data: 'AAEC', mediaType: 'audio/mp3' }] },
  ];
  expect(told(formatTranscript(messages, { format: 'anthropic-messages' }))).toEqual([
    'changed: a message of the harness became one of the user ×1 @1',
    'dropped: reasoning without a signature ×1 @2',
    'dropped: an empty text ×1 @2',
    'changed: the id of a call ×2 @2',
    'changed: the input of a call became an object ×1 @2',
    'changed: a JSON result became its text ×1 @3',
    'dropped: a file of the type audio/mp3 ×1 @4',
    'dropped: an empty message ×1 @4',
  ]);
});

it.each([
  ['anthropic-messages', { system: 'Be brief.', messages: [{ role: 'user', content: 'Hi.' }] }],
  ['anthropic-messages', [{ role: 'user', content: [{ type: 'image', source: image }] }]],
  ['ai-sdk', { system: 'Be brief.', messages: [{ role: 'assistant', content: [{ type: 'reasoning', text: 'Hm.' }] }] }],
])('detects %s and reads its system prompt: %j', (format, value) => {
  const transcript = parseTranscript(JSON.stringify(value));
  expect(transcript.format).toBe(format);
  const first = transcript.turns[0]?.messages[0];
  expect(first?.role).toBe('system' in value ? 'system' : 'user');
});

it('rejects text that is not a list of messages', () => {
  expect(() => parseTranscript('{"role":"user"}', { format: 'anthropic-messages' })).toThrow(/neither a list/);
});
