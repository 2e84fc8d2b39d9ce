import type { FileData, Message } from '@h/turn';
import { describe, expect, it } from 'vitest';
import {
  detectTranscript,
  formatTranscript,
  parseTranscript,
  type Transcript,
  type TranscriptFormat,
} from './index.js';

const lines = (...entries: readonly object[]): string => entries.map((entry) => JSON.stringify(entry)).join('\n');
const messagesOf = ({ turns }: Transcript): readonly Message[] => turns.flatMap((turn) => turn.messages);
const told = ({ notes }: Pick<Transcript, 'notes'>): readonly string[] =>
  notes.map(({ kind, what, count, firstAt }) => `${kind}: ${what} ×${count} @${firstAt}`);

describe('a session of Claude Code', () => {
  const entry = (uuid: string, parentUuid: string | null, more: object) => ({
    uuid,
    parentUuid,
    isSidechain: false,
    sessionId: 's-1',
    cwd: '/work',
    version: '2.1.37',
    timestamp: '2026-02-18T10:00:00.000Z',
    ...more,
  });
  const says = (uuid: string, parent: string | null, content: unknown, more: object = {}) =>
    entry(uuid, parent, { type: 'user', userType: 'external', message: { role: 'user', content }, ...more });
  const answers = (uuid: string, parent: string, id: string, block: object, more: object = {}) =>
    entry(uuid, parent, {
      type: 'assistant',
      message: {
        id,
        type: 'message',
        role: 'assistant',
        model: 'claude-x',
        content: [block],
        usage: { input_tokens: 3, cache_read_input_tokens: 100, cache_creation_input_tokens: 7, output_tokens: 20 },
      },
      ...more,
    });
  const result = (id: string, content: unknown, more: object = {}) => ({
    tool_use_id: id,
    type: 'tool_result',
    content,
    ...more,
  });

  const session = lines(
    { type: 'summary', summary: 'Mending the clock', leafUuid: 'u9' },
    { type: 'file-history-snapshot', messageId: 'u1', snapshot: {}, isSnapshotUpdate: false },
    says('u0', null, 'You are in /work.', { isMeta: true }),
    says('u1', 'u0', 'Mend the clock.'),
    answers('a1', 'u1', 'msg_1', { type: 'thinking', thinking: 'Where is it?', signature: 'sig' }),
    answers('a2', 'a1', 'msg_1', { type: 'text', text: 'I look at both.' }),
    answers('a3', 'a2', 'msg_1', { type: 'tool_use', id: 't1', name: 'Read', input: { file_path: 'a' } }),
    answers('a4', 'a3', 'msg_1', { type: 'tool_use', id: 't2', name: 'Bash', input: { command: 'false' } }),
    says(
      'r1',
      'a3',
      [
        result('t1', [
          { type: 'text', text: 'hands' },
          { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAEC' } },
        ]),
      ],
      { toolUseResult: { type: 'text' } },
    ),
    says('r2', 'a4', [result('t2', 'exit 1', { is_error: true })], { toolUseResult: 'Error' }),
    entry('x1', 'a4', { type: 'user', isSidechain: true, message: { role: 'user', content: 'For the sub-agent.' } }),
    answers('a5', 'r2', 'msg_2', { type: 'text', text: 'It ticks.' }, { timestamp: '2026-02-18T10:01:00.000Z' }),
    says('b1', 'a5', 'Another way?'),
    says('u2', 'a5', [
      { type: 'text', text: 'Thank you.' },
      { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: 'AA==' } },
    ]),
    answers('a6', 'u2', 'msg_3', { type: 'text', text: 'API Error' }, { isApiErrorMessage: true }),
  );

  it('consists of the last branch, with merged answers and parallel results', () => {
    const transcript = parseTranscript(session);
    expect(transcript).toMatchObject({ format: 'claude-code', session: 's-1', title: 'Mending the clock' });
    expect(messagesOf(transcript)).toEqual([
      { role: 'user', content: 'You are in /work.', metadata: { internal: true } },
      { role: 'user', content: 'Mend the clock.' },
      {
        role: 'assistant',
        content: [
          { type: 'reasoning', text: 'Where is it?', providerOptions: { anthropic: { signature: 'sig' } } },
          { type: 'text', text: 'I look at both.' },
          { type: 'tool-call', toolCallId: 't1', toolName: 'Read', input: { file_path: 'a' } },
          { type: 'tool-call', toolCallId: 't2', toolName: 'Bash', input: { command: 'false' } },
        ],
      },
      {
        role: 'tool',
        content: [
          {
            type: 'tool-result',
            toolCallId: 't1',
            toolName: 'Read',
            output: {
              type: 'content',
              value: [
                { type: 'text', text: 'hands' },
                { type: 'file', data: 'AAEC', mediaType: 'image/png' },
              ],
            },
          },
          { type: 'tool-result', toolCallId: 't2', toolName: 'Bash', output: { type: 'error-text', value: 'exit 1' } },
        ],
      },
      { role: 'assistant', content: [{ type: 'text', text: 'It ticks.' }] },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Thank you.' },
          { type: 'file', data: 'AA==', mediaType: 'application/pdf' },
        ],
      },
    ]);
    expect(told(transcript)).toEqual([
      'dropped: an entry of the type file-history-snapshot ×1 @2',
      'dropped: an entry of a sub-agent ×1 @11',
      'dropped: an entry of another branch, or from before a compaction ×1 @13',
      'dropped: details of a tool besides its result (toolUseResult) ×1 @9',
      'dropped: an error that was displayed as an answer ×1 @15',
    ]);
  });

  it('reads times and models of turns, and counts the tokens of an answer once', () => {
    const { turns } = parseTranscript(session);
    expect(turns).toHaveLength(2);
    expect(turns[0]).toMatchObject({
      startedAt: Date.parse('2026-02-18T10:00:00Z'),
      endedAt: Date.parse('2026-02-18T10:01:00Z'),
      model: 'claude-x',
      usage: { input: 220, cacheRead: 200, cacheWrite: 14, output: 40, reasoning: 0 },
    });
  });

  it('starts with the summary of its last compaction', () => {
    const compacted = lines(
      says('u1', null, 'Long ago.'),
      answers('a1', 'u1', 'msg_1', { type: 'text', text: 'Yes.' }),
      entry('c1', null, {
        type: 'system',
        subtype: 'compact_boundary',
        logicalParentUuid: 'a1',
        compactMetadata: { trigger: 'auto' },
      }),
      says('u2', 'c1', 'What was before, in short.', { isCompactSummary: true }),
      says('u3', 'u2', 'Go on.'),
      answers('a2', 'u3', 'msg_2', { type: 'redacted_thinking', data: 'xyz' }),
      answers('a3', 'a2', 'msg_2', { type: 'text', text: 'I do.' }),
    );
    const transcript = parseTranscript(compacted);
    const [summary, , answer] = messagesOf(transcript);
    expect(summary).toEqual({
      role: 'user',
      content: 'What was before, in short.',
      metadata: { internal: true, kind: 'summary' },
    });
    expect(answer).toMatchObject({
      content: [{ type: 'reasoning', providerOptions: { anthropic: { redactedData: 'xyz' } } }, { text: 'I do.' }],
    });
    expect(told(transcript)).toContain('dropped: an entry of another branch, or from before a compaction ×2 @1');
    expect(
      messagesOf(parseTranscript(formatTranscript(messagesOf(transcript), { format: 'claude-code' }).text)),
    ).toEqual(messagesOf(transcript));
  });

  it('has answers to interrupted calls', () => {
    const cut = parseTranscript(
      lines(
        says('u1', null, 'Go.'),
        answers('a1', 'u1', 'msg_1', { type: 'tool_use', id: 't1', name: 'Bash', input: {} }),
      ),
    );
    expect(told(cut)).toEqual(['repaired: missing-result ×1 @2']);
    expect(messagesOf(cut).at(-1)).toMatchObject({
      role: 'tool',
      content: [{ toolCallId: 't1', output: { type: 'error-text' } }],
    });
  });
});

describe('a rollout of Codex', () => {
  const item = (payload: object) => ({ timestamp: '2026-01-02T03:04:05.000Z', type: 'response_item', payload });
  const says = (role: string, text: string) =>
    item({ type: 'message', role, content: [{ type: role === 'assistant' ? 'output_text' : 'input_text', text }] });
  const tokens = (total: number, last: object) => ({
    timestamp: '2026-01-02T03:04:06.000Z',
    type: 'event_msg',
    payload: { type: 'token_count', info: { total_token_usage: { total_tokens: total }, last_token_usage: last } },
  });
  const session = lines(
    {
      timestamp: '2026-01-02T03:04:05.000Z',
      type: 'session_meta',
      payload: { id: 'c-1', cwd: '/work', cli_version: '0.65.0', source: 'cli' },
    },
    says('developer', 'Be brief.'),
    says('user', '<environment_context>\n  <cwd>/work</cwd>\n</environment_context>'),
    { timestamp: '2026-01-02T03:04:05.000Z', type: 'turn_context', payload: { cwd: '/work', model: 'gpt-x' } },
    says('user', 'Mend it.'),
    {
      timestamp: '2026-01-02T03:04:05.000Z',
      type: 'event_msg',
      payload: { type: 'user_message', message: 'Mend it.' },
    },
    item({
      type: 'reasoning',
      summary: [
        { type: 'summary_text', text: 'First' },
        { type: 'summary_text', text: 'Second' },
      ],
      encrypted_content: 'gAAA',
    }),
    says('assistant', 'I look.'),
    item({ type: 'function_call', name: 'shell', arguments: '{"command":["ls"]}', call_id: 'f1' }),
    item({
      type: 'custom_tool_call',
      status: 'completed',
      call_id: 'p1',
      name: 'apply_patch',
      input: '*** Begin Patch',
    }),
    tokens(130, { input_tokens: 100, cached_input_tokens: 40, output_tokens: 30, reasoning_output_tokens: 12 }),
    tokens(130, { input_tokens: 100, cached_input_tokens: 40, output_tokens: 30, reasoning_output_tokens: 12 }),
    item({
      type: 'function_call_output',
      call_id: 'f1',
      output: [
        { type: 'input_text', text: 'a.txt' },
        { type: 'input_image', image_url: 'data:image/png;base64,AAEC' },
      ],
    }),
    item({ type: 'custom_tool_call_output', call_id: 'p1', output: { content: 'failed', success: false } }),
    item({ type: 'ghost_snapshot', ghost_commit: {} }),
    says('assistant', 'Done.'),
  );

  it('consists of its items, with merged answers', () => {
    const transcript = parseTranscript(session);
    expect(transcript).toMatchObject({ format: 'codex', session: 'c-1' });
    expect(messagesOf(transcript)).toMatchObject([
      { role: 'system', content: 'Be brief.' },
      { role: 'user', metadata: { internal: true } },
      { role: 'user', content: 'Mend it.' },
      {
        role: 'assistant',
        content: [
          { type: 'reasoning', text: 'First\n\nSecond', providerOptions: { codex: { encrypted: 'gAAA' } } },
          { text: 'I look.' },
          { toolCallId: 'f1', toolName: 'shell', input: { command: ['ls'] } },
          { toolCallId: 'p1', toolName: 'apply_patch', input: '*** Begin Patch' },
        ],
      },
      {
        role: 'tool',
        content: [
          {
            toolCallId: 'f1',
            output: {
              type: 'content',
              value: [
                { type: 'text', text: 'a.txt' },
                { type: 'file', data: 'AAEC', mediaType: 'image/png' },
              ],
            },
          },
          { toolCallId: 'p1', toolName: 'apply_patch', output: { type: 'error-text', value: 'failed' } },
        ],
      },
      { role: 'assistant', content: [{ text: 'Done.' }] },
    ]);
    expect(transcript.turns).toMatchObject([
      { model: 'gpt-x', usage: { input: 100, cacheRead: 40, output: 30, reasoning: 12 } },
    ]);
    expect(told(transcript)).toEqual([
      'changed: a developer message became a system message ×1 @2',
      'dropped: an item of the type ghost_snapshot ×1 @15',
    ]);
  });

  it('preserves the data of its items', () => {
    const { text, notes } = formatTranscript(messagesOf(parseTranscript(session)), { format: 'codex', session: 'c-1' });
    const payloads = text
      .split('\n')
      .filter(Boolean)
      .map((line) => (JSON.parse(line) as { payload: object }).payload);
    expect(payloads).toContainEqual({
      type: 'reasoning',
      summary: [
        { type: 'summary_text', text: 'First' },
        { type: 'summary_text', text: 'Second' },
      ],
      encrypted_content: 'gAAA',
    });
    expect(payloads).toContainEqual({
      type: 'custom_tool_call',
      status: 'completed',
      call_id: 'p1',
      name: 'apply_patch',
      input: '*** Begin Patch',
    });
    expect(payloads).toContainEqual({ type: 'custom_tool_call_output', call_id: 'p1', output: 'failed' });
    expect(told({ notes })).toEqual([
      'changed: a message of the harness became one of the user ×1 @2',
      'changed: an error became an ordinary result ×1 @5',
    ]);
  });

  it.each([
    [
      'its history',
      {
        message: '',
        replacement_history: [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'In short.' }] }],
      },
      { role: 'user', content: 'In short.' },
    ],
    [
      'a summary',
      { message: 'In short.' },
      { role: 'user', content: 'In short.', metadata: { internal: true, kind: 'summary' } },
    ],
  ])('starts with %s after a compaction', (_, payload, first) => {
    const transcript = parseTranscript(
      lines(
        says('user', 'Long ago.'),
        says('assistant', 'Yes.'),
        { timestamp: '2026-01-02T03:04:05.000Z', type: 'compacted', payload },
        says('user', 'Go on.'),
      ),
    );
    expect(messagesOf(transcript)).toEqual([first, { role: 'user', content: 'Go on.' }]);
    expect(told(transcript)).toEqual(['dropped: the conversation before a compaction ×1 @3']);
  });
});

describe('a session of pi', () => {
  const entry = (id: string, parentId: string | null, type: string, more: object) => ({
    type,
    id,
    parentId,
    timestamp: '2026-01-24T16:22:26.831Z',
    ...more,
  });
  const message = (id: string, parentId: string | null, given: object) =>
    entry(id, parentId, 'message', { message: { ...given, timestamp: 1 } });
  const usage = { input: 5, output: 9, cacheRead: 50, cacheWrite: 2, totalTokens: 66, cost: { total: 0 } };
  const header = { type: 'session', version: 3, id: 'p-1', timestamp: '2026-01-24T16:22:26.831Z', cwd: '/work' };

  it('consists of the branch of its last entry, from its last compaction', () => {
    const transcript = parseTranscript(
      lines(
        header,
        entry('m0', null, 'model_change', { provider: 'x', modelId: 'y' }),
        message('e1', 'm0', { role: 'user', content: 'Long ago.' }),
        message('e2', 'e1', {
          role: 'assistant',
          content: [{ type: 'text', text: 'Yes.' }],
          model: 'old',
          usage,
          stopReason: 'stop',
        }),
        message('e3', 'e2', {
          role: 'user',
          content: [
            { type: 'text', text: 'See:' },
            { type: 'image', data: 'AAEC', mimeType: 'image/png' },
          ],
        }),
        message('f1', 'e2', { role: 'user', content: 'Another branch.' }),
        message('e4', 'e3', {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'Hm.', thinkingSignature: 'ts' },
            { type: 'toolCall', id: 't1', name: 'bash', arguments: { command: 'ls' } },
          ],
          model: 'new',
          usage,
          stopReason: 'toolUse',
        }),
        message('e5', 'e4', {
          role: 'toolResult',
          toolCallId: 't1',
          toolName: 'bash',
          content: [{ type: 'text', text: 'no' }],
          isError: true,
          details: { exitCode: 1 },
        }),
        entry('c1', 'e5', 'compaction', { summary: 'In short.', firstKeptEntryId: 'e3', tokensBefore: 9 }),
        message('e6', 'c1', { role: 'bashExecution', command: 'ls', output: 'a.txt', exitCode: 0 }),
        entry('n1', 'e6', 'session_info', { name: 'The clock' }),
        entry('e7', 'n1', 'custom_message', { customType: 'note', content: 'By the way.', display: false }),
      ),
    );
    expect(transcript).toMatchObject({ format: 'pi', session: 'p-1', title: 'The clock' });
    expect(messagesOf(transcript)).toEqual([
      { role: 'user', content: 'In short.', metadata: { internal: true, kind: 'summary' } },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'See:' },
          { type: 'file', data: 'AAEC', mediaType: 'image/png' },
        ],
      },
      {
        role: 'assistant',
        content: [
          { type: 'reasoning', text: 'Hm.', providerOptions: { pi: { thinkingSignature: 'ts' } } },
          { type: 'tool-call', toolCallId: 't1', toolName: 'bash', input: { command: 'ls' } },
        ],
      },
      {
        role: 'tool',
        content: [
          { type: 'tool-result', toolCallId: 't1', toolName: 'bash', output: { type: 'error-text', value: 'no' } },
        ],
      },
      { role: 'user', content: 'Ran `ls`\na.txt', metadata: { internal: true } },
      { role: 'user', content: 'By the way.', metadata: { internal: true } },
    ]);
    expect(transcript.turns).toMatchObject([
      { model: 'new', usage: { input: 57, cacheRead: 50, cacheWrite: 2, output: 9 } },
    ]);
    expect(told(transcript)).toEqual([
      'dropped: an entry of another branch ×1 @6',
      'dropped: an entry from before a compaction ×3 @2',
      'dropped: details of a tool besides its result ×1 @8',
      'changed: a command of the user became a message ×1 @10',
      'dropped: an entry of the type session_info ×1 @11',
    ]);
  });

  it('is parsed linearly if it has no branches', () => {
    const old = lines(
      {
        type: 'session',
        id: 'p-0',
        timestamp: '2024-12-03T14:00:00.000Z',
        cwd: '/work',
        provider: 'x',
        modelId: 'y',
        thinkingLevel: 'off',
      },
      {
        type: 'message',
        timestamp: '2024-12-03T14:00:01.000Z',
        message: { role: 'user', content: 'Hello', timestamp: 1 },
      },
      {
        type: 'message',
        timestamp: '2024-12-03T14:00:02.000Z',
        message: {
          role: 'assistant',
          content: [{ type: 'text', text: 'Hi!' }],
          model: 'y',
          usage,
          stopReason: 'aborted',
        },
      },
    );
    const transcript = parseTranscript(old);
    expect(messagesOf(transcript)).toEqual([
      { role: 'user', content: 'Hello' },
      { role: 'assistant', content: [{ type: 'text', text: 'Hi!' }] },
    ]);
    expect(told(transcript)).toEqual(['dropped: the reason of an incomplete answer (aborted) ×1 @3']);
  });
});

describe('messages of a chat completion', () => {
  const messages = [
    { role: 'developer', content: 'Be brief.' },
    {
      role: 'user',
      name: 'ann',
      content: [
        { type: 'text', text: 'See:' },
        { type: 'image_url', image_url: { url: 'https://example.com/a.png' } },
        { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,AA==' } },
        { type: 'input_audio', input_audio: { data: 'AAEC', format: 'mp3' } },
      ],
    },
    {
      role: 'assistant',
      content: null,
      reasoning_content: 'Hm.',
      tool_calls: [
        { id: 't1', type: 'function', function: { name: 'ls', arguments: '{"path":"a"}' } },
        { id: 't2', type: 'function', function: { name: 'ls', arguments: '{"path":' } },
        { id: 't3', type: 'custom', custom: { name: 'patch', input: '***' } },
      ],
    },
    { role: 'tool', tool_call_id: 't1', content: 'a.txt' },
    {
      role: 'tool',
      tool_call_id: 't2',
      content: [
        { type: 'text', text: 'bad' },
        { type: 'text', text: 'input' },
      ],
    },
    { role: 'tool', tool_call_id: 't3', content: 'patched' },
    { role: 'assistant', content: null, refusal: 'No more.' },
    { role: 'function', name: 'old', content: '1' },
  ];

  it.each<[string, string]>([
    ['a list', JSON.stringify(messages)],
    ['a request', JSON.stringify({ model: 'gpt-x', messages }, undefined, 2)],
    ['one a line', lines(...messages)],
  ])('come as %s', (_, text) => {
    const transcript = parseTranscript(text);
    expect(transcript.format).toBe('openai-chat');
    expect(messagesOf(transcript)).toEqual([
      { role: 'system', content: 'Be brief.' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'See:' },
          { type: 'file', data: new URL('https://example.com/a.png'), mediaType: 'image/*' },
          { type: 'file', data: 'AA==', mediaType: 'application/pdf', filename: 'a.pdf' },
          { type: 'file', data: 'AAEC', mediaType: 'audio/mp3' },
        ],
      },
      {
        role: 'assistant',
        content: [
          { type: 'reasoning', text: 'Hm.' },
          { type: 'tool-call', toolCallId: 't1', toolName: 'ls', input: { path: 'a' } },
          { type: 'tool-call', toolCallId: 't2', toolName: 'ls', input: '{"path":' },
          {
            type: 'tool-call',
            toolCallId: 't3',
            toolName: 'patch',
            input: '***',
            providerOptions: { openai: { custom: true } },
          },
        ],
      },
      {
        role: 'tool',
        content: [
          { type: 'tool-result', toolCallId: 't1', toolName: 'ls', output: { type: 'text', value: 'a.txt' } },
          {
            type: 'tool-result',
            toolCallId: 't2',
            toolName: 'ls',
            output: {
              type: 'content',
              value: [
                { type: 'text', text: 'bad' },
                { type: 'text', text: 'input' },
              ],
            },
          },
          { type: 'tool-result', toolCallId: 't3', toolName: 'patch', output: { type: 'text', value: 'patched' } },
        ],
      },
      { role: 'assistant', content: 'No more.' },
    ]);
    expect(told(transcript).map((note) => note.replace(/ @.*/, ''))).toEqual([
      'changed: a developer message became a system message ×1',
      'dropped: the name of the author ×1',
      'changed: a refusal became text ×1',
      'dropped: a message of the role function ×1',
    ]);
  });

  it('list unsupported content in notes', () => {
    const given: readonly Message[] = [
      { role: 'user', content: 'Go.', metadata: { internal: true } },
      {
        role: 'assistant',
        content: [
          { type: 'reasoning', text: 'a', providerOptions: { anthropic: { signature: 's' } } },
          { type: 'tool-call', toolCallId: '1', toolName: 'ls', input: {} },
          { type: 'custom', kind: 'x.y' },
        ],
      },
      {
        role: 'tool',
        content: [
          { type: 'tool-result', toolCallId: '1', toolName: 'ls', output: { type: 'error-json', value: { code: 1 } } },
        ],
      },
    ];
    expect(told(formatTranscript(given, { format: 'openai-chat' }))).toEqual([
      'changed: a message of the harness became one of the user ×1 @1',
      'dropped: the signature of reasoning ×1 @2',
      'dropped: a part of an answer (custom) ×1 @2',
      'changed: a JSON result became its text ×1 @3',
      'changed: an error became an ordinary result ×1 @3',
    ]);
  });
});

describe('a file', () => {
  const written = (data: FileData): unknown => {
    const { text, notes } = formatTranscript(
      [{ role: 'user', content: [{ type: 'file', data, mediaType: 'image/png' }] }],
      { format: 'claude-code' },
    );
    return (
      told({ notes })[0] ??
      (JSON.parse(text) as { message: { content: { source: unknown }[] } }).message.content[0]?.source
    );
  };

  it.each<[string, FileData]>([
    ['base64', 'AAEC'],
    ['bytes', new Uint8Array([9, 0, 1, 2]).subarray(1)],
    ['a buffer', new Uint8Array([0, 1, 2]).buffer],
    ['marked as data', { type: 'data', data: new Uint8Array([0, 1, 2]) }],
  ])('is written as base64 when it is %s', (_, data) => {
    expect(written(data)).toEqual({ type: 'base64', media_type: 'image/png', data: 'AAEC' });
  });

  it.each<[string, FileData]>([
    ['a URL', new URL('https://example.com/a')],
    ['the text of one', 'https://example.com/a'],
    ['marked as one', { type: 'url', url: new URL('https://example.com/a') }],
  ])('is written as a URL when it is %s', (_, data) => {
    expect(written(data)).toEqual({ type: 'url', url: 'https://example.com/a' });
  });

  it.each<[string, FileData]>([
    ['a provider keeps', { type: 'reference', reference: { openai: 'file-1' } }],
    ['is text', { type: 'text', text: 'x' }],
  ])('is noted when it %s', (_, data) => {
    expect(written(data)).toBe('dropped: a file with neither data nor a URL ×1 @1');
  });
});

describe('messages of the AI SDK', () => {
  it('are preserved in all their forms, with bytes as base64', () => {
    const given: readonly Message[] = [
      { role: 'system', content: 'Be brief.' },
      {
        role: 'user',
        content: [
          { type: 'file', data: new Uint8Array([0, 1, 2]), mediaType: 'image/png' },
          { type: 'image', image: new URL('https://example.com/a.png') },
        ],
      },
      {
        role: 'assistant',
        content: [
          { type: 'tool-call', toolCallId: '1', toolName: 'ask', input: { type: 'url', url: 'https://example.com' } },
          { type: 'tool-approval-request', approvalId: 'a', toolCallId: '1' },
        ],
      },
      {
        role: 'tool',
        content: [
          { type: 'tool-approval-response', approvalId: 'a', approved: false, reason: 'No.' },
          {
            type: 'tool-result',
            toolCallId: '1',
            toolName: 'ask',
            output: { type: 'execution-denied', reason: 'No.' },
          },
        ],
      },
    ];
    const { text, notes } = formatTranscript(given, { format: 'ai-sdk' });
    const back = parseTranscript(text);
    const [system, , call, result] = given;
    expect(messagesOf(back)).toEqual([
      system,
      {
        role: 'user',
        content: [
          { type: 'file', data: 'AAEC', mediaType: 'image/png' },
          { type: 'image', image: new URL('https://example.com/a.png') },
        ],
      },
      call,
      result,
    ]);
    expect([notes, back.notes]).toEqual([[], []]);
  });

  it.each([
    [
      'as JSON.stringify writes them',
      JSON.stringify([{ role: 'user', content: [{ type: 'file', data: new Uint8Array([7, 8]), mediaType: 'a/b' }] }]),
    ],
    [
      'as a buffer',
      JSON.stringify({
        messages: [{ role: 'user', content: [{ type: 'file', data: Buffer.from([7, 8]), mediaType: 'a/b' }] }],
      }),
    ],
  ])('may hold bytes %s', (_, text) => {
    expect(messagesOf(parseTranscript(text))).toEqual([
      { role: 'user', content: [{ type: 'file', data: new Uint8Array([7, 8]), mediaType: 'a/b' }] },
    ]);
  });

  it('are validated individually', () => {
    const transcript = parseTranscript(
      JSON.stringify([{ role: 'user', content: 'Hi.' }, { role: 'robot', content: 'x' }, 7]),
      { format: 'ai-sdk' },
    );
    expect(messagesOf(transcript)).toEqual([{ role: 'user', content: 'Hi.' }]);
    expect(told(transcript)).toEqual(['dropped: a message that is not a ModelMessage ×2 @2']);
  });
});

describe('invalid input', () => {
  it.each(['', 'Hello.', '{"a":1}', '[]', '[1,2]', 'null'])('is rejected: %j', (text) => {
    expect(detectTranscript(text)).toBeUndefined();
    expect(() => parseTranscript(text)).toThrow(
      /cannot be detected; pass one of claude-code, codex, pi, openai-chat, anthropic-messages, ai-sdk/,
    );
  });

  it('is rejected, as are unknown options and formats', () => {
    expect(() => parseTranscript('x\ny', { format: 'codex' })).toThrow(/no line that is a JSON object/);
    expect(() => parseTranscript('[]', { format: 'gemini' as TranscriptFormat })).toThrow(
      /"format" must be .*; received "gemini"/,
    );
    expect(() => parseTranscript('[]', { as: 'pi' } as object)).toThrow(/unknown option "as".*Known options: format/);
    expect(() => formatTranscript([], { format: 'gemini' as TranscriptFormat })).toThrow(
      /"format" must be .*; received "gemini"/,
    );
    expect(() => formatTranscript([], { format: 'pi', at: Number.NaN })).toThrow(/"at" must be/);
    expect(() => parseTranscript(Buffer.from('[]') as never)).toThrow(/"text" must be a string/);
    expect(() => formatTranscript([], { format: 'pi', id: 'x' } as never)).toThrow(
      /unknown option "id".*Known options: format, session, cwd, at/,
    );
  });

  it('reports the line of broken JSON', () => {
    const text = `${lines({ type: 'session', id: 'p', version: 3 })}\nbroken\n${lines({ type: 'message', id: 'a', parentId: null, message: { role: 'user', content: 'Hi.' } })}`;
    expect(told(parseTranscript(text))).toEqual(['dropped: a line that is not a JSON object ×1 @2']);
  });
});

describe('session data of a format', () => {
  it.each<[TranscriptFormat, RegExp]>([
    ['claude-code', /"cwd":"\/here","sessionId":"s-9".*"timestamp":"2026-11-21T00:00:00.000Z"/],
    ['codex', /"payload":\{"id":"s-9","timestamp":"2026-11-21T00:00:00.000Z","cwd":"\/here"/],
    ['pi', /"type":"session","version":3,"id":"s-9","timestamp":"2026-11-21T00:00:00.000Z","cwd":"\/here"/],
  ])('uses the given session, folder and time in the format %s', (format, pattern) => {
    const { text } = formatTranscript([{ role: 'user', content: 'Hi.' }], {
      format,
      session: 's-9',
      cwd: '/here',
      at: Date.UTC(2026, 10, 21),
    });
    expect(text).toMatch(pattern);
  });
});
